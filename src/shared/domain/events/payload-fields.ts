// Finds deadlines, links, outcomes and amounts at any depth of a payload, to show them to people. Document 2 does not
// show the form of these payloads.
import { isId, isObject, type JsonObject, textOf, timeOf } from '@crossbill/mor/read.js';
import { freeText } from '../../masks/card-numbers.js';
import { decimalsOf, minorFromDecimal, type Money, parseCurrency } from '../money.js';

const MAX_MEMBERS = 1_000;

type Member = readonly [name: string, value: unknown, of: JsonObject, depth: number];

/** Every member of `data` at any depth, outer members first, each with its object. */
function* members(data: JsonObject): Generator<Member> {
  const waiting: (readonly [value: unknown, depth: number])[] = [[data, 0]];
  let seen = 0;
  for (let next = 0; next < waiting.length; next++) {
    const [value, depth] = waiting[next] ?? [null, 0];
    if (Array.isArray(value))
      for (const item of value.slice(0, MAX_MEMBERS) as unknown[]) waiting.push([item, depth + 1]);
    if (!isObject(value)) continue;
    for (const [name, inner] of Object.entries(value)) {
      if (++seen > MAX_MEMBERS) return;
      yield [name, inner, value, depth];
      if (typeof inner === 'object' && inner !== null) waiting.push([inner, depth + 1]);
    }
  }
}

/** The name in lower case, without `_` and `-`. So names in different styles compare equal. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}

/** The first readable member with one of these names. Earlier names win. Case, `_` and `-` make no difference. */
export function named<T>(
  data: JsonObject,
  names: readonly string[],
  read: (value: unknown, of: JsonObject) => T | null,
): T | null {
  const all = [...members(data)];
  for (const wanted of names) {
    for (const [name, value, of] of all) {
      const found = plain(name) === wanted ? read(value, of) : null;
      if (found !== null) return found;
    }
  }
  return null;
}

const DEADLINES = [
  'deadline',
  'evidencedueby',
  'dueby',
  'evidencedeadline',
  'respondby',
  'responsedueby',
  'remainingdeadline',
  'actionrequiredby',
  'duedate',
  'dueat',
  'expiresat',
];

/** The deadline in the data. Null: the data has none. */
export function deadlineIn(data: JsonObject): Date | null {
  return named(data, DEADLINES, anyTime);
}

/** Reads ISO 8601, a bare day (as its first moment: better too early than too late), Unix seconds or milliseconds. */
function anyTime(value: unknown): Date | null {
  if (typeof value === 'number' && value > 1e11) return timeOf(Math.floor(value / 1000));
  if (typeof value === 'string' && /^\d{9,11}$/.test(value)) return timeOf(Number(value));
  return timeOf(value);
}

/**
 * A link to the MoR's dashboard, https only. Null: there is none. Crossbill shows the link as text and never follows
 * it.
 */
export function dashboardIn(data: JsonObject): string | null {
  const all = [...members(data)];
  const links = all.filter(([, value]) => isHttps(value));
  const best = links.find(([name]) => plain(name).includes('dashboard')) ?? links[0];
  return typeof best?.[1] === 'string' ? best[1] : null;
}

function isHttps(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > 2_048 || !value.startsWith('https://') || !URL.canParse(value))
    return false;
  const { username, password } = new URL(value);
  return username === '' && password === '';
}

/** The id under one of these names, at any depth. */
export function idNamed(data: JsonObject, ...names: string[]): string | null {
  return named(data, names.map(plain), (value) => (isId(value) && !/\s/.test(value) ? value : null));
}

/** A code, a number or a word under one of these names. */
export function wordNamed(data: JsonObject, ...names: string[]): string | null {
  return named(data, names.map(plain), textOf);
}

/** A person's text under one of these names, with card numbers masked. */
export function textNamed(data: JsonObject, ...names: string[]): string | null {
  return named(data, names.map(plain), freeText);
}

export function timeNamed(data: JsonObject, ...names: string[]): Date | null {
  return named(data, names.map(plain), anyTime);
}

const AMOUNTS = ['disputedamount', 'amount'];
/** Crossbill shows an unclear sum as the MoR wrote it, cut to this many characters. */
const LONGEST_SUM = 80;

/** The first exact amount in the data. Null: there is none. */
export function amountIn(data: JsonObject): Money | null {
  return named(data, AMOUNTS, moneyOf);
}

/**
 * Like `amountIn`, but reads only the outermost amounts. If these are unclear, it returns a text for a person: the
 * amount as the MoR wrote it, or all the amounts, for example if a dispute also shows its payment's amount.
 */
export function sumIn(data: JsonObject): Money | string | null {
  const all = [...members(data)];
  for (const wanted of AMOUNTS) {
    const those = all.filter(([name, value]) => plain(name) === wanted && value !== null && value !== '');
    const [first] = those;
    if (first === undefined) continue;
    const sums = new Map<string, Money | null>();
    for (const [, value, of, depth] of those)
      if (depth === first[3]) sums.set(asWritten(value, of), moneyOf(value, of));
    const [sum = null] = sums.values();
    const isOne =
      sum !== null && [...sums.values()].every((x) => x?.minor === sum.minor && x.currency === sum.currency);
    return isOne ? sum : [...sums.keys()].join(' or ').slice(0, LONGEST_SUM);
  }
  return null;
}

/**
 * Reads an amount as Document 2 writes it: `{amount, currency}` with a decimal string. Also reads a decimal string with
 * a separate `currency` next to it. In this second form a text without a decimal point is ambiguous: "300" may mean
 * smallest units, as in Document 3. The function accepts such a text only for a currency without decimals. It never
 * accepts a JSON number.
 */
function moneyOf(value: unknown, of: JsonObject): Money | null {
  const whole = isObject(value) ? value : { amount: value, currency: of['currency'] };
  const { amount } = whole;
  const currency = parseCurrency(whole['currency']);
  if (currency === null || typeof amount !== 'string') return null;
  if (whole !== value && !amount.includes('.') && decimalsOf(currency) > 0) return null;
  const minor = minorFromDecimal(amount, currency);
  return minor === null || minor < 1n ? null : { minor, currency };
}

function asWritten(value: unknown, of: JsonObject): string {
  const { amount = null, currency = null } = isObject(value) ? value : { amount: value, currency: of['currency'] };
  const shown = typeof amount === 'string' || typeof amount === 'number' ? String(amount) : JSON.stringify(value);
  const said = parseCurrency(currency) === null ? shown : `${shown} ${String(currency)}`;
  return textOf(said.slice(0, LONGEST_SUM)) ?? '';
}
