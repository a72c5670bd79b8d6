// Reads the sources with the TypeScript parser and finds breaches of the import table: which folder may know which.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** Path below `src/`, or from `tools/` or `packages/` on, with `/`, and the text. */
export type SourceFile = { readonly path: string; readonly text: string };

/** `*`: anything. Otherwise the parts, or files by pattern, allowed to this part besides itself. */
type Allowed = '*' | readonly (string | RegExp)[];

/** A noun's decisions, its facts, and the sentences of its items: pure, like `shared/domain/`. */
const RULES = /^(core|features)\/[a-z/-]+\/(rules\/|(words|facts|events|event-rows)\.ts$)/;
/** The visible side of another noun of the core: its views and its services, never its inside. */
const SHOWN = /^core\/[a-z-]+\/[a-z-]+\.(view|fields|service|repository|module)\.ts$/;

/** The engine's words: a lane, its rows and moves, and the shape of a subject. Pure; the material of rules. */
const ENGINE_WORDS = /^engine\/(call|commanded|context|event|items|lane|lane-draft|lookup|ports|subject)\.ts$/;

/** What a noun of the product may know: everything below it. */
const BELOW: Allowed = ['shared', 'engine', 'frames/api', 'frames/console', 'frames/mor', 'frames/store'];

/** The list of features, for the tables that are joined of all of them. */
const FEATURE_LIST = ['feature.ts', 'features.ts'];

// The table, by storeys: shared, engine, frames, core, features. A folder imports nothing above it. An arrow outside the
// table is a change of the design, not of this test.
const TABLE: Readonly<Record<string, Allowed>> = {
  'shared/config': [],
  'shared/csv': [], // files to and from people
  'shared/domain': [],
  'shared/masks': [],
  'shared/policy.ts': [],
  'shared/observe': ['shared/config', 'shared/domain/ports/call.ts'],
  rules: ['shared/domain', 'shared/masks', ENGINE_WORDS, RULES, ...FEATURE_LIST],
  'frames/store': ['shared'],
  'frames/stripe': ['shared'],
  'frames/mor': ['shared'],
  engine: ['shared', 'engine', 'frames/store', 'frames/mor/mor.module.ts'],
  'frames/intake': ['shared', 'engine', 'frames/store'],
  'frames/api': ['shared', 'engine', 'frames/store', 'frames/intake', 'feature.ts'],
  'frames/console': ['shared', 'engine', 'frames/store', 'frames/intake', 'frames/api', ...FEATURE_LIST],
  'core/lanes': '*', // joins the rules of all nouns, in order
  core: [...BELOW, RULES, SHOWN, ...FEATURE_LIST],
  features: [...BELOW, 'core', 'frames/intake', 'frames/cli', 'frames/stripe', 'feature.ts'],
  'frames/cli': '*',
  'feature.ts': ['shared', 'engine'], // the slots: what a feature may give
  'features.ts': ['feature.ts', /^features\/[a-z-]+\/feature\.ts$/],
  'main.ts': '*',
  'app.module.ts': '*',
  'daemon.ts': '*', // start and stop of one daemon
  'open-database.ts': '*',
  'cli.ts': '*',
  'packages/client': [],
  'packages/embedded-postgres': [],
  'packages/mor': [], // works without Crossbill
  'packages/sandbox': [], // the oracle of the tests shares no decision with the daemon
  'packages/bench': '*',
  'packages/proof': '*',
  'tools/client': '*', // writes the generated half of packages/client
  'tools/docs': '*', // writes the reference pages from the code
};

/** Readers of the environment: the settings, and programs with their own settings. */
const ENVIRONMENT_READERS = [
  /^shared\/config\//,
  /^main\.ts$/,
  /^(cli\.ts$|frames\/cli\/)/,
  /^packages\/(bench|proof|sandbox)\//,
];
// Only to hand PATH on to its PostgreSQL server.
const ENVIRONMENT_PASSED_ON = [/^packages\/embedded-postgres\/(src\/binaries|test\/owner-process)\.ts$/];

// Modules without effects: bytes and hashes, and the common words of the MoR's package and the daemon. Nothing else may
// enter domain/ or a subject's rules.
const PURE = new Set([
  'node:buffer',
  'node:crypto',
  '@crossbill/mor/kept-time.js',
  '@crossbill/mor/money.js',
  '@crossbill/mor/read.js',
]);

export const MAX_LINES = 310;
/** Outside of `src/`: programs and helpers of the tests. */
const MAX_LINES_OUTSIDE = 400;
/** Files that were longer when the limit fell. This list may only shrink. */
const STILL_LONG: ReadonlySet<string> = new Set([
  'shared/config/settings.ts',
  'shared/config/kinds.ts',
  'shared/domain/mor-object.ts',
]);
/** A test file holds one subject's cases, with their data. */
export const MAX_TEST_LINES = 550;

