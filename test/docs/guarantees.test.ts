// The guarantees (docs/guarantees.md): all sixteen are stated, each with tests that exist, and the README leads there.
import { describe, expect, it } from '@jest/globals';
import { isThere, textOf } from './support.js';

const rows = [...textOf('docs/guarantees.md').matchAll(/^\| (G\d+) \| (.+?) \| (.+?) \|$/gm)].map(
  ([, id = '', promise = '', tests = '']) => ({ id, promise, tests: tests.split('<br>') }),
);

describe('docs/guarantees.md', () => {
  it('states each guarantee once, in a sentence', () => {
    expect(rows.map((r) => r.id)).toEqual(Array.from({ length: 16 }, (_, i) => `G${i + 1}`));
    for (const { promise } of rows) expect(promise).toMatch(/^[A-Z].{20,}\.$/);
  });

  it('names tests that exist', () => {
    const broken = rows.flatMap(({ id, tests }) =>
      tests.flatMap((test) => {
        const [, file, name] = /^`(.+?\.test\.ts)`: “(.+)”$/.exec(test) ?? [];
        if (file === undefined || name === undefined) return [`${id}: “${test}” names no test`];
        if (!isThere(`test/${file}`)) return [`${id}: there is no ${file}`];
        return textOf(`test/${file}`).includes(name) ? [] : [`${id}: ${file} has no “${name}”`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it('is where the README sends whoever wants proof', () => {
    expect(textOf('README.md')).toContain('](docs/guarantees.md)');
  });
});
