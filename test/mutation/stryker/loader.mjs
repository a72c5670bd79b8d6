// The hooks of jest's tests (test/support/runtime) with mocha's words in place of jest's.
import * as hooks from '../../support/runtime/hooks.js';

const GLOBALS = new URL('./jest-globals.mjs', import.meta.url).href;

// Calls of a test file during its load are no table of the code: only its tests can notice a change there. Otherwise
// Stryker would start another process for each change of it.
const BEGUN = "if (globalThis.__stryker__) __stryker__.currentTestId = 'the loading of a file';\n";
const DONE = '\nif (globalThis.__stryker__) __stryker__.currentTestId = undefined;\n';

export async function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: GLOBALS, format: 'module', shortCircuit: true };
  return hooks.resolve(specifier, context, next);
}

export async function load(url, context, next) {
  const loaded = await hooks.load(url, context, next);
  return url.endsWith('.test.ts') ? { ...loaded, source: `${BEGUN}${loaded.source}${DONE}` } : loaded;
}
