// The guarantees (docs/guarantees.md): all sixteen are there, each with existing tests, and the README leads there.
import { expect, it } from '@jest/globals';
import { isThere, textOf } from './support.js';

/** The missing tests of a cell. */
function missing(id: string, tests: readonly string[]): readonly string[] {
  return tests.flatMap((test) => {
    const [, file, name] = /^`(.+?\.test\.ts)`: “(.+)”$/.exec(test) ?? [];
    if (file === undefined || name === undefined) return [`${id}: “${test}” names no test`];
    const path = file.startsWith('packages/') ? file : `test/${file}`;
    if (!isThere(path)) return [`${id}: there is no ${file}`];
    return textOf(path).includes(name) ? [] : [`${id}: ${file} has no “${name}”`];
  });
}

const rows = [...textOf('docs/guarantees.md').matchAll(/^- \*\*(G\d+)\*\* (.+?)<br>(.+)$/gm)].map(
  ([, id = '', promise = '', tests = '']) => ({ id, promise, tests: tests.split('<br>') }),
);

it('docs/guarantees.md states each guarantee once, in one sentence', () => {
  expect(rows.map((r) => r.id)).toEqual(Array.from({ length: 16 }, (_, i) => `G${i + 1}`));
  for (const { promise } of rows) expect(promise).toMatch(/^[A-Z].{20,}\.$/);
});

it('docs/guarantees.md names existing tests', () => {
  const broken = rows.flatMap(({ id, tests }) => missing(id, tests));
  expect(broken).toEqual([]);
});

it('the README links to docs/guarantees.md', () => {
  expect(textOf('README.md')).toContain('](docs/guarantees.md)');
});

const attacks = [...textOf('docs/security.md').matchAll(/^\| (.+?: .+?) +\| .+? +\| (`.+?) +\|$/gm)];

it('docs/security.md names an existing test for each attack', () => {
  expect(attacks.length).toBeGreaterThan(12);
  expect(attacks.flatMap(([, attack = '', tests = '']) => missing(attack, tests.split('<br>')))).toEqual([]);
});

it('docs/security.md names the limits of its protection and the address for reports', () => {
  expect(textOf('docs/security.md')).toMatch(/## What it does not protect against\n\n- \*\*/);
  expect(textOf('docs/security.md')).toContain('](../SECURITY.md)');
  expect(textOf('SECURITY.md')).toContain('](docs/security.md)');
});
