// `expect(got).toEqual(wanted)` for loops of thousands. Jest makes some two hundred matchers for each `expect`, at a
// higher cost than the code under test: this calls it only once two values differ, for its message.
import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';

export function same(got: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(got, wanted)) expect(got).toEqual(wanted);
}
