// The demo's check finds each way ledger, Stripe and MoR can disagree, and nothing else.
import { expect, it } from '@jest/globals';
import { balances, disagreements } from '../../src/demo/check.js';
import { type MutableSides, threeSides } from './sides.js';

/** The findings after some changes, as `about: what` lines. */
function after(...changes: readonly ((sides: MutableSides) => unknown)[]): string[] {
  const sides = threeSides();
  for (const change of changes) change(sides);
  return disagreements(sides).map((f) => `${f.about}: ${f.what}`);
}

function first<T>(list: readonly T[]): T {
  const [one] = list;
  if (one === undefined) throw new Error('the list is empty');
  return one;
}

it("the demo's check finds nothing after a paid and a declined renewal with a partial refund", () => {
  expect(after(() => undefined)).toEqual([]);
});

it("the demo's check reports an invoice outside the enrolment if the daemon expects the MoR to charge the invoice", () => {
  const outside = (status: string): string[] =>
    after((s) => {
      s.stripe.invoices.push({ ...first(s.stripe.invoices), id: 'in_out', enrolled: false });
      s.daemon.invoices.push({ ...first(s.daemon.invoices), id: 'in_out', status });
    });
  expect(outside('ignored')).toEqual([]);
  expect(outside('expected')).toEqual(['in_out: not enrolled, and expected at the daemon']);
});

it("the demo's check accepts a notification delivered three times under one id", () => {
  expect(after((s) => s.backend.forEach((n) => (n.times = 3)))).toEqual([]);
});

it("the demo's check accepts a pending bank debit", () => {
  const debit = { id: 'pay_3', chargeId: 'ch_3', reference: 'ch_3', status: 'processing', invoiceId: 'in_declined' };
  expect(after((s) => s.mor.payments.push({ ...first(s.mor.payments), ...debit }))).toEqual([]);
});

it("the demo's check accepts a second payment for an invoice only while an open review item names the payment", () => {
  const paid = { id: 'pay_3', chargeId: 'ch_3', status: 'succeeded', amountRefunded: 0 };
  const second = (sides: MutableSides): void => {
    sides.mor.payments.push({ ...first(sides.mor.payments), ...paid, reference: 'ch_3' });
    sides.daemon.payments.push({ ...first(sides.daemon.payments), ...paid, recordId: null, refunds: [] });
    sides.daemon.ledger.push({ debit: 'mor_receivable', credit: 'unmarked_payments', amount: 2900, currency: 'eur' });
  };
  const review = {
    id: 'rev_1',
    kind: 'double_payment',
    status: 'open',
    invoiceId: 'in_paid',
    paymentId: 'pay_3',
    summary: '',
    proposal: '',
  };
  expect(after(second)).toEqual(['pay_3: taken for in_paid and not shown on Stripe']);
  expect(after(second, (s) => s.daemon.reviews.push(review))).toEqual([]);
  expect(after(second, (s) => s.daemon.reviews.push({ ...review, status: 'resolved' }))).toEqual([
    'pay_3: taken for in_paid and not shown on Stripe',
  ]);
});

