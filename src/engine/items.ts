// Declared review items. A rule yields an item for each present cause; this file opens, updates and closes them.
import { type FactCode, type FactsByKind, isSameFact, type ReviewKind } from '../shared/domain/fact.js';
import { choicesOf, isDismissed, type Item } from '../shared/domain/item.js';
import { type Resolution, type ReviewRow } from '../shared/domain/review-row.js';
import { type Lane, type Rule } from './lane.js';

type KindAndFact<C extends FactCode> = {
  [K in ReviewKind]: { readonly kind: K; readonly fact: Extract<FactsByKind[K], { readonly code: C }> };
}[ReviewKind];

/** The row behind an item. Its id is the item's default `subject`. The item also refers to a payment or refund. */
type About = {
  readonly id: string;
  readonly mark?: unknown;
  readonly mirror?: unknown;
  readonly paymentRowId?: string | null;
};

/** An item with a present cause. */
export type Holds<C extends FactCode = FactCode> = KindAndFact<C> & {
  readonly about: About;
  /** Distinguishes items about the same row. Absent: the row's id. */
  readonly subject?: string;
  /** Absent: the payment of the row. */
  readonly paymentRowId?: string | null;
  /** Absent: all choices of the item's kind. */
  readonly actions?: readonly Resolution[];
  readonly proposed?: Resolution | null;
  /** The person's deadline. */
  readonly dueAt?: Date | null;
  /**
   * When the fact arrived. If a person dismissed the item before this time, the person did not know the fact, so the
   * item opens again.
   */
  readonly since?: Date | null;
};

export type Items<C extends FactCode> = Iterable<Holds<C>>;

export type ItemRule = {
  /**
   * The fact codes of this rule. Each has the reason to close its item when the cause is gone. No other rule uses these
   * codes.
   */
  readonly clears: { readonly [K in FactCode]?: string };
  readonly now: (lane: Lane) => Items<FactCode>;
};

/** Makes a rule of items. A code without a reason for closing does not compile. */
export function itemRule<C extends FactCode>(
  clears: { readonly [K in C]: string },
  now: (lane: Lane) => Items<NoInfer<C>>,
): ItemRule {
  return { clears, now };
}

/** Turns item rules into one rule for a lane. */
export function declares(...rules: readonly ItemRule[]): Rule {
  return (lane) => rules.forEach((rule) => declareItems(lane, rule));
}

/**
 * Opens, updates and closes the items of a rule. Afterwards each item with a present cause is open, unless a person
 * dismissed its fact. Each item without a present cause is closed.
 */
export function declareItems(lane: Lane, { clears, now }: ItemRule): void {
  const held = new Map<string, 'open' | 'dismissed'>();
  for (const holds of [...now(lane)]) {
    const name = nameOf(holds.kind, holds.fact.code, holds.subject ?? holds.about.id);
    if (!held.has(name)) held.set(name, hold(lane, holds)); // of two items with the same name, only the first opens
  }
  for (const r of lane.reviews) {
    const why = clears[r.topic];
    if (r.status !== 'open' || why === undefined) continue;
    const how = held.get(nameOf(r.kind, r.topic, r.subject));
    if (how === 'dismissed') close(lane, r, DISMISSED_BEFORE);
    if (how === undefined) close(lane, r, why);
  }
}

const DISMISSED_BEFORE = 'the facts are again what a person has dismissed';

/** Opens or updates the item, unless a person dismissed the same fact. */
function hold(lane: Lane, holds: Holds): 'open' | 'dismissed' {
  const item = itemOf(lane, holds);
  const { kind, fact, subject } = item;
  const same = lane.reviews.filter((r) => r.kind === kind && r.topic === fact.code && r.subject === subject);
  if (same.some((r) => isDismissed(r, holds.since ?? null) && isSameFact(r.fact, fact))) return 'dismissed';
  const open = same.find((r) => r.status === 'open');
  if (open === undefined) lane.openItem(item);
  else lane.updateItem(open, item);
  return 'open';
}

function close(lane: Lane, item: ReviewRow, note: string): void {
  lane.closeItems((x) => x.id === item.id, { by: null, resolution: 'cleared', note });
}

function itemOf(lane: Lane, { about, subject = about.id, since: _, ...item }: Holds): Item {
  const own = 'mark' in about ? about.id : (about.paymentRowId ?? null);
  const { paymentRowId = own } = item;
  const refundId = 'mirror' in about ? about.id : null;
  return { ...item, ...choicesOf(item), subject, paymentRowId, refundId, invoiceId: lane.invoice?.invoiceId ?? null };
}

function nameOf(kind: string, topic: string, subject: string): string {
  return JSON.stringify([kind, topic, subject]);
}
