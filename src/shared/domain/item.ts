// A review item: a fact, the safe choices, and the proposed choice.
import { type KindAndFact } from './fact.js';
import { type Resolution, REVIEW, type ReviewKind, type ReviewRow } from './model.js';
import { newRow } from './row.js';
import { known } from './sentence.js';

/** A review item, as a rule declares it. If the rule names no choices, the item has the choices of its kind. */
export type Item = KindAndFact &
  Pick<ReviewRow, 'subject'> &
  Partial<
    Pick<ReviewRow, 'paymentRowId' | 'refundId' | 'invoiceId' | 'dueAt'> & {
      readonly actions: readonly Resolution[];
      readonly proposed: Resolution | null;
    }
  >;

/** The choices a person has for each kind of review item, and the proposed choice. */
const CHOICES: Readonly<
  Record<ReviewKind, { readonly actions: readonly Resolution[]; readonly proposed: Resolution | null }>
> = {
  amount_mismatch: { actions: ['apply', 'refund', 'retry', 'dismiss'], proposed: null },
  customer_mismatch: { actions: ['apply', 'refund', 'retry', 'dismiss'], proposed: null },
  double_payment: { actions: ['refund', 'retry', 'dismiss'], proposed: null },
  currency_mismatch: { actions: ['refund', 'retry', 'dismiss'], proposed: 'refund' },
  invoice_not_payable: { actions: ['refund', 'retry', 'dismiss'], proposed: null },
  signup_unproven: { actions: ['apply', 'retry', 'dismiss'], proposed: null },
  refund_stuck: { actions: ['apply', 'retry', 'dismiss'], proposed: null },
  effect_failed: { actions: ['retry', 'dismiss'], proposed: 'retry' },
  finalization_failed: { actions: ['retry', 'dismiss'], proposed: 'retry' },
  double_charge_risk: { actions: ['retry', 'dismiss'], proposed: 'retry' },
  renewal_overdue: { actions: ['retry', 'dismiss'], proposed: null },
  partial_transfer: { actions: ['apply', 'dismiss'], proposed: 'apply' },
  dispute: { actions: ['dismiss'], proposed: 'dismiss' },
  debit_returned: { actions: ['dismiss'], proposed: 'dismiss' },
  conflicting_event: { actions: ['dismiss'], proposed: 'dismiss' },
  refund_gap: { actions: ['dismiss'], proposed: 'dismiss' },
  signup_overdue: { actions: ['dismiss'], proposed: 'dismiss' },
};

/** False: a newer release made this kind of item. */
export function isReviewKind(kind: string): boolean {
  return known(CHOICES, kind) !== undefined;
}

/** The choices of an item: from its rule, or else the choices of its kind. */
export function choicesOf(item: Pick<Item, 'kind' | 'actions' | 'proposed'>): {
  readonly actions: readonly Resolution[];
  readonly proposed: Resolution | null;
} {
  const { actions = CHOICES[item.kind].actions, proposed = CHOICES[item.kind].proposed } = item;
  const [only] = actions;
  return { actions, proposed: actions.length === 1 && only !== undefined ? only : proposed };
}

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
