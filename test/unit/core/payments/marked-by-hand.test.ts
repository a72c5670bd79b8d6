// Invoices that a person marks by hand as an item proposes: the money stays in the books, and no refund of the only money is proposed.
import { expect, it } from '@jest/globals';
import { eur } from '../../../support/builders/channel-object.js';
import { chooseItem } from '../../../support/rigs/choose-item.js';
import { newMorObject } from '../../../../src/shared/domain/mor-object.js';
import { type CallOutcome } from '../../../../src/shared/domain/ports/call.js';
import { type EffectCheck } from '../../../../src/shared/domain/ports/billing-platform.js';
import { MARK_TRIES } from '../../../../src/shared/policy.js';
import { identifyLookup } from '../../../../src/core/payments/rules/identify-mark.js';
import { completeSignup } from '../../../support/rigs/complete-signup.js';
import { aPaymentSucceeded, aRefund, COMPLETION, INVOICE_ID } from '../../../support/builders/events.js';
import { aCtx, anOpenInvoice, facts, hear, NOW, open, PROFORMA } from '../../../support/builders/channel-lane.js';
import { balances, LaneHarness } from '../../../support/rigs/lane-harness.js';
import { settle } from '../../../support/builders/settled.js';
import { recordRead, decide } from '../../../support/rigs/decide.js';
import { putObject } from '../../../support/builders/put-rows.js';

type Refused = { readonly h: LaneHarness; readonly byHand: unknown };

/** A renewal of 10.00 whose mark Stripe refuses until a person is asked. */
async function refused(markMode: 'payment_record' | 'out_of_band', kind: string): Promise<Refused> {
  const h = LaneHarness.withInvoice({}, { settings: { markMode } });
  h.platform.fail(kind, ...Array.from({ length: MARK_TRIES }, () => 'refused' as const));
  await h.take(aPaymentSucceeded());
  await h.idle(1);
  h.platform.trouble.length = 0;
  const [item] = (await h.state(INVOICE_ID)).reviews.filter((r) => r.status === 'open');
  return { h, byHand: item?.fact.code === 'mark-refused' ? item.fact.byHand : null };
}

const paid = { status: 'paid', amountPaid: 1000n, amountRemaining: 0n } as const;

function recordByHand(harness: LaneHarness, id: string): void {
  harness.platform.payments.set(INVOICE_ID, [{ recordId: id, minor: 1000n }]);
  harness.platform.change(INVOICE_ID, paid);
}

async function retry(harness: LaneHarness): Promise<void> {
  await chooseItem(harness, 'retry');
  await harness.idle();
}

async function booked(harness: LaneHarness): Promise<object> {
  const s = await harness.state(INVOICE_ID);
  const marks = s.payments.map((p) => p.mark);
  const unmarked = balances(s)['unmarked_payments'] ?? 0n;
  return { marks, unmarked, open: s.reviews.filter((r) => r.status === 'open').map((r) => r.kind) };
}
const BOOKED = { marks: ['confirmed'], unmarked: 0n, open: [] };

it('after Stripe refuses a report, a retry finds the operator’s own payment record, and a later refund gets a credit note', async () => {
  const { h, byHand } = await refused('payment_record', 'report_payment');
  const amount = eur(1000n);
  expect(byHand).toEqual({ how: 'report', amount, reference: 'ch_pay_oak' });
  const of = { invoiceId: INVOICE_ID, paymentId: '', minor: 1000n, currency: 'EUR', refunds: [] };
  h.platform.records.push({ id: 'pr_hand', reference: 'ch_pay_oak', ...of });
  recordByHand(h, 'pr_hand');
  await retry(h);
  expect(await booked(h)).toEqual(BOOKED);
  await h.take(aRefund({ amount: 1000, total: 1000 }));
  await h.idle();
  expect(h.platform.notes).toMatchObject([{ minor: 1000n }]);
});

it("after Stripe refuses an attach call, the operator's retry finds the payment record attached by hand", async () => {
  const { h, byHand } = await refused('payment_record', 'attach_payment');
  const id = h.platform.records[0]?.id ?? '';
  expect(byHand).toEqual({ how: 'attach', record: id });
  recordByHand(h, id);
  await retry(h);
  expect(await booked(h)).toEqual(BOOKED);
});

