// Flag for Node: `--import <this file>`. The built daemon or command line then has the example feature, as if its folder
// stood in src/features. Its sources are compiled when they are loaded.
import { existsSync, readFileSync } from 'node:fs';
import { register } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { EXAMPLE, listWithExample } from '../../architecture/example-feature.mjs';

const LIST = /\/dist\/features\.js$/;
const FOLDER = new RegExp(`/dist/features/${EXAMPLE.name}/(.+)\\.js$`);
const options = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  useDefineForClassFields: false,
};

/** The source behind a built file of the example. Null: the file is not of the example. */
function sourceOf(url) {
  const [, name] = FOLDER.exec(url) ?? [];
  const path = name === undefined ? null : join(EXAMPLE.folder, `${name}.ts`);
  return path !== null && existsSync(path) ? path : null;
}

/** Node's hook for the place of a module. */
export async function resolve(specifier, context, next) {
  const url = specifier.startsWith('.') ? new URL(specifier, context.parentURL).href : specifier;
  return sourceOf(url) === null ? next(specifier, context) : { url, format: 'module', shortCircuit: true };
}

/** Node's hook for the text of a module. */
export async function load(url, context, next) {
  const path = sourceOf(url);
  if (path !== null) {
    const { outputText } = ts.transpileModule(readFileSync(path, 'utf8'), { compilerOptions: options });
    return { format: 'module', source: outputText, shortCircuit: true };
  }
  if (!LIST.test(url)) return next(url, context);
  const source = listWithExample(readFileSync(fileURLToPath(url), 'utf8'));
  return { format: 'module', source, shortCircuit: true };
}

// Node loads this file twice: in the main thread as the flag, and in a thread of its own for the hooks.
if (!import.meta.url.includes('?hook')) register(`${import.meta.url}?hook`);
