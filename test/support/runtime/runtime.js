// Jest's own runtime loads everything again for each test file, in a separate context: seconds for Nest, TypeORM and
// the daemon. With this runtime Node imports a test file like any other, and loads src, packages and node_modules once
// per worker.
import { pathToFileURL } from 'node:url';
import Runtime from 'jest-runtime';
import { keptAt } from './hooks.js';
import './register.js';

/** Jest loads this file with `require` and looks for this export. */
export const __esModule = true;

/** `expect` runs in jest's context and checks objects of the tests with `instanceof`, so both need the same classes. */
const SHARED = { Array, BigInt, Boolean, Date, Error, Function, Map, Number, Object, RegExp, Set, String, Symbol };

let files = 0;

class SourceMaps extends Map {
  /** @param {string} path or URL, of a stack's frame */
  get(path) {
    const url = path.startsWith('file:') ? path.split('?')[0] : pathToFileURL(path).href;
    return url.endsWith('.ts') ? `${keptAt(url)}.map` : undefined;
  }
}

export default class NodeRuntime extends Runtime {
  /** @param {ConstructorParameters<typeof Runtime>} args */
  constructor(...args) {
    super(...args);
    const [, environment, , , , , , { watch, watchAll }] = args;
    Object.assign(environment.global, SHARED);
    // In watch mode the project's files change between two runs.
    this.alone = watch || watchAll ? 'all' : 'tests';
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  /** @param {string} path */
  async unstable_importModule(path) {
    globalThis.jestGlobals = this.jestGlobals.cjsGlobals(path);
    files += 1;
    return import(`${pathToFileURL(path).href}?${this.alone}=${files}`);
  }

  getSourceMaps() {
    return new SourceMaps();
  }
}
