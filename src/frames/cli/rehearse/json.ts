// Reads replies of the daemon, Stripe and the MoR by member name. Any shape may occur.
import { isObject } from '@crossbill/mor/read.js';

export type Json = Readonly<Record<string, unknown>>;

export const objectOf = (value: unknown): Json => (isObject(value) ? value : {});
export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(objectOf) : []);

/** Returns the text at this path of members. Null if there is none. */
export function textAt(value: unknown, ...path: readonly string[]): string | null {
  const found = path.reduce<unknown>((at, name) => objectOf(at)[name], value);
  return typeof found === 'string' && found !== '' ? found : null;
}

const MOST_NAMES = 60;

/** Lists the names of all members, such as `data.amount.currency` and `errors[].field`, without any value. */
export function namesIn(value: unknown, prefix = ''): readonly string[] {
  if (Array.isArray(value))
    return value.length === 0 ? [`${prefix}[]`] : [...new Set(value.flatMap((item) => namesIn(item, `${prefix}[]`)))];
  if (!isObject(value)) return prefix === '' ? [] : [prefix];
  const names = Object.entries(value).flatMap(([name, inner]) =>
    // A plain key is a field's name in the reply. A key of another form could be a value, so `…` hides the key.
    namesIn(inner, `${prefix}${prefix === '' ? '' : '.'}${/^[A-Za-z_][\w-]{0,60}$/.test(name) ? name : '…'}`),
  );
  return (names.length === 0 ? [prefix] : names).slice(0, MOST_NAMES);
}
