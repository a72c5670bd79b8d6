// The fact of a review item in the API's form: fields in snake_case, amounts as integers with a lower-case currency.
import { type Fact } from '../../shared/domain/fact.js';
import { type Money } from '../../shared/domain/money.js';

type Shown = { readonly code: string; readonly [field: string]: unknown };

export function factView(fact: Fact): Shown {
  return { ...fields(fact), code: fact.code };
}

export function isMoney(value: unknown): value is Money {
  return typeof value === 'object' && value !== null && 'minor' in value && 'currency' in value;
}

/** Puts fields into snake_case. The field `money` of an observation becomes `amount` and `currency`. */
function fields(row: object): Readonly<Record<string, unknown>> {
  const shown = Object.entries(row).flatMap(([name, value]) =>
    name === 'money' ? Object.entries(sumOf(value)) : [[snake(name), shownOf(value)]],
  );
  return Object.fromEntries(shown) as Readonly<Record<string, unknown>>;
}

function shownOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shownOf);
  if (typeof value !== 'object' || value === null) return value;
  return isMoney(value) ? sumOf(value) : fields(value);
}

function sumOf(value: unknown): { readonly amount: number | null; readonly currency: string | null } {
  if (!isMoney(value)) return { amount: null, currency: null };
  return { amount: Number(value.minor), currency: value.currency.toLowerCase() };
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
