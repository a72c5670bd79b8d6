// A lost dispute of money that settles no invoice: the customer owes nothing for it, and is not to be billed. Or of money that is not known
import { chooseItem } from '../../support/choose-item.js';
import { expect, it } from '@jest/globals';
import { returnDebit } from '../../support/return-debit.js';
import { anInvoice, aPaymentSucceeded, delivery, INVOICE_ID, START } from '../../support/builders.js';
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
} from '../../support/disputed-lane.js';
import { withWords, wordsOf } from '../../support/item-words.js';
import { balances, LaneHarness } from '../../support/lane-harness.js';

const lost = aDispute({
  ...{ paymentRowId: 'pmt_2', status: 'lost' },
  detail: { names: ['pay_2'], outcome: 'lost', outcomeAt: '2026-11-20T12:00:00.000Z' },
});

it.each(['parked', 'closed'] as const)(
  'if a dispute takes a payment whose mark is %s, the review item says not to bill the customer',
  (mark) => {
    expect(withWords(only(withThem(paidTwice({ mark }), [lost])))).toMatchObject({
      summary: 'dispute dp_1 was lost: the bank took 29.90 EUR back; that money stands on no invoice',
      proposal:
        'Do not bill the customer for it: it paid for nothing. Settle the item of the payment itself, then dismiss this.',
    });
  },
);

it('if a dispute takes a partly refunded payment that settled no invoice, the item does not say to bill the customer', () => {
  const item = only(
    withThem(paidTwice({ mark: 'parked', amountRefunded: 990n }), [{ ...lost, amount: 2990n, currency: 'EUR' }]),
  );
  expect(wordsOf(item).summary).toMatch(/20\.00 EUR is booked as lost; that money stands on no invoice$/);
  expect(wordsOf(item).proposal).not.toContain('Bill the customer');
  expect(wordsOf(item).proposal).not.toContain('The invoice stays paid');
});

it.each([
  ['somebody may have marked the invoice by hand for it', paid({ id: 'pmt_2', paymentId: 'pay_2', mark: 'closed' })],
  ['the MoR may have named one charge twice', paidTwice({ mark: 'closed', processorChargeId: 'ch_1' })],
])('if a dispute takes a payment and %s, the item says to bill again only if this money paid the invoice', (_, s) => {
  const item = only(withThem(s, [lost]));
  expect(wordsOf(item).summary).toMatch(/took 29\.90 EUR back; no invoice was marked for that money from here$/);
  expect(wordsOf(item).proposal).toMatch(/^If the invoice was paid with this money .*, bill the customer again/);
  const inPart = { ...s, payments: s.payments.map((p) => (p.id === 'pmt_2' ? { ...p, amountRefunded: 990n } : p)) };
  const both = wordsOf(only(withThem(inPart, [{ ...lost, amount: 2990n, currency: 'EUR' }]))).proposal;
  expect(both).toMatch(
    /^Bill the customer 20\.00 EUR again or write that off, if the invoice was paid with this money\. /,
  );
});

it('the review item of a returned debit says to bill again only if the returned money paid the invoice', () => {
  const returned = (over: Parameters<typeof paidTwice>[0]): string => {
    const done = returnDebit(paidTwice(over), 'pmt_2', { by: 'ada', reference: null }, later(1));
    return done.ok ? (wordsOf(only(settleDisputes(done.state, later(1)))).proposal ?? '') : done.code;
  };
  expect(returned({ mark: 'parked' })).toMatch(/^Do not bill the customer for it: it paid for nothing\./);
  expect(returned({ mark: 'closed', processorChargeId: 'ch_1' })).toMatch(/^If the invoice was paid with this money/);
  expect(returned({ mark: 'confirmed', waived: ['amount_mismatch'] })).toMatch(
    /^Decide what the customer owes: bill again/,
  );
});

it('after an operator dismissed a returned debit, a retry of the double_payment item opens no second debit_returned item', async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  await h.take(aPaymentSucceeded({ paymentId: 'pay_1', chargeId: 'ch_1' }), aPaymentSucceeded({ paymentId: 'pay_2' }));
  await h.rest(1);
  const second = (await h.state(INVOICE_ID)).payments[1]?.id ?? '';
  await h.command(INVOICE_ID, (s, ctx) => returnDebit(s, second, { by: 'ada', reference: null }, ctx));
  await h.rest(1);
  await chooseItem(h, 'dismiss', { kind: 'debit_returned' });
  await h.rest(1);
  await chooseItem(h, 'retry', { kind: 'double_payment' });
  await h.rest(1);
  const s = await h.state(INVOICE_ID);
  expect(s.reviews.filter((r) => r.kind === 'debit_returned').map((r) => r.resolution)).toEqual(['dismiss']);
});

