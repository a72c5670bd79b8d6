// A lost dispute of money that settles no invoice: the customer owes nothing for it, and is not to be billed. Or of money that is not known
import { chooseItem } from '../../../../support/rigs/choose-item.js';
import { expect, it } from '@jest/globals';
import { eur } from '../../../../support/builders/channel-object.js';
import { returnDebit } from '../../../../support/rigs/return-debit.js';
import { anInvoice, aPaymentSucceeded, delivery, INVOICE_ID, START } from '../../../../support/builders/events.js';
import {
  aDispute,
  dismissed,
  goesOn,
  later,
  only,
  paid,
  paidTwice,
  settleDisputes,
  withThem,
} from '../../../../support/builders/disputed-lane.js';
import { balances, LaneHarness } from '../../../../support/rigs/lane-harness.js';

const lost = aDispute({
  ...{ paymentRowId: 'pmt_2', status: 'lost' },
  detail: { names: ['pay_2'], outcome: 'lost', outcomeAt: '2026-11-20T12:00:00.000Z' },
});

it.each(['parked', 'closed'] as const)(
  'if a dispute takes a payment whose mark is %s, the review item says not to bill the customer',
  (mark) => {
    expect(only(withThem(paidTwice({ mark }), [lost]))).toMatchObject({
      fact: {
        code: 'dispute-lost',
        dispute: 'dp_1',
        amount: eur(2990n),
        twice: null,
        bookedSince: false,
        apart: 'for-nothing',
      },
    });
  },
);

it('if a dispute takes a partly refunded payment that settled no invoice, the item does not say to bill the customer', () => {
  const item = only(
    withThem(paidTwice({ mark: 'parked', amountRefunded: 990n }), [{ ...lost, amount: 2990n, currency: 'EUR' }]),
  );
  expect(item?.fact).toMatchObject({
    code: 'dispute-lost',
    twice: { payment: 'pay_2', how: 'refunded', got: eur(990n), booked: eur(2000n) },
    bookedSince: false,
    apart: 'for-nothing',
  });
});

it.each([
  ['somebody may have marked the invoice by hand for it', paid({ id: 'pmt_2', paymentId: 'pay_2', mark: 'closed' })],
  ['the MoR may have named one charge twice', paidTwice({ mark: 'closed', processorChargeId: 'ch_1' })],
])('if a dispute takes a payment and %s, the item says to bill again only if this money paid the invoice', (_, s) => {
  const item = only(withThem(s, [lost]));
  expect(item?.fact).toMatchObject({
    code: 'dispute-lost',
    twice: null,
    bookedSince: false,
    apart: 'maybe-for-nothing',
  });
  const inPart = { ...s, payments: s.payments.map((p) => (p.id === 'pmt_2' ? { ...p, amountRefunded: 990n } : p)) };
  const both = only(withThem(inPart, [{ ...lost, amount: 2990n, currency: 'EUR' }]))?.fact;
  expect(both).toMatchObject({ apart: 'maybe-for-nothing', twice: { booked: eur(2000n) } });
});

it('the review item of a returned debit says to bill again only if the returned money paid the invoice', () => {
  const returned = (over: Parameters<typeof paidTwice>[0]): unknown => {
    const done = returnDebit(paidTwice(over), 'pmt_2', { by: 'ada', reference: null }, later(1));
    return done.ok ? only(settleDisputes(done.state, later(1)))?.fact : done.code;
  };
  expect(returned({ mark: 'parked' })).toMatchObject({ apart: 'for-nothing' });
  expect(returned({ mark: 'closed', processorChargeId: 'ch_1' })).toMatchObject({ apart: 'maybe-for-nothing' });
  expect(returned({ mark: 'confirmed', waived: ['amount_mismatch'] })).toMatchObject({ apart: null });
});

it('after an operator dismissed a returned debit, a retry of the double_payment item opens no second debit_returned item', async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  await h.take(aPaymentSucceeded({ paymentId: 'pay_1', chargeId: 'ch_1' }), aPaymentSucceeded({ paymentId: 'pay_2' }));
  await h.idle(1);
  const second = (await h.state(INVOICE_ID)).payments[1]?.id ?? '';
  await h.command(INVOICE_ID, (s, ctx) => returnDebit(s, second, { by: 'ada', reference: null }, ctx));
  await h.idle(1);
  await chooseItem(h, 'dismiss', { kind: 'debit_returned' });
  await h.idle(1);
  await chooseItem(h, 'retry', { kind: 'double_payment' });
  await h.idle(1);
  const s = await h.state(INVOICE_ID);
  expect(s.reviews.filter((r) => r.kind === 'debit_returned').map((r) => r.resolution)).toEqual(['dismiss']);
});

