// A value that cannot be printed by accident: it is used on purpose.
import { inspect } from 'node:util';

const SHOWN = '[secret]';

/** Wraps a key or token. Text, JSON, template strings and `util.inspect` all give `[secret]`. */
export class Hidden {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
    Object.freeze(this);
  }

  /** The value itself. */
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