it.each([
  ['set_reference', { how: 'metadata', payment: 'pay_oak', reference: 'ch_pay_oak' }],
  ['pay_out_of_band', { how: 'out-of-band' }],
])(
  "after Stripe refuses the call %s, the operator's retry finds a manual out-of-band mark by the invoice’s metadata",
  async (kind, says) => {
    const { h, byHand } = await refused('out_of_band', kind);
    expect(byHand).toEqual(says);
    h.platform.references.set(INVOICE_ID, { paymentId: 'pay_oak', reference: 'ch_pay_oak' });
    h.platform.change(INVOICE_ID, paid);
    await retry(h);
    expect(await booked(h)).toEqual(BOOKED);
  },
);

it("the operator's retry finds a manual out-of-band mark, even if the MoR changed the payment id meanwhile", async () => {
  const h = LaneHarness.withInvoice(
    { billingReason: 'subscription_create' },
    { settings: { markMode: 'out_of_band' } },
  );
  h.gateway.charges.add('ch_first');
  h.platform.fail('pay_out_of_band', ...Array.from({ length: MARK_TRIES }, () => 'refused' as const));
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, paymentId: 'pay_typo' }, ctx));
  await h.idle(1);
  await h.take(aPaymentSucceeded({ paymentId: 'pay_right', chargeId: 'ch_first', intentId: 'pi_first' }));
  h.platform.change(INVOICE_ID, paid);
  await retry(h);
  expect(await booked(h)).toEqual(BOOKED);
});

it('if an invoice is paid another way, each of two payments with the same charge opens its own double_payment item', async () => {
  const h = LaneHarness.withInvoice();
  h.platform.fail('attach_payment', 'retry', 'retry', 'retry');
  await h.take(aPaymentSucceeded({ paymentId: 'pay_1', chargeId: 'ch_1' }));
  h.platform.payAnotherWay(INVOICE_ID);
  await h.idle(1);
  await h.take(aPaymentSucceeded({ paymentId: 'pay_2', chargeId: 'ch_1' }));
  const s = await h.state(INVOICE_ID);
  expect(s.payments.map((p) => [p.mark, p.paymentRecordId])).toEqual([
    ['parked', 'pr_1'],
    ['parked', null],
  ]);
  expect(s.reviews.filter((r) => r.status === 'open').map((r) => [r.kind, r.topic])).toEqual([
    ['double_payment', 'paid-otherwise'],
    ['double_payment', 'named-again'],
  ]);
});

const SETTLED = newMorObject(NOW, {
  id: 'pfm_1',
  kind: 'proforma',
  invoiceId: 'in_1',
  status: 'SETTLED',
  morId: PROFORMA,
});
const later = aCtx(new Date(NOW.getTime() + 3_600_000));
const data = {
  ...{ proformaInvoiceId: PROFORMA, status: 'SETTLED', settledAt: '2026-11-20T11:00:00Z' },
  ...{ total: { amount: '29.90', currency: 'EUR' }, amountReceived: { amount: '29.90', currency: 'EUR' } },
};

/** Its late event, and what is found on Stripe then. */
function heard(poll: EffectCheck): ReturnType<typeof settle> {
  const notified = settle(putObject(anOpenInvoice(), SETTLED), later);
  expect(open(notified)).toMatchObject([{ fact: { code: 'transfer-unheard', reference: PROFORMA } }]);
  const marked = recordRead(notified, later, facts({ status: 'paid', amountPaid: 2990n, amountRemaining: 0n }));
  const came = hear(marked, 'proforma_invoice.settled', data, later);
  expect(came.payments).toMatchObject([{ reference: PROFORMA }]); // by which Stripe is looked through
  const outcome: CallOutcome<EffectCheck> = { ok: true, value: poll, status: 200, requestId: null };
  const payment = came.payments[0]?.id ?? '';
  const asked = { kind: 'pay_out_of_band', invoiceId: 'in_1' } as const;
  return settle(
    decide(came, later, (l) => identifyLookup.apply(l, outcome, { payment, asked })),
    later,
  );
}

it('after the MoR’s event about a bank transfer, Crossbill finds the operator’s payment record for this transfer', () => {
  const found = heard({ done: true, reply: { kind: 'report_payment', paymentRecordId: 'pr_hand' } });
  expect(found.payments).toMatchObject([{ paymentRecordId: 'pr_hand', mark: 'waiting' }]);
  expect(open(found)).toEqual([]);
});

it('if the MoR reports a bank transfer for an invoice paid otherwise on Stripe, Crossbill opens a double_payment item', () => {
  expect(open(heard({ done: false }))).toMatchObject([
    {
      kind: 'double_payment',
      fact: { code: 'paid-otherwise' },
    },
  ]);
});
