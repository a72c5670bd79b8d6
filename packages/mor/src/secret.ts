// Protects a value from accidental printing. Only an explicit call returns it.
import { inspect } from 'node:util';

const SHOWN = '[secret]';

/** Wraps a key, token or password. Text, JSON, template strings and `util.inspect` all give `[secret]`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
    Object.freeze(this);
  }

  /** Returns the value itself, for code to sign, verify or send with it. Call this method nowhere else. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }
}