/** Every broken rule as one line with the change to make. Empty: all is well. */
export function brokenRules(files: readonly SourceFile[]): string[] {
  const known = new Set(files.map(({ path }) => path));
  const graph = new Map<string, string[]>();
  const found: string[] = [];
  for (const file of files) {
    const { specifiers, readsEnvironment } = readSource(file);
    const targets: string[] = [];
    for (const specifier of specifiers) {
      if (!/^(\.|#src\/)/.test(specifier)) {
        if (/^(shared\/domain|rules)$/.test(partOf(file.path)) && !PURE.has(specifier))
          found.push(`${file.path} imports ${specifier}: ${partOf(file.path)}/ imports no package`);
        if (partOf(file.path) === 'packages/sandbox' && specifier.startsWith('@crossbill/mor'))
          found.push(`${file.path} imports ${specifier}: packages/sandbox may not`);
        continue;
      }
      const path = specifier.startsWith('#src/') ? specifier.slice(5) : posix.join(posix.dirname(file.path), specifier);
      const target = path.replace(/\.js$/, '.ts');
      if (target.startsWith('..')) found.push(`${file.path} imports ${specifier}: outside of src/`);
      else if (!known.has(target)) found.push(`${file.path} imports ${specifier}: there is no such file`);
      else targets.push(target);
    }
    found.push(...targets.flatMap((target) => forbidden(file.path, target)));
    if (!(partOf(file.path) in TABLE)) found.push(`${file.path}: ${partOf(file.path)} is not in the table of parts`);
    if (
      readsEnvironment &&
      ![...ENVIRONMENT_READERS, ...ENVIRONMENT_PASSED_ON].some((reader) => reader.test(file.path))
    ) {
      found.push(`${file.path} reads process.env: only config/ and the main programs do`);
    }
    graph.set(file.path, targets);
  }
  return [...found, ...circles(graph)];
}

/** Packages that a file needs at its start, through every file it imports. A feature loads its modules and commands late. */
export function packagesBehind(files: readonly SourceFile[], path: string): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const seen = new Set([path]);
  const packages = new Set<string>();
  for (const at of seen) {
    const file = byPath.get(at);
    for (const specifier of file === undefined ? [] : valueImports(file)) {
      if (specifier.startsWith('.')) seen.add(posix.join(posix.dirname(at), specifier).replace(/\.js$/, '.ts'));
      else packages.add(specifier);
    }
  }
  return [...packages].filter((name) => !PURE.has(name)).sort();
}

/** A file's imports that are left after the compiler takes out its types. */
function valueImports(file: SourceFile): string[] {
  const { outputText } = ts.transpileModule(withoutLoaders(file), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  return ts.preProcessFile(outputText, true, true).importedFiles.map(({ fileName }) => fileName);
}

/** Files over the limit of one subject; a generated one may be long. */
export function tooLong(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => !path.includes('/generated/') && !STILL_LONG.has(path))
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0) }))
    .map((file) => ({ ...file, limit: limitOf(file.path) }))
    .filter(({ lines, limit }) => lines > limit)
    .map(({ path, lines, limit }) => `${path} has ${lines} lines: split it, the limit is ${limit}`);
}

function limitOf(path: string): number {
  if (path.endsWith('.test.ts')) return MAX_TEST_LINES;
  return /^(test|tools|packages)\//.test(path) ? MAX_LINES_OUTSIDE : MAX_LINES;
}

/** All TypeScript files below a folder of the project. */
export function readSources(folder: 'src' | 'tools' | 'packages' | 'test'): SourceFile[] {
  const project = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
  const root = folder === 'src' ? join(project, 'src') : project;
  return readdirSync(join(project, folder), { recursive: true, withFileTypes: true })
    .filter(
      (entry) => entry.isFile() && /^(?!.*\/(dist|node_modules)\/).*\.ts$/.test(join(entry.parentPath, entry.name)),
    )
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => ({ path: relative(root, path).replaceAll('\\', '/'), text: readFileSync(path, 'utf8') }));
}

/** The part of the table for a file. The pure rules of all nouns are one part. */
function partOf(path: string): string {
  if (RULES.test(path) || ENGINE_WORDS.test(path)) return 'rules';
  const [, storey] = /^(core|features)\//.exec(path) ?? [];
  if (storey !== undefined) return path.startsWith('core/lanes/') ? 'core/lanes' : storey;
  return /^(tools|packages|shared|frames)\/[^/]+|^[^/]+/.exec(path)?.[0] ?? path;
}

/** The folder of one noun, or of one part of a storey. */
function roomOf(path: string): string {
  return /^(core|features|frames|shared)\/[^/]+/.exec(path)?.[0] ?? partOf(path);
}

