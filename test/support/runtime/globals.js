// `@jest/globals` of the test file in this process: runtime.js leaves it there.
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } = globalThis.jestGlobals;
