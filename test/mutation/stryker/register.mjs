// Loads the TypeScript sources and tests as they are, and `@jest/globals` as mocha's: see stryker.config.json.
import { register } from 'node:module';

register('./loader.mjs', import.meta.url);
