// jest's words in mocha's world: it loads the tests once and runs them again for each mutant, in milliseconds instead
// of a second.
import { expect } from 'expect';
import { bind } from 'jest-each';

const { describe: group, it: test, before: beforeAll, after: afterAll, beforeEach, afterEach } = globalThis;

/** A third argument of jest's is the time it may take. */
const it = (title, run) => test(title, run);
it.each = bind(it, false);
const describe = (title, body) => group(title, body);
describe.each = bind(describe, false);

export { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it };
