// Flag for Node: `--import <this file>`. The daemon then has no feature: the list of features is empty, and their files
// cannot be loaded.
import { register } from 'node:module';

const LIST = /\/dist\/features\.js$/;
const FOLDER = /\/dist\/features\//;

/** Node's hook for the text of a module. */
export async function load(url, context, next) {
  if (FOLDER.test(url)) throw new Error(`the core needs a feature: ${url}`);
  if (!LIST.test(url)) return next(url, context);
  return { format: 'module', source: 'export const FEATURES = [];', shortCircuit: true };
}

// Node loads this file twice: in the main thread as the flag, and in a thread of its own for the hook.
if (!import.meta.url.includes('?hook')) register(`${import.meta.url}?hook`);