it('if a disputed payment settles an invoice later, a review item says to bill the customer again', () => {
  const told = withThem(paidTwice({ mark: 'parked' }), [lost]);
  const dealt = dismissed(told, only(told)?.subject ?? '');
  const marked = (mark: 'waiting' | 'confirmed') => ({
    ...dealt,
    payments: dealt.payments.map((p) => (p.id === 'pmt_2' ? { ...p, mark } : p)),
  });
  expect(only(goesOn(dealt, {}))).toBeUndefined();
  expect(only(goesOn(marked('waiting'), {}))).toBeUndefined();
  expect(wordsOf(only(goesOn(marked('confirmed'), {}))).proposal).toMatch(/^Bill the customer again/);
});

const unnamed = {
  ...lost,
  paymentRowId: null,
  amount: 2990n,
  currency: 'EUR',
  detail: { ...lost.detail, names: [] },
};
const NOT_BOOKED =
  'dispute dp_1 was lost: the bank took 29.90 EUR back; whose money that was is not known here, and the loss is not in the ledger';

it.each([
  ['neither of two payments', paidTwice(), unnamed],
  ['a payment without reported success', paidTwice({ succeededAt: null, mark: 'none' }), { ...unnamed, ...lost }],
  ['a payment whose charge is booked for another invoice', paidTwice({ succeededAt: null, mark: 'parked' }), lost],
])('a lost dispute that names %s books nothing and opens a review item', (_, s, dispute) => {
  const told = withThem(s, [{ ...dispute, amount: 2990n, currency: 'EUR' }]);
  expect(told.entries).toEqual([]);
  expect(wordsOf(only(told)).summary).toBe(NOT_BOOKED);
  expect(wordsOf(only(told)).proposal).toMatch(/book the loss outside the ledger/);
});

it('a lost dispute of an unknown payment waits for that payment, and takes nothing of the known payment', () => {
  const names = ['in_1', 'pay_2'];
  const told = withThem(paid(), [{ ...unnamed, detail: { ...unnamed.detail, names } }]);
  expect([told.entries, wordsOf(only(told)).summary]).toEqual([[], NOT_BOOKED]);
  const both = withThem({ ...told, payments: paidTwice().payments }, []);
  expect(both.entries.map((e) => e.paymentRowId)).toEqual(['pmt_2']);
  expect(wordsOf(only(both)).summary).toBe('dispute dp_1 was lost: the bank took 29.90 EUR back');
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

it('a lost dispute whose ids fit no payment takes the only payment of its invoice', () => {
  const told = withThem(paid(), [{ ...unnamed, detail: { ...unnamed.detail, names: ['0b5a', 'in_1'] } }]);
  expect(told.entries.map((e) => e.paymentRowId)).toEqual(['pmt_1']);
});

it('if the payment of a lost dispute becomes known later, Crossbill books the loss and opens one review item about it', () => {
  const told = withThem(paidTwice(), [unnamed]);
  const dealt = dismissed(told, only(told)?.subject ?? '');
  expect(only(goesOn(dealt, {}))).toBeUndefined();
  const named = goesOn(dealt, { paymentRowId: 'pmt_2' });
  expect(named.entries.map((e) => [e.reason, e.amount.minor])).toEqual([['dispute_lost', 2990n]]);
  expect(wordsOf(only(named)).summary).toBe(
    'dispute dp_1 was lost: the bank took 29.90 EUR back; it is in the ledger now',
  );
  expect(only(goesOn(dismissed(named, only(named)?.subject ?? ''), {}, 10))).toBeUndefined();
});

it('if the MoR wins a dispute whose loss was never booked, the review item says to reverse only a manual booking', () => {
  const told = withThem(paidTwice(), [unnamed]);
  const won = goesOn(dismissed(told, only(told)?.subject ?? ''), { status: 'won' });
  expect(wordsOf(only(won)).proposal).toMatch(
    /^The ledger never had the loss\. If you booked it outside the ledger, reverse that booking\./,
  );
});