function forbidden(from: string, to: string): string[] {
  const allowed = TABLE[partOf(from)];
  const everywhere = to === 'shared/policy.ts' || to.startsWith('shared/masks/');
  if (everywhere || allowed === undefined || allowed === '*') return [];
  if (partOf(from) === 'rules' ? partOf(to) === 'rules' : roomOf(from) === roomOf(to)) return [];
  const fine = allowed.some((rule) =>
    typeof rule === 'string' ? to === rule || to.startsWith(`${rule}/`) : rule.test(to),
  );
  return fine ? [] : [`${from} imports ${to}: ${partOf(from)} may not`];
}

/** A feature's join file loads its modules and commands late: what they import is above the list of features. */
const withoutLoaders = ({ path, text }: SourceFile): string =>
  /^features\/[a-z-]+\/feature\.ts$/.test(path) ? text.replaceAll(/import\('[^']+'\)/g, '') : text;

/** A file's imports, for types or for values, statically or not; and whether it reads the environment. */
function readSource(file: SourceFile): { specifiers: string[]; readsEnvironment: boolean } {
  const { path } = file;
  const text = withoutLoaders(file);
  const { importedFiles } = ts.preProcessFile(text, true, true); // a fifth of the cost of a whole parse
  return { specifiers: importedFiles.map(({ fileName }) => fileName), readsEnvironment: readsEnvironment(path, text) };
}

function readsEnvironment(path: string, text: string): boolean {
  if (!/\bprocess\b/.test(text)) return false; // a whole parse only where it may
  const visit = (node: ts.Node): boolean => namesEnvironment(node) || (ts.forEachChild(node, visit) ?? false);
  return visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
}

/** `process.env`, `process['env']`, `const { env } = process`, `import { env } from 'node:process'`. */
function namesEnvironment(node: ts.Node): boolean {
  const isProcess = (value: ts.Node | undefined): boolean =>
    value !== undefined &&
    ((ts.isIdentifier(value) && value.text === 'process') ||
      (ts.isPropertyAccessExpression(value) && value.name.text === 'process'));
  if (ts.isPropertyAccessExpression(node)) return node.name.text === 'env' && isProcess(node.expression);
  if (ts.isElementAccessExpression(node)) {
    return (
      isProcess(node.expression) &&
      ts.isStringLiteralLike(node.argumentExpression) &&
      node.argumentExpression.text === 'env'
    );
  }
  if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name)) {
    const names = node.name.elements.map((element) => (element.propertyName ?? element.name).getText());
    return isProcess(node.initializer) && names.includes('env');
  }
  if (ts.isImportSpecifier(node)) {
    const from = node.parent.parent.parent.moduleSpecifier;
    return (
      (node.propertyName ?? node.name).text === 'env' && ts.isStringLiteral(from) && /^(node:)?process$/.test(from.text)
    );
  }
  return false;
}

/**
 * Each circle of folders in `src/` as the way round it, with the files leading from folder to folder. Types and rules
 * count too.
 */
export function folderCircles(files: readonly SourceFile[]): string[] {
  const arrows = new Map<string, Map<string, string>>();
  for (const file of files) {
    const { path } = file;
    const text = withoutLoaders(file);
    const from = folderOf(path);
    if (from === null) continue;
    const own = arrows.get(from) ?? new Map<string, string>();
    arrows.set(from, own);
    for (const { fileName } of ts.preProcessFile(text, true, true).importedFiles) {
      const target = fileName.startsWith('.')
        ? posix.join(posix.dirname(path), fileName)
        : fileName.replace('#src/', '');
      const to = fileName.startsWith('.') || fileName.startsWith('#src/') ? folderOf(target) : null;
      if (to !== null && to !== from && !own.has(to)) own.set(to, `${path} imports ${target}`);
    }
  }
  return circles(new Map([...arrows].map(([from, to]) => [from, [...to.keys()]]))).map((circle) => {
    const way = circle.replace('a circle of imports: ', '').split(' -> ');
    return way
      .slice(1)
      .map((to, i) => arrows.get(way[i] ?? '')?.get(to) ?? to)
      .join('; ');
  });
}

function folderOf(path: string): string | null {
  return /^(core|features|frames|shared)\/[a-z-]+(?=\/)|^[a-z-]+(?=\/)/.exec(path)?.[0] ?? null;
}

/** Each circle of imports once, as the way round it. */
function circles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const way: string[] = [];
  const walk = (path: string): void => {
    const start = way.indexOf(path);
    if (start >= 0) found.push(`a circle of imports: ${[...way.slice(start), path].join(' -> ')}`);
    if (start >= 0 || done.has(path)) return;
    way.push(path);
    for (const target of graph.get(path) ?? []) walk(target);
    way.pop();
    done.add(path);
  };
  for (const path of graph.keys()) walk(path);
  return found;
}
