// The `@jest/globals` of the test file in this process. runtime.js sets them.
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } = globalThis.jestGlobals;
