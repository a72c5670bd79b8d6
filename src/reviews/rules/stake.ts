// What is at stake in a review item: why the person's decision matters, in one sentence.
import { type ReviewKind, type ReviewRow } from '../../domain/model.js';
import { resolutionsOf } from './choices.js';

const STAKES: Readonly<Record<ReviewKind, string>> = {
  amount_mismatch: 'The customer paid another amount than the invoice asks for. Stripe may go on collecting.',
  currency_mismatch: 'The MoR charged the customer in another currency, and Stripe does not show the invoice as paid.',
  customer_mismatch: 'This may be the money of another customer.',
  invoice_not_payable: "The MoR holds the customer's money, but no invoice can take it.",
  double_payment: 'The customer may have paid twice. Then one payment must go back.',
  conflicting_event:
    'Two reports of the same money differ. The ledger follows the first report until a person decides.',
  refund_gap: 'The MoR may have refunded more or less than the ledger shows.',
  refund_stuck: 'The customer may be waiting for their money. The amount stays reserved: no second refund can take it.',
  renewal_overdue: 'The MoR may have charged the customer without telling Crossbill, or not at all.',
  signup_overdue: 'A customer signed up, but Crossbill knows of no payment: Stripe will end the subscription.',
  signup_unproven:
    "The customer's browser reports a payment, but the MoR does not confirm it. Crossbill marks nothing.",
  finalization_failed: 'The invoice does not become final, so it cannot take a payment.',
  dispute: 'The bank takes the money back for good if nobody answers the dispute in time.',
  partial_transfer: 'A part of the invoice is still open, and Stripe does not show the paid part yet.',
  debit_returned: 'The money is gone, and Stripe still shows the invoice as paid.',
  double_charge_risk: 'Stripe may charge the customer in addition to the MoR.',
  effect_failed: 'Crossbill could not carry out a decision.',
};

export function stakeOf(r: Pick<ReviewRow, 'kind'>): string {
  return STAKES[r.kind];
}

/** True if closing is the only choice: a person carries out the proposal outside Crossbill. */
export function isDoneElsewhere(r: ReviewRow, named: boolean): boolean {
  return resolutionsOf(r, named).length === 1;
}
