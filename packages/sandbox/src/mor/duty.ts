// The import duty of one line: its HS code, sent or predicted, and its rate (Document 2, "Calculation rules").
import { fallbackDutyOf } from './jurisdictions.js';

export type Duty = {
  readonly rate: bigint;
  readonly basis: 'CLASSIFIED' | 'FALLBACK_ESTIMATE';
  readonly hsCode: string | undefined;
};

/** Words for the prediction of an HS code: the first match in title, description or category decides. */
const PREDICTIONS: readonly (readonly [RegExp, string])[] = [
  [/t-?shirt|tee\b/i, '61091000'],
  [/shirt|blouse/i, '62052000'],
  [/hoodie|sweater|pullover|jumper/i, '61102000'],
  [/jeans|trousers|pants/i, '62034200'],
  [/shoe|sneaker|boot/i, '64039900'],
  [/book|novel/i, '49019900'],
  [/laptop|notebook computer/i, '84713000'],
  [/phone|smartphone/i, '85171300'],
  [/headphone|earbud|speaker/i, '85183000'],
  [/watch/i, '91021100'],
  [/mug|cup|plate|ceramic/i, '69120000'],
  [/bag|backpack|wallet|leather/i, '42022200'],
  [/toy|puzzle|game/i, '95030000'],
  [/coffee/i, '09012100'],
  [/cosmetic|cream|perfume/i, '33049900'],
];

/** Duty in millionths by HS chapter. A chapter not listed has 40_000. */
const CHAPTER_RATES: Readonly<Record<string, bigint>> = {
  '09': 75_000n,
  '33': 65_000n,
  '42': 30_000n,
  '49': 10_000n,
  '61': 120_000n,
  '62': 120_000n,
  '64': 80_000n,
  '69': 60_000n,
  '84': 20_000n,
  '85': 25_000n,
  '91': 45_000n,
  '95': 47_000n,
};

/** Returns the 6 to 14 digits without the dots; null if the code has another form. */
export function normalizeHsCode(code: string): string | null {
  const digits = code.replaceAll('.', '');
  return /^\d{6,14}$/.test(digits) ? digits : null;
}

/** The duty on goods entering `destination`. `hsCode` is normalised; `text` is title, description and category. */
export function dutyFor(destination: string, hsCode: string | undefined, text: string): Duty {
  const applied = hsCode ?? PREDICTIONS.find(([words]) => words.test(text))?.[1];
  if (applied === undefined)
    return { rate: fallbackDutyOf(destination), basis: 'FALLBACK_ESTIMATE', hsCode: undefined };
  return { rate: CHAPTER_RATES[applied.slice(0, 2)] ?? 40_000n, basis: 'CLASSIFIED', hsCode: applied };
}