it('if a disputed payment settles an invoice later, a review item says to bill the customer again', () => {
  const notified = withThem(paidTwice({ mark: 'parked' }), [lost]);
  const dealt = dismissed(notified, only(notified)?.subject ?? '');
  const marked = (mark: 'waiting' | 'confirmed') => ({
    ...dealt,
    payments: dealt.payments.map((p) => (p.id === 'pmt_2' ? { ...p, mark } : p)),
  });
  expect(only(goesOn(dealt, {}))).toBeUndefined();
  expect(only(goesOn(marked('waiting'), {}))).toBeUndefined();
  expect(only(goesOn(marked('confirmed'), {}))?.fact).toMatchObject({
    code: 'dispute-lost',
    twice: null,
    bookedSince: false,
    apart: null,
  });
});

const unnamed = {
  ...lost,
  paymentRowId: null,
  amount: 2990n,
  currency: 'EUR',
  detail: { ...lost.detail, names: [] },
};
const NOT_BOOKED = { code: 'dispute-lost', amount: eur(2990n), apart: 'not-booked' };

it.each([
  ['neither of two payments', paidTwice(), unnamed],
  ['a payment without reported success', paidTwice({ succeededAt: null, mark: 'none' }), { ...unnamed, ...lost }],
  ['a payment whose charge is booked for another invoice', paidTwice({ succeededAt: null, mark: 'parked' }), lost],
])('a lost dispute that names %s books nothing and opens a review item', (_, s, dispute) => {
  const notified = withThem(s, [{ ...dispute, amount: 2990n, currency: 'EUR' }]);
  expect(notified.entries).toEqual([]);
  expect(only(notified)?.fact).toMatchObject(NOT_BOOKED);
});

it('a lost dispute of an unknown payment waits for that payment, and books no loss of the invoice’s known payment', () => {
  const names = ['in_1', 'pay_2'];
  const notified = withThem(paid(), [{ ...unnamed, detail: { ...unnamed.detail, names } }]);
  expect(notified.entries).toEqual([]);
  expect(only(notified)?.fact).toMatchObject(NOT_BOOKED);
  const both = withThem({ ...notified, payments: paidTwice().payments }, []);
  expect(both.entries.map((e) => e.paymentRowId)).toEqual(['pmt_2']);
  expect(only(both)?.fact).toMatchObject({
    code: 'dispute-lost',
    dispute: 'dp_1',
    amount: eur(2990n),
    twice: null,
    bookedSince: false,
    apart: null,
  });
});

it('a dispute.outcome event about an unknown payment books nothing for the known payment of its invoice', async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  const [type, id] = ['dispute.outcome', 'evt_lost'];
  const amount = { amount: '10.00', currency: 'EUR' };
  const data = { disputeId: 'dp_1', invoice: INVOICE_ID, paymentId: 'pay_other', outcome: 'lost', amount };
  const body = { id, type, created: START.toISOString(), data };
  await h.take(aPaymentSucceeded(), delivery('mor_events', id, type, INVOICE_ID, body));
  expect(balances(await h.state(INVOICE_ID))).toEqual({ mor_receivable: 1000n, settled_invoices: -1000n });
});

it('if the ids of a lost dispute fit no payment, Crossbill books the loss on the only payment of the invoice', () => {
  const notified = withThem(paid(), [{ ...unnamed, detail: { ...unnamed.detail, names: ['0b5a', 'in_1'] } }]);
  expect(notified.entries.map((e) => e.paymentRowId)).toEqual(['pmt_1']);
});

it('if the payment of a lost dispute becomes known later, Crossbill books the loss and opens one review item about it', () => {
  const notified = withThem(paidTwice(), [unnamed]);
  const dealt = dismissed(notified, only(notified)?.subject ?? '');
  expect(only(goesOn(dealt, {}))).toBeUndefined();
  const named = goesOn(dealt, { paymentRowId: 'pmt_2' });
  expect(named.entries.map((e) => [e.reason, e.amount.minor])).toEqual([['dispute_lost', 2990n]]);
  expect(only(named)?.fact).toMatchObject({
    code: 'dispute-lost',
    dispute: 'dp_1',
    amount: eur(2990n),
    twice: null,
    bookedSince: true,
    apart: null,
  });
  expect(only(goesOn(dismissed(named, only(named)?.subject ?? ''), {}, 10))).toBeUndefined();
});

it('if the MoR wins a dispute whose loss Crossbill never booked, an item says to reverse a booking only if a person made one', () => {
  const notified = withThem(paidTwice(), [unnamed]);
  const won = goesOn(dismissed(notified, only(notified)?.subject ?? ''), { status: 'won' });
  expect(only(won)?.fact).toMatchObject({ code: 'won-after-loss', reversed: false, beside: true });
});