const cases: readonly [string, (sides: MutableSides) => unknown, RegExp][] = [
  ['a payment missing at the daemon', (s) => s.daemon.payments.shift(), /pay_1: .* the daemon has 0 such payments/],
  [
    'a payment recorded twice at the daemon',
    (s) => s.daemon.payments.push({ ...first(s.daemon.payments), id: 'pmt_9' }),
    /pay_1: .* 2 such payments/,
  ],
  ['a payment missing at the MoR', (s) => s.mor.payments.pop(), /pay_2: the daemon has a payment the MoR doesn't have/],
  [
    'a payment of another amount at the daemon',
    (s) => (first(s.daemon.payments).amount = 2800),
    /pay_1: 2900 eur at the MoR, 2800 eur/,
  ],
  ['a payment missing on Stripe', (s) => (s.stripe.records = []), /pay_1: taken for in_paid and not shown on Stripe/],
  [
    'a payment shown on Stripe twice',
    (s) => s.stripe.records.push({ ...first(s.stripe.records), id: 'pr_2' }),
    /pay_1: reported to Stripe 2 times/,
  ],
  [
    'a payment record attached to no invoice',
    (s) => (first(s.stripe.records).invoiceId = null),
    /pay_1: record pr_1 is attached to no invoice/,
  ],
  [
    'a payment attached to another invoice',
    (s) => {
      s.stripe.invoices.push({ ...first(s.stripe.invoices), id: 'in_other', amountDue: 0 });
      first(s.stripe.records).invoiceId = 'in_other';
    },
    /pay_1: attached to in_other, taken for in_paid/,
  ],
  [
    'an invoice paid without a payment',
    (s) => {
      for (const i of [...s.stripe.invoices, ...s.daemon.invoices]) i.status = 'paid';
      s.backend.push({ type: 'invoice.paid', about: 'in_declined', times: 1 });
    },
    /in_declined: paid on Stripe without money of the MoR/,
  ],
  [
    'an invoice of another status at the daemon',
    (s) => (first(s.daemon.invoices).status = 'open'),
    /in_paid: paid on Stripe, open/,
  ],
  ['an invoice missing at the daemon', (s) => s.daemon.invoices.pop(), /in_declined: the daemon does not know it/],
  [
    'a payment record without a payment at the MoR',
    (s) => s.stripe.records.push({ ...first(s.stripe.records), id: 'pr_2', reference: 'ch_9', refunds: [] }),
    /pr_2: a payment record for money the MoR didn't take/,
  ],
  ['a refund missing at the daemon', (s) => (first(s.daemon.payments).refunds = []), /rfnd_1: the daemon has 0 such/],
  [
    'a refund missing at the MoR',
    (s) => first(s.daemon.payments).refunds.push({ id: 'ref_2', morRefundId: null, amount: 1, status: 'unknown' }),
    /ref_2: a refund is unknown at the daemon; the MoR has none such/,
  ],
  ['a refund missing on Stripe', (s) => (first(s.stripe.records).refunds = []), /rfnd_1: shown on Stripe 0 times/],
  [
    'a refund on Stripe without its credit note',
    (s) => (first(first(s.stripe.records).refunds).credited = 0),
    /rfnd_1: 900 given back, 900 reported, 0 credited/,
  ],
  [
    'a refund on Stripe without a refund at the MoR',
    (s) => first(s.stripe.records).refunds.push({ reference: 're_9', amount: 1, credited: 1 }),
    /re_9: a refund on Stripe that the MoR did not make/,
  ],
  [
    'a pending refund shown on Stripe',
    (s) => {
      first(s.mor.refunds).status = 'pending';
      first(first(s.daemon.payments).refunds).status = 'pending';
    },
    /rfnd_1: pending, yet shown on Stripe/,
  ],
  [
    'a movement missing in the ledger',
    (s) => s.daemon.ledger.pop(),
    /ledger: settled_invoices eur stands at -2900, not -2000/,
  ],
];
it.each(cases)(
  "the demo's check finds a planted difference between Stripe, the MoR and the daemon: %s",
  (_name, change, expected) => {
    expect(after(change).join('\n')).toMatch(expected);
  },
);

/** A transfer of `amount` to the MoR for the declined invoice, recorded and shown on Stripe by the daemon. */
function transferOf(sides: MutableSides, amount: number): void {
  sides.mor.payments.push({
    ...first(sides.mor.payments),
    id: 'pf_1',
    kind: 'transfer',
    reference: 'pf_1',
    invoiceId: 'in_declined',
    amount,
    status: 'succeeded',
    method: 'bank_transfer',
    chargeId: '',
    amountRefunded: 0,
  });
  sides.daemon.payments.push({
    ...first(sides.daemon.payments),
    id: 'pmt_1',
    origin: 'proforma',
    invoiceId: 'in_declined',
    amount,
    status: 'succeeded',
    chargeId: null,
    recordId: 'pr_2',
    amountRefunded: 0,
    refunds: [],
  });
  sides.stripe.records.push({ id: 'pr_2', invoiceId: 'in_declined', reference: 'pf_1', amount, refunds: [] });
  sides.daemon.ledger.push({ debit: 'mor_receivable', credit: 'settled_invoices', amount, currency: 'eur' });
}

function allPaid(sides: MutableSides): void {
  for (const i of [...sides.stripe.invoices, ...sides.daemon.invoices]) i.status = 'paid';
  sides.backend.push({ type: 'invoice.paid', about: 'in_declined', times: 1 });
}

it("the demo's check accepts a bank transfer of the full amount only if Stripe shows the invoice as paid", () => {
  expect(after((s) => transferOf(s, 2900), allPaid)).toEqual([]);
  expect(after((s) => transferOf(s, 2900))).toEqual(['pf_1: attached to in_declined, which is open']);
});

it("the demo's check accepts a bank transfer of a part of the amount only if Stripe shows the invoice as open", () => {
  expect(after((s) => transferOf(s, 1000))).toEqual([]);
  expect(after((s) => transferOf(s, 1000), allPaid)).toEqual(['pf_1: in_declined is paid with less than is due']);
});

it("the demo's check finds a transfer missing at the daemon or recorded twice", () => {
  const transfer = (sides: MutableSides): void => transferOf(sides, 1000);
  expect(after(transfer, (s) => s.daemon.payments.pop())).toEqual([
    'pf_1: the MoR says succeeded; the daemon has 0 such payments',
  ]);
  const again = (sides: MutableSides): unknown =>
    sides.daemon.payments.push({ ...first(sides.daemon.payments.slice(-1)), id: 'pmt_2' });
  expect(after(transfer, again).join()).toContain('the daemon has 2 such payments');
});

it("the demo's check reports a payment by link shown on Stripe under a wrong reference", () => {
  expect(after((s) => (first(s.mor.payments).reference = 'link_1'))).toContain(
    'pay_1: taken for in_paid and not shown on Stripe',
  );
});

it("the demo's check finds a lost dispute missing in the ledger, and a ledger entry of a dispute not lost", () => {
  const lose = (sides: MutableSides): void =>
    void sides.mor.lost.push({ paymentId: 'pay_1', amount: 2000, currency: 'eur' });
  const book = (sides: MutableSides): void =>
    void sides.daemon.ledger.push({
      debit: 'disputed_payments',
      credit: 'mor_receivable',
      amount: 2000,
      currency: 'eur',
    });
  expect(after(lose).join()).toContain('disputed_payments eur stands at 0, not 2000');
  expect(after(lose, book)).toEqual([]);
  expect(after(book).join()).toContain('disputed_payments eur stands at 2000, not 0');
});

it("the demo's check sums debits less credits by account and currency", () => {
  const sums = balances([
    { debit: 'a', credit: 'b', amount: 5, currency: 'eur' },
    { debit: 'b', credit: 'a', amount: 2, currency: 'eur' },
    { debit: 'a', credit: 'b', amount: 7, currency: 'jpy' },
  ]);
  expect(Object.fromEntries(sums)).toEqual({ 'a eur': 3, 'b eur': -3, 'a jpy': 7, 'b jpy': -7 });
});

it("the demo's check finds a paid invoice or a refund without its notification", () => {
  expect(after((s) => (s.backend = s.backend.filter((n) => n.type !== 'invoice.paid')))).toEqual([
    'in_paid: the backend has 0 invoice.paid, not 1',
  ]);
  expect(after((s) => (s.backend = s.backend.filter((n) => n.type !== 'refund.succeeded')))).toEqual([
    'rfnd_1: the backend has 0 refund.succeeded, not 1',
  ]);
});

it("the demo's check finds a second invoice.paid notification of one invoice, and a notification of an unpaid invoice", () => {
  const paid = { type: 'invoice.paid', about: 'in_paid', times: 1 };
  expect(after((s) => void s.backend.push(paid))).toEqual(['in_paid: the backend has 2 invoice.paid, not 1']);
  expect(after((s) => void s.backend.push({ ...paid, about: 'in_declined' }))).toEqual([
    'in_declined: the backend has 1 invoice.paid, not 0',
  ]);
});
