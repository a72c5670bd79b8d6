// Each path in the lint settings matches a file. A path that matches nothing leaves some file without its rules.
import { expect, it } from '@jest/globals';
import { readSources } from './import-rules.js';

type Part = { readonly files?: readonly string[] };

/** `*` and `**` as in ESLint; `{a,b}`: one of these. */
function patternOf(path: string): RegExp {
  const parts = path.split(/(\*\*\/|\*\*|\*|\{[^}]*\})/).map((part) => {
    if (part === '**/') return '(?:.*/)?';
    if (part === '**') return '.*';
    if (part === '*') return '[^/]*';
    if (part.startsWith('{')) return `(?:${part.slice(1, -1).replaceAll(',', '|')})`;
    return part.replaceAll('.', '\\.');
  });
  return new RegExp(`^${parts.join('')}$`);
}

it('each path in the lint settings matches a file of the project', async () => {
  const settings = '../../eslint.config.js';
  const { default: parts } = (await import(settings)) as { readonly default: readonly Part[] };
  const files = [
    ...readSources('src').map(({ path }) => `src/${path}`),
    ...(['tools', 'packages', 'test'] as const).flatMap((folder) => readSources(folder).map(({ path }) => path)),
  ];
  const paths = parts.flatMap((part) => part.files ?? []);
  expect(paths.filter((path) => !files.some((file) => patternOf(path).test(file)))).toEqual([]);
  expect(paths).toContain('src/**/rules/**/*.ts');
});
