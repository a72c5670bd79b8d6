// One row of the settings table, and the kinds of values.

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };
export const good = <T>(value: T): Parsed<T> => ({ ok: true, value });
/** `problem` never repeats the value. */
export const bad = (problem: string): Parsed<never> => ({ ok: false, problem });

export type Kind<T> = {
  /** In words, with the unit. */
  readonly type: string;
  /** True: the value never reaches a page, a log or an error. */
  readonly secret?: boolean;
  readonly parse: (text: string) => Parsed<T>;
};

/** A setting for the parser, the example file, the console and the settings reference. */
export type Setting<T> = Required<Kind<T>> & {
  /** The environment variable. */
  readonly name: string;
  /** As one writes it; null: there is none. */
  readonly default: string | null;
  readonly required: boolean;
  /** True: an empty `NAME=` is not set, as in env files and containers. False for most secrets: anybody can sign with an empty one. */
  readonly emptyIsUnset: boolean;
  /** For a person, in full sentences. */
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

/** The default passes the same checks. */
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
