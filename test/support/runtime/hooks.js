// Hooks of Node's module loader: `#src/…`, `@crossbill/…` and `….js` mean TypeScript files, which swc compiles.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformSync, version } from '@swc/core';

const ROOT = new URL('../../../', import.meta.url).href;
const CACHE = new URL('node_modules/.cache/test-modules/', ROOT);
const GLOBALS = new URL('globals.js', import.meta.url).href;

const OPTIONS = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    keepClassNames: true,
  },
  module: { type: 'es6' },
  sourceMaps: true,
  swcrc: false,
};

mkdirSync(CACHE, { recursive: true });

/** The path of the compiled form of a project file. Its source map has the same name with `.map`. */
export function keptAt(url) {
  return fileURLToPath(new URL(url.slice(ROOT.length).replaceAll('/', '+'), CACHE));
}

/**
 * The JavaScript of a TypeScript file of the project. It is kept on disk, with the hash of the source in the last line.
 */
export function compiled(url) {
  const source = readFileSync(fileURLToPath(url), 'utf8');
  const mark = `\n//${createHash('sha1')
    .update(`${version} ${JSON.stringify(OPTIONS)} ${source}`)
    .digest('hex')}`;
  const path = keptAt(url);
  const kept = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (kept.endsWith(mark)) return kept;
  const { code, map } = transformSync(source, { ...OPTIONS, filename: fileURLToPath(url) });
  write(`${path}.map`, map);
  write(path, `${code}${mark}`);
  return code;
}

/** Writes in one step, because other workers read and write the same files. */
function write(path, text) {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}

/** The URL of the project file that an import means; null for every other import. */
function own(specifier, parent) {
  if (specifier === '@jest/globals') return GLOBALS;
  if (specifier.startsWith(ROOT)) return specifier;
  if (!parent.startsWith(ROOT)) return null;
  if (specifier.startsWith('.')) return new URL(specifier, parent).href;
  if (specifier.startsWith('#src/')) return `${ROOT}${specifier.slice(1)}`;
  const [, name, file] = /^@crossbill\/([a-z-]+)(?:\/(.+))?$/.exec(specifier) ?? [];
  if (name === undefined) return null;
  return `${ROOT}packages/${name}/src/${file ?? (name === 'sandbox' ? 'sandbox.js' : 'index.js')}`;
}

/**
 * With `?tests=N` in the name, each test file has its own copy of its helpers, and the process loads all other files
 * once. With `?all=N` each test file has its own copy of all project files.
 */
export function resolve(specifier, context, next) {
  const parent = context.parentURL ?? '';
  const [found, ask] = own(specifier, parent)?.split('?') ?? [];
  if (found === undefined || found.includes('/node_modules/')) return next(specifier, context);
  const typescript = found.replace(/\.js$/, '.ts');
  const url = [typescript, found].find((one) => /\.(ts|m?js)$/.test(one) && existsSync(fileURLToPath(one)));
  if (url === undefined) return next(specifier, context);
  const query = ask ?? parent.split('?')[1] ?? '';
  const alone = query.startsWith('all=') || url.slice(ROOT.length - 1).includes('/test/');
  return { url: alone && query !== '' ? `${url}?${query}` : url, format: 'module', shortCircuit: true };
}

export function load(url, context, next) {
  const [path] = url.split('?');
  if (!path.startsWith(ROOT) || !path.endsWith('.ts') || path.includes('/node_modules/')) return next(url, context);
  return { format: 'module', source: compiled(path), shortCircuit: true };
}
