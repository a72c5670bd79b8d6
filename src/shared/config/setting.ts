// One row of the settings table, and the kinds of values.

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };
export const good = <T>(value: T): Parsed<T> => ({ ok: true, value });
/** A wrong value. `problem` never contains the value. */
export const bad = (problem: string): Parsed<never> => ({ ok: false, problem });

export type Kind<T> = {
  /** The type of the value in words, with its unit. */
  readonly type: string;
  /** True: no page, log or error ever shows the value. */
  readonly secret?: boolean;
  readonly parse: (text: string) => Parsed<T>;
};

/** A setting. The parser, the example file, the console and the settings reference use it. */
export type Setting<T> = Required<Kind<T>> & {
  /** The name of the environment variable. */
  readonly name: string;
  /** The default, as a person would type it. Null: there is none. */
  readonly default: string | null;
  readonly required: boolean;
  /**
   * True: an empty `NAME=` means not set, as usual in env files and containers. False for most secrets: an empty secret
   * is a mistake, since anybody can sign with it.
   */
  readonly emptyIsUnset: boolean;
  /** The purpose of the setting for a person, in full sentences. */
  readonly description: string;
  /** The value in the example file. Null: the example shows the default, or nothing. */
  readonly example: string | null;
  /** The value if the variable is not set. Never used for a required setting. */
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

/** A setting the daemon needs to start. */
export function required<T>(name: string, kind: Kind<T>, description: string, more: More): Setting<T> {
  return { ...row(name, kind, description, more), default: null, required: true, unset: undefined as never };
}

/** A setting with a default. The default must pass the same checks. */
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

/** An optional setting. Its value is null if the variable is not set. */
export function optional<T>(name: string, kind: Kind<T>, description: string, more: More): Setting<T | null> {
  return { ...row<T | null>(name, kind, description, more), default: null, required: false, unset: null };
}

/** An optional list. Its value is empty if the variable is not set. */
export function optionalList<T>(
  name: string,
  kind: Kind<readonly T[]>,
  description: string,
  more: More,
): Setting<readonly T[]> {
  return { ...row(name, kind, description, more), default: null, required: false, unset: [] };
}
