// What is fuzzed: a parser of something from outside, the inputs that are tried on it, and what must hold for each of them.
import type fc from 'fast-check';

export type Target = {
  /** One word, as `--only` takes it. */
  readonly name: string;
  /** What is parsed, in words, for the list. */
  readonly what: string;
  /** Each input is a text, so that it can be printed, kept and tried again. */
  readonly inputs: fc.Arbitrary<string>;
  /** Throws `Broken`, or whatever the parser should not have thrown. */
  readonly check: (input: string) => void | Promise<void>;
  /** Before the first input of a batch. */
  readonly prepare?: () => Promise<void>;
  /** Looks at what many inputs together left behind. Throws as `check`. */
  readonly afterBatch?: () => Promise<void>;
  /** True: it waits for a daemon, so the processor time of this process says nothing. */
  readonly remote?: boolean;
};

/** Something that must hold does not. */
export class Broken extends Error {
  override readonly name = 'Broken';
}

export function must(holds: boolean, said: string): asserts holds {
  if (!holds) throw new Broken(said);
}

/** Both as one text each, so that a difference can be read. */
export function mustBeSame(a: unknown, b: unknown, said: string): void {
  const [x, y] = [shown(a), shown(b)];
  must(x === y, `${said}: ${x.slice(0, 300)} is not ${y.slice(0, 300)}`);
}

export function shown(value: unknown): string {
  return (
    JSON.stringify(value, (_name, v: unknown) => (typeof v === 'bigint' ? `${v}n` : v instanceof Map ? [...v] : v)) ??
    'undefined'
  );
}

/** Only an error of this kind may come; what `run` gives otherwise, or null after such an error. */
export function orTyped<T>(run: () => T, ...kinds: readonly (abstract new (...args: never[]) => Error)[]): T | null {
  try {
    return run();
  } catch (error) {
    if (kinds.some((kind) => error instanceof kind)) return null;
    throw error;
  }
}
