// The module rules of jest.config.js, for Node itself: `#src/…` and `….js` are TypeScript files, compiled by swc with
// jest's own options.
import { existsSync, readFileSync } from 'node:fs';
import { resolve as join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync } from '@swc/core';
import jest from '../../../jest.config.js';

const [, options] = jest.transform['^.+\\.ts$'];
const ROOT = join(import.meta.dirname, '../../..');
const GLOBALS = new URL('./jest-globals.mjs', import.meta.url).href;

// Calls of a test file during its load are no table of the code: only its tests can notice a change there. Otherwise
// Stryker would start another process for each change of it.
const BEGUN = "if (globalThis.__stryker__) __stryker__.currentTestId = 'the loading of a file';\n";
const DONE = '\nif (globalThis.__stryker__) __stryker__.currentTestId = undefined;\n';

function sourceOf(specifier, parent) {
  if (specifier.startsWith('#src/')) return join(ROOT, 'src', specifier.slice('#src/'.length));
  if (/^\.{1,2}\//.test(specifier) && parent?.startsWith('file:')) return fileURLToPath(new URL(specifier, parent));
  return null;
}

export async function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: GLOBALS, format: 'module', shortCircuit: true };
  const file = sourceOf(specifier, context.parentURL)?.replace(/\.js$/, '.ts');
  if (file?.endsWith('.ts') && existsSync(file)) return { url: pathToFileURL(file).href, shortCircuit: true };
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const filename = fileURLToPath(url);
  const { code } = transformSync(readFileSync(filename, 'utf8'), { ...options, filename, swcrc: false });
  return { format: 'module', source: url.endsWith('.test.ts') ? `${BEGUN}${code}${DONE}` : code, shortCircuit: true };
}
