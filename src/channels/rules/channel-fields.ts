// Finds what people need in payloads that Document 2 does not show: deadlines, links, outcomes, amounts, wherever they stand.
import { freeText, isId, timeOf } from '../../domain/events/fields.js';
import { isJsonObject, type JsonObject } from '../../domain/events/json-body.js';
import { minorFromDecimal, type Money, parseCurrency } from '../../domain/money.js';

const MAX_MEMBERS = 1_000;

/** Every member of `data` at any depth, outer ones first. */
function* members(data: JsonObject): Generator<readonly [name: string, value: unknown]> {
  const waiting: unknown[] = [data];
  let seen = 0;
  for (let next = 0; next < waiting.length; next++) {
    const value = waiting[next];
    if (Array.isArray(value)) for (const item of value.slice(0, MAX_MEMBERS) as unknown[]) waiting.push(item);
    if (!isJsonObject(value)) continue;
    for (const [name, inner] of Object.entries(value)) {
      if (++seen > MAX_MEMBERS) return;
      yield [name, inner];
      if (typeof inner === 'object' && inner !== null) waiting.push(inner);
    }
  }
}

/** A name without its case, `_` and `-`. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}

/** The first member by one of these names (whatever their case, `_` and `-`), the names in order of preference. */
export function named<T>(data: JsonObject, names: readonly string[], read: (value: unknown) => T | null): T | null {
  const all = [...members(data)];
  for (const wanted of names) {
    for (const [name, value] of all) {
      const found = plain(name) === wanted ? read(value) : null;
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

/** Until when somebody must act; null when nothing in it says so. */
export function deadlineIn(data: JsonObject): Date | null {
  return named(data, DEADLINES, anyTime);
}

/** ISO 8601, a bare day (its first moment: rather too early than too late), Unix seconds or milliseconds. */
function anyTime(value: unknown): Date | null {
  if (typeof value === 'number' && value > 1e11) return timeOf(Math.floor(value / 1000));
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)) return timeOf(`${value}T00:00:00Z`);
  if (typeof value === 'string' && /^\d{9,11}$/.test(value)) return timeOf(Number(value));
  return timeOf(value);
}

/** A link to the MoR's dashboard, https only; null when there is none. It is shown as text and never followed. */
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

export function textNamed(data: JsonObject, ...names: string[]): string | null {
  return named(data, names.map(plain), freeText);
}

export function timeNamed(data: JsonObject, ...names: string[]): Date | null {
  return named(data, names.map(plain), anyTime);
}

/** `{amount, currency}` with a decimal string, as Document 2 writes amounts; null when there is no exact one. */
export function amountIn(data: JsonObject): Money | null {
  return named(data, ['disputedamount', 'amount'], (value) => {
    if (!isJsonObject(value)) return null;
    const currency = parseCurrency(value['currency']);
    const amount = value['amount'];
    if (currency === null || typeof amount !== 'string') return null;
    const minor = minorFromDecimal(amount, currency);
    return minor === null || minor < 1n ? null : { minor, currency };
  });
}
