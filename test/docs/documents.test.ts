// The documents' names exist: files, headings, commands, settings, routes, dependencies, review kinds.
import { REVIEW_KINDS } from '../../src/core/reviews/rules/impact.js';
import { readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from '@jest/globals';
import { SETTINGS } from '../../src/shared/config/index.js';
import { commandLine, commandsOf } from '../../tools/docs/cli-reference.js';
import { openApiDocument, routesOf } from '../../tools/docs/routes-reference.js';
import { differenceKinds } from '../../src/shared/domain/difference.js';
import { anchorsOf, codeIn, documents, handwritten, isThere, root, textOf } from './support.js';

const manifest = JSON.parse(textOf('package.json')) as Record<string, Record<string, string>>;

/** Variables of developers' tools, not of the daemon. */
const OF_TOOLS = ['CROSSBILL_MATRIX_CACHE', 'CROSSBILL_URL', 'CROSSBILL_API_KEY'];

/** npm's overrides, also those below a package: name and version. */
function overridden(overrides: object): readonly (readonly [name: string, version: string])[] {
  return Object.entries(overrides).flatMap(([name, to]: [string, unknown]) => {
    if (typeof to === 'object' && to !== null) return overridden(to);
    return [[name, String(to)] as const];
  });
}

it.each([...documents(), 'examples/shop/README.md', 'packages/sandbox/README.md'])(
  'each link of %s leads to an existing page and heading',
  (path) => {
    const links = [...textOf(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const broken = links.filter((link) => {
      if (/^https?:/.test(link)) return false;
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : normalize(join(dirname(path), file));
      if (!isThere(target)) return true;
      return anchor !== undefined && !anchorsOf(textOf(target)).has(anchor);
    });
    expect(broken).toEqual([]);
  },
);

it.each(handwritten())('the page %s names existing commands', async (path) => {
  const known = commandsOf(await commandLine()).map(({ words }) => words);
  const groups = new Set(known.map((words) => words.split(' ')[0]));
  const wrong = codeIn(textOf(path)).filter((code) => {
    const said = /^\$? ?crossbill ([a-z]+(?:-[a-z]+)*(?: [a-z]+(?:-[a-z]+)*)*|--help)/.exec(code)?.[1];
    if (said === undefined || said === '--help') return false;
    const isCommand = known.some((words) => said === words || said.startsWith(`${words} `));
    return !isCommand && !groups.has(said);
  });
  expect(wrong).toEqual([]);
});

it.each(handwritten())('every option in the commands of the page %s exists', async (path) => {
  const commands = commandsOf(await commandLine());
  const wrong = codeIn(textOf(path)).flatMap((code) => {
    const remaining = /^\$? ?crossbill (.+)/.exec(code)?.[1] ?? '';
    const fitting = commands.filter(({ words }) => remaining === words || remaining.startsWith(`${words} `));
    if (fitting.length === 0) return [];
    const taken = new Set(['--help', ...fitting.flatMap((c) => c.command.options.map((o) => o.long ?? ''))]);
    return [...(remaining.split('#')[0]?.matchAll(/(?<=\s)--[a-z-]+/g) ?? [])].map(String).filter((o) => !taken.has(o));
  });
  expect(wrong).toEqual([]);
});

it.each(handwritten())('the page %s names existing settings', (path) => {
  const known = new Set<string>([...Object.values(SETTINGS).map(({ name }) => name), ...OF_TOOLS]);
  const ours =
    /(?<!\$)\b(?:STRIPE|MOR|BILLING|WEBHOOK|SIGNUP|RENEWAL|DATABASE|WORKER|CROSSBILL|LOG|API)_[A-Z_]*[A-Z]\b/g;
  const named = [...textOf(path).matchAll(ours)].map(String);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

it('the documents name existing API routes', async () => {
  const shape = (path: string): string => path.replace(/\{[^}]*\}|…|<[^>]*>/g, '*');
  const known = new Set(routesOf(await openApiDocument()).map((r) => `${r.method} ${shape(r.path)}`));
  for (const path of handwritten()) {
    const named = codeIn(textOf(path)).flatMap((code) => {
      const [, method, route] = /^(GET|POST|PUT|PATCH|DELETE) (\/v1\/\S+)$/.exec(code) ?? [];
      return method === undefined || route === undefined ? [] : [`${method} ${shape(route.split('?')[0] ?? '')}`];
    });
    expect(named.filter((route) => !known.has(route) && !route.endsWith('/*'))).toEqual([]);
  }
});

it('the documents have a section for each kind of review item and a line for each kind of difference verify finds', () => {
  expect(REVIEW_KINDS.length).toBeGreaterThan(10);
  const items = anchorsOf(textOf('docs/review-items.md') + textOf('docs/late-items.md'));
  for (const kind of REVIEW_KINDS) expect(items).toContain(kind);
  const differences = textOf('docs/verify.md');
  for (const kind of differenceKinds) expect(differences).toContain(`\n- \`${kind}\`: `);
});

it('docs/dependencies.md justifies each dependency and lists no removed dependency', () => {
  const wanted = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((part) =>
    Object.keys(manifest[part] ?? {}),
  );
  const [page = '', heldBack = ''] = textOf('docs/dependencies.md').split('## Held back');
  const rows = [...page.matchAll(/^- (`[^`]+`(?:, `[^`]+`)*): .{10,}$/gm)];
  const named = rows.flatMap(([, names = '']) => names.replaceAll('`', '').split(', '));
  expect([...named].sort()).toEqual([...wanted].sort());
  for (const [name, version] of overridden(manifest['overrides'] ?? {})) {
    expect(heldBack).toMatch(new RegExp(`\\| .*\`${name}\`.* \\| .*\\b${version}\\b.* \\|.{10,}\\|`));
  }
});

it('CONTRIBUTING.md names each storey of src/, and each of its folders', () => {
  const foldersOf = (path: string): string[] =>
    readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    );
  const storeys = foldersOf('src');
  const folders = storeys.filter((name) => name !== 'engine').flatMap((name) => foldersOf(`src/${name}`));
  const page = textOf('CONTRIBUTING.md');
  for (const name of [...storeys, ...folders]) expect(page).toContain(`\`${name}/\``);
});

it('docs/how-it-works.md names existing source files', () => {
  const walk = /## One payment, file by file\n([\s\S]*?)\n## /.exec(textOf('docs/how-it-works.md'))?.[1] ?? '';
  const files = [...walk.matchAll(/`([a-z-]+\/[\w./-]+\.ts)`/g)].map(([, file = '']) => file);
  expect(files.length).toBeGreaterThan(25);
  expect(files.filter((file) => !isThere(`src/${file}`))).toEqual([]);
});

it('CHANGELOG.md begins with the version of package.json', () => {
  const version = /^## (\S+)/m.exec(textOf('CHANGELOG.md'))?.[1];
  expect(version).toBe(/"version": "([^"]+)"/.exec(textOf('package.json'))?.[1]);
});

it("the sidebar of the documents' site has each page once and no missing page", async () => {
  const { default: config } = (await import(join(root, 'docs/.vitepress/config.mjs'))) as {
    default: { themeConfig: { sidebar: readonly { items: readonly { link: string }[] }[] } };
  };
  const listed = config.themeConfig.sidebar.flatMap(({ items }) => items.map(({ link }) => link));
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && path !== 'index.md' && !/^decisions\/\d/.test(path))
    .map((path) => `/${path.replace(/(README)?\.md$/, '')}`);
  expect([...listed].sort()).toEqual(pages.sort());
});

it('the site of the documents names an exact version of its builder', () => {
  expect(manifest['scripts']?.['docs:site']).toMatch(/ --package=vitepress@\d+\.\d+\.\d+ -- vitepress build docs$/);
});
