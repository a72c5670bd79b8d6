// The fact of a review item: a stable code with typed fields. Code reads the fact. Only people read the sentences
// about it.
import { type ConflictFact } from './facts/conflict.js';
import { type EffectFact } from './facts/effect.js';
import { type FinalizationFact, type OverdueFact, type SignupOverdueFact, type UnprovenFact } from './facts/late.js';
import { type AmountFact, type DoubleFact, type NotPayableFact } from './facts/money.js';
import { type GapFact, type StuckFact } from './facts/refund.js';
import { type Money } from './money.js';
import { type JsonWay } from './row.js';
import { ERASED } from './foreign-words.js';

/** The facts of the core, by kind of review item. */
export type CoreFacts = {
  readonly amount_mismatch: AmountFact;
  readonly currency_mismatch: {
    readonly code: 'other-currency';
    readonly taken: Money;
    readonly currency: string | null;
  };
  readonly customer_mismatch: {
    readonly code: 'other-customer';
    readonly named: string;
    readonly owner: string | null;
  };
  readonly invoice_not_payable: NotPayableFact;
  readonly double_payment: DoubleFact;
  readonly conflicting_event: ConflictFact;
  readonly refund_gap: GapFact;
  readonly refund_stuck: StuckFact;
  readonly renewal_overdue: OverdueFact;
  readonly signup_overdue: SignupOverdueFact;
  readonly signup_unproven: UnprovenFact;
  readonly finalization_failed: FinalizationFact;
  /** The customer transferred a part of the amount due. */
  readonly partial_transfer: {
    readonly code: 'transfer-short';
    readonly received: Money;
    readonly total: Money;
    readonly missing: Money;
    readonly proforma: string;
  };
  readonly effect_failed: EffectFact;
};

/**
 * The facts of the features: name of the feature → kind of item → facts. Empty here: each feature adds its own in its
 * `facts.ts` with `declare module`, so a deleted folder takes its facts with it.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- the features extend it
export interface FeatureFacts {}

type OfFeatures = FeatureFacts[keyof FeatureFacts];
type KindsOf<F> = F extends unknown ? keyof F : never;
type Added<K, F = OfFeatures> = F extends unknown ? (K extends keyof F ? F[K] : never) : never;

/** The kinds of items that only features open. */
export type FeatureKind = Exclude<KindsOf<OfFeatures>, keyof CoreFacts>;

/** The kinds of review items. Each kind has a few facts. */
export type ReviewKind = keyof CoreFacts | FeatureKind;

/** The possible facts of each kind of review item. */
export type FactsByKind = {
  readonly [K in ReviewKind]: (K extends keyof CoreFacts ? CoreFacts[K] : never) | Added<K>;
};

export type Fact = FactsByKind[ReviewKind];
export type FactCode = Fact['code'];
export type FactOf<C extends FactCode> = Extract<Fact, { readonly code: C }>;

/** A kind of item with one of its facts. */
export type KindAndFact = {
  [K in ReviewKind]: { readonly kind: K; readonly fact: FactsByKind[K] };
}[ReviewKind];

/** The codes of some facts, given by kind of item. */
export type CodesIn<F extends Readonly<Record<string, { readonly code: string }>>> = F[keyof F]['code'];

/** The sentences about a fact: what happened, and what to do. */
export type Sentences = { readonly summary: string; readonly proposal: string };

/** The sentences for each fact code, as in `core/refunds/words.ts`. Only people read them. */
export type Words<C extends FactCode> = { readonly [K in C]: (fact: FactOf<K>) => Sentences };

/** The field with the words of Stripe, the MoR or the relay. Facts with other words in this field are still equal. */
const PEERS_WORDS = 'said';

/** True if code and fields are equal, in any order. The field `said` does not count, and no erased word does. */
export function isSameFact(one: unknown, other: unknown): boolean {
  if (one === ERASED || other === ERASED) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  const [x, y] = [one as Readonly<Record<string, unknown>>, other as Readonly<Record<string, unknown>>];
  const names = new Set([...Object.keys(x), ...Object.keys(y)]);
  return [...names].every((name) => name === PEERS_WORDS || isSameFact(x[name], y[name]));
}

/** Turns a fact into JSON; amounts become text. */
export function factToJson(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return value.map(factToJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, x]) => [name, factToJson(x)]));
}

/**
 * Turns JSON back into a fact. A whole `minor` is always an amount; another release or a hand edit may have written
 * another value.
 */
export function factFromJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(factFromJson);
  if (typeof value !== 'object' || value === null) return value;
  const read = ([name, x]: [string, unknown]): [string, unknown] =>
    name === 'minor' && typeof x === 'string' && /^-?\d+$/.test(x) ? [name, BigInt(x)] : [name, factFromJson(x)];
  return Object.fromEntries(Object.entries(value).map(read));
}

/** Stores a fact in a column of JSON. */
export const FACT_WAY: JsonWay = {
  to: factToJson,
  from: (json) => {
    const fact = factFromJson(json);
    const hasCode = typeof fact === 'object' && fact !== null && 'code' in fact && typeof fact.code === 'string';
    return hasCode ? fact : { code: 'unreadable' };
  },
};
