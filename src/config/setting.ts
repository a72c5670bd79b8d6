// One row of the settings table, and what a value may be.

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };
export const good = <T>(value: T): Parsed<T> => ({ ok: true, value });
/** `problem` never repeats the value. */
export const bad = (problem: string): Parsed<never> => ({ ok: false, problem });

/** What a setting may be. */
export type Kind<T> = {
  /** In words, with the unit. */
  readonly type: string;
  /** True: nobody shows the value, logs it or puts it into an error. */
  readonly secret?: boolean;
  readonly parse: (text: string) => Parsed<T>;
};

/** Everything that parsing, the example file, the console and the settings reference need of a setting. */
export type Setting<T> = Required<Kind<T>> & {
  /** The environment variable. */
  readonly name: string;
  /** As one writes it; null: there is none. */
  readonly default: string | null;
  readonly required: boolean;
  /**
   * True: an empty `NAME=` counts as not set, as env files and containers write it. False for most secrets: somebody meant to give
   * one, and anybody can sign with an empty one.
   */
  readonly emptyIsUnset: boolean;
  /** For the person who sets it, in full sentences. */
  readonly description: string;
  /** For the example file; null: the default, or nothing. */
  readonly example: string | null;
  /** The value of an unset variable; nobody reads it for a required setting. */
  readonly unset: T;
};

type More = { readonly example?: string; readonly emptyIsUnset?: boolean };

const row = <T>(name: string, kind: Kind<T>, description: string, more: More) => ({
  ...kind,
  name,
  description,
  example: more.example ?? null,
  secret: kind.secret ?? false,
  emptyIsUnset: more.emptyIsUnset ?? kind.secret !== true,
});

/** The daemon does not start without it. */
export function required<T>(name: string, kind: Kind<T>, description: string, more: More): Setting<T> {
  return { ...row(name, kind, description, more), default: null, required: true, unset: undefined as never };
}

/** The default goes through the same checks as a value from outside. */
export function withDefault<T>(
  name: string,
  kind: Kind<T>,
  text: string,
  description: string,
  more: More = {},
): Setting<T> {
  const parsed = kind.parse(text);
  if (!parsed.ok) throw new Error(`the default of ${name} ${parsed.problem}`);
  return { ...row(name, kind, description, more), default: text, required: false, unset: parsed.value };
}

/** Null if it is left out. */
export function optional<T>(name: string, kind: Kind<T>, description: string, more: More): Setting<T | null> {
  return { ...row<T | null>(name, kind, description, more), default: null, required: false, unset: null };
}

/** Empty if it is left out. */
export function optionalList<T>(
  name: string,
  kind: Kind<readonly T[]>,
  description: string,
  more: More,
): Setting<readonly T[]> {
  return { ...row(name, kind, description, more), default: null, required: false, unset: [] };
}
