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

  /** The value itself. Call it only where the code signs, verifies or sends with the value. */
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
