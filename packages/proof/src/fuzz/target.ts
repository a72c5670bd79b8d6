// A fuzzing target: a parser of outside data, the inputs to try, and the rule every input must keep.
import type fc from 'fast-check';

export type Target = {
  /** One word, the name for `--only`. */
  readonly name: string;
  /** What the target parses, in words, for the list. */
  readonly what: string;
  /** Every input is a text: easy to print, to keep and to try again. */
  readonly inputs: fc.Arbitrary<string>;
  /** Throws `Broken`, or the parser's own error, if the input breaks a rule. */
  readonly check: (input: string) => void | Promise<void>;
  /** Runs before the first input of a batch. */
  readonly prepare?: () => Promise<void>;
  /** Checks the state after all inputs of a batch. Throws like `check`. */
  readonly afterBatch?: () => Promise<void>;
  /** True: the target waits for a daemon, so the runner limits elapsed time, not processor time. */
  readonly remote?: boolean;
};

/** The error for a broken rule. */
export class Broken extends Error {
  override readonly name = 'Broken';
}

export function must(holds: boolean, said: string): asserts holds {
  if (!holds) throw new Broken(said);
}

/** Throws `Broken` if `one` and `other` differ as JSON. */
export function mustBeSame(one: unknown, other: unknown, said: string): void {
  const [x, y] = [shown(one), shown(other)];
  must(x === y, `${said}: ${x.slice(0, 300)} is not ${y.slice(0, 300)}`);
}

export function shown(value: unknown): string {
  return (
    JSON.stringify(value, (_name, v: unknown) => (typeof v === 'bigint' ? `${v}n` : v instanceof Map ? [...v] : v)) ??
    'undefined'
  );
}

/** Returns the value of `run`, or null if `run` throws an error of these kinds. Other errors pass through. */
export function orTyped<T>(run: () => T, ...kinds: readonly (abstract new (...args: never[]) => Error)[]): T | null {
  try {
    return run();
  } catch (error) {
    if (kinds.some((kind) => error instanceof kind)) return null;
    throw error;
  }
}
