// What one row of the settings table holds, and short ways to write such a row.
import { type Parser } from './parsers.js';

/** One setting: everything that parsing, the example file, the console and the settings reference need to know of it. */
export type Setting<T> = {
  /** The environment variable. */
  readonly name: string;
  /** What it may be, in words, with the unit. */
  readonly type: string;
  /** The default as one would write it; null: there is none. */
  readonly default: string | null;
  /** True: the daemon does not start without it. */
  readonly required: boolean;
  /** True: the value is never shown, logged or put into an error. */
  readonly secret: boolean;
  /**
   * True: an empty `NAME=` counts as not set, as env files and containers write it. False where a secret goes: an empty secret is
   * one that somebody meant to give, and one that anybody can sign with.
   */
  readonly emptyIsUnset: boolean;
  /** What it does, for the person who sets it. One or more full sentences. */
  readonly description: string;
  /** A value as an example file shows it; null: the default, or nothing. */
  readonly example: string | null;
  readonly parse: Parser<T>;
  /** What the settings object holds when the variable is not set; only read for settings that are neither required nor have a default. */
  readonly unset: T;
};

type Row = Pick<Setting<unknown>, 'name' | 'type' | 'description'> & {
  readonly secret?: boolean;
  readonly emptyIsUnset?: boolean; // left out: the opposite of `secret`
  readonly example?: string;
};

const common = (row: Row) => ({
  name: row.name,
  type: row.type,
  description: row.description,
  secret: row.secret ?? false,
  emptyIsUnset: row.emptyIsUnset ?? row.secret !== true,
  example: row.example ?? null,
});

/** A setting the daemon does not start without. */
export function required<T>(row: Row, parse: Parser<T>): Setting<T> {
  // The value for "unset" cannot be reached: an unset required setting stops the start.
  const unset = undefined as never;
  return { ...common(row), default: null, required: true, parse, unset };
}

/** A setting with a default, which goes through the same checks as a value from outside. */
export function withDefault<T>(row: Row, text: string, parse: Parser<T>): Setting<T> {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(`the default of ${row.name} ${parsed.problem}`);
  return { ...common(row), default: text, required: false, parse, unset: parsed.value };
}

/** A setting that may be left out; its value is null then. */
export function optional<T>(row: Row, parse: Parser<T>): Setting<T | null> {
  return { ...common(row), default: null, required: false, parse, unset: null };
}

/** A list that may be left out; it is empty then. */
export function optionalList<T>(row: Row, parse: Parser<readonly T[]>): Setting<readonly T[]> {
  return { ...common(row), default: null, required: false, parse, unset: [] };
}
