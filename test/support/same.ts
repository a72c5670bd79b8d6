// `expect(got).toEqual(wanted)` for loops of thousands. Jest makes some two hundred matchers for each `expect`, which costs more there than the code
// under test: here it is asked only once two values differ, and says how.
import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';

export function same(got: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(got, wanted)) expect(got).toEqual(wanted);
}
