// What is at stake in a review item: why the person's decision matters, in one sentence.
import { join } from '../../../feature.js';
import { FEATURES } from '../../../features.js';
import { type CoreFacts, type ReviewKind } from '../../../shared/domain/fact.js';
import { type ReviewRow } from '../../../shared/domain/review-row.js';
import { known, newerCode } from '../../../shared/domain/sentence.js';

const OF_CORE = {
  amount_mismatch: 'The payment and the invoice have different amounts. Stripe may go on collecting.',
  currency_mismatch: 'The MoR charged the customer in another currency, and Stripe does not show the invoice as paid.',
  customer_mismatch: 'This may be the money of another customer.',
  invoice_not_payable: "The MoR holds the customer's money, but no invoice can take it.",
  double_payment: 'The customer may have paid twice, or may still pay twice. If they paid twice, refund one payment.',
  conflicting_event:
    'Reports differ, or fit no known payment. Until a person decides, the ledger may be wrong about this money.',
  refund_gap: 'The MoR may have refunded more or less than the ledger or Stripe shows.',
  refund_stuck: 'The customer may be waiting for their money. Until this refund ends, its amount stays reserved.',
  renewal_overdue: 'Crossbill does not know whether the customer paid this renewal.',
  signup_overdue:
    'A subscription began, but Crossbill knows of no settled payment for it. Stripe may end the subscription.',
  signup_unproven:
    "The customer's browser reports a payment, but the MoR does not confirm it. Crossbill marks nothing.",
  finalization_failed: 'The invoice does not become final, so it cannot take a payment.',
  partial_transfer: 'A part of the invoice is still open, and Stripe does not show the paid part yet.',
  effect_failed: 'Crossbill could not carry out a decision.',
} satisfies Readonly<Record<keyof CoreFacts, string>>;

const IMPACTS: Readonly<Record<ReviewKind, string>> = { ...OF_CORE, ...join(FEATURES, 'impacts') };

/** Every kind of review item. */
export const REVIEW_KINDS: readonly string[] = Object.keys(IMPACTS);

/** False: a newer release made this kind of item. */
export const isReviewKind = (kind: string): boolean => Object.hasOwn(IMPACTS, kind);

export function impactOf(item: Pick<ReviewRow, 'kind'>): string {
  return known(IMPACTS, item.kind) ?? newerCode('kind of item', item.kind);
}
