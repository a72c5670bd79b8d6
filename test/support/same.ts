// `expect(got).toEqual(wanted)` for loops of thousands. Jest builds some two hundred matchers for each `expect`, which
// costs more than the code under test. So this calls `expect` only if two values differ, for its message.
import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';

export function same(got: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(got, wanted)) expect(got).toEqual(wanted);
}
