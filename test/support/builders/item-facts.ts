// A fact for each kind of review item, for tests that do not look at the fact.
import { type Fact, type FactsByKind, type KindAndFact, type ReviewKind } from '../../../src/shared/domain/fact.js';
import { type Money } from '../../../src/shared/domain/money.js';

const EUR = (minor: bigint): Money => ({ minor, currency: 'EUR' });

export const FACTS = {
  amount_mismatch: { code: 'amount-differs', taken: EUR(1990n), due: EUR(2990n), marking: 'payment_record' },
  currency_mismatch: { code: 'other-currency', taken: EUR(2990n), currency: 'USD' },
  customer_mismatch: { code: 'other-customer', named: 'cus_1', owner: 'cus_2' },
  invoice_not_payable: { code: 'invoice-void', taken: EUR(2990n), invoice: 'in_1', replacedBy: null },
  double_payment: { code: 'paid-otherwise', taken: EUR(2990n), record: null, observations: [] },
  conflicting_event: { code: 'unknown-capture', event: 'evt_1' },
  refund_gap: { code: 'totals-overlap', payment: 'pay_1', at: EUR(1000n) },
  refund_stuck: { code: 'refund-failed', refund: 'ref_1', error: null, said: null },
  renewal_overdue: {
    code: 'no-verdict',
    due: EUR(2990n),
    since: '2026-11-20T12:00:00.000Z',
    letGo: null,
    charges: false,
  },
  signup_overdue: { code: 'signup-unpaid', signup: 'sup_1', customer: 'cus_1', since: '2026-11-20T12:00:00.000Z' },
  signup_unproven: { code: 'charge-unknown', charge: 'ch_1', knownSince: null },
  finalization_failed: { code: 'finalization-failed', invoice: 'in_1', said: 'no tax location' },
  dispute: { code: 'outcome-unclear', dispute: 'dp_1', outcome: null },
  partial_transfer: {
    code: 'transfer-short',
    received: EUR(1990n),
    total: EUR(2990n),
    missing: EUR(1000n),
    proforma: 'PF-1',
  },
  debit_returned: { code: 'return-undone', payment: 'pay_1', amount: EUR(2990n) },
  double_charge_risk: {
    code: 'stripe-would-charge',
    invoice: 'in_1',
    customer: 'cus_1',
    subscription: null,
    method: 'pm_1',
    methodType: 'card',
    from: 'customer',
  },
  effect_failed: { code: 'lane-stuck', lane: 'in_1', why: 'no' },
} as const satisfies FactsByKind;

/** A kind of item with its default fact, or with this fact. */
export function aKind(kind: ReviewKind, fact: Fact = FACTS[kind]): KindAndFact {
  return { kind, fact } as KindAndFact;
}
