// A review item: a fact, the safe choices, and the proposed choice.
import { type CoreFacts, type KindAndFact, type ReviewKind } from './fact.js';
import { type Resolution, REVIEW, type ReviewRow } from './review-row.js';
import { newRow } from './row.js';

/** A review item, as a rule declares it. If the rule names no choices, the item has the choices of its kind. */
export type Item = KindAndFact &
  Pick<ReviewRow, 'subject'> &
  Partial<Pick<ReviewRow, 'paymentRowId' | 'refundId' | 'invoiceId' | 'dueAt'> & Choices>;

type Choices = { readonly actions: readonly Resolution[]; readonly proposed: Resolution | null };

/** The choices a person has for each kind of review item of the core, and the proposed choice. */
const CHOICES: { readonly [K in keyof CoreFacts]: Choices } = {
  amount_mismatch: { actions: ['apply', 'refund', 'retry', 'dismiss'], proposed: null },
  customer_mismatch: { actions: ['apply', 'refund', 'retry', 'dismiss'], proposed: null },
  double_payment: { actions: ['refund', 'retry', 'dismiss'], proposed: null },
  currency_mismatch: { actions: ['refund', 'retry', 'dismiss'], proposed: 'refund' },
  invoice_not_payable: { actions: ['refund', 'retry', 'dismiss'], proposed: null },
  signup_unproven: { actions: ['apply', 'retry', 'dismiss'], proposed: null },
  refund_stuck: { actions: ['apply', 'retry', 'dismiss'], proposed: null },
  effect_failed: { actions: ['retry', 'dismiss'], proposed: 'retry' },
  finalization_failed: { actions: ['retry', 'dismiss'], proposed: 'retry' },
  renewal_overdue: { actions: ['retry', 'dismiss'], proposed: null },
  partial_transfer: { actions: ['apply', 'dismiss'], proposed: 'apply' },
  conflicting_event: { actions: ['dismiss'], proposed: 'dismiss' },
  refund_gap: { actions: ['dismiss'], proposed: 'dismiss' },
  signup_overdue: { actions: ['dismiss'], proposed: 'dismiss' },
};

/** A person can always close an item of a feature's own kind. The rule names any other choice. */
const CLOSE: Choices = { actions: ['dismiss'], proposed: 'dismiss' };

/** The choices of an item: from its rule, or else the choices of its kind. */
export function choicesOf({ kind, ...own }: Pick<Item, 'kind' | 'actions' | 'proposed'>): Choices {
  const usual: Choices = isOfCore(kind) ? CHOICES[kind] : CLOSE;
  const { actions = usual.actions, proposed = usual.proposed } = own;
  const [only] = actions;
  return { actions, proposed: actions.length === 1 && only !== undefined ? only : proposed };
}

const isOfCore = (kind: ReviewKind): kind is keyof CoreFacts => Object.hasOwn(CHOICES, kind);

/** Makes the row of a new item. */
export function newReview(item: Item, id: string, createdAt: Date): ReviewRow {
  const { kind, fact, subject, invoiceId = null, paymentRowId = null, refundId = null, dueAt = null } = item;
  const about = { topic: fact.code, subject, invoiceId, paymentRowId, refundId, fact, ...choicesOf(item) };
  return newRow(REVIEW, { id, kind, status: 'open', ...about, dueAt, createdAt });
}

/** True if a person chose `dismiss` or `credit` for the item at `since` or later. `since` null: at any time. */
export function isDismissed({ resolution, resolvedAt }: ReviewRow, since: Date | null): boolean {
  const isDealt = resolution === 'dismiss' || resolution === 'credit';
  return isDealt && (since === null || (resolvedAt !== null && resolvedAt >= since));
}
