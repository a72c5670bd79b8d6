// A value safe from accidental printing: use it on purpose.
import { inspect } from 'node:util';

const SHOWN = '[secret]';

/** Wraps a key, token or password. Text, JSON, template strings and `util.inspect` all give `[secret]`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
    Object.freeze(this);
  }

  /** The value itself. For the one place to sign, verify or send with it. */
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
