// What banks took back, in the ledger: by lost disputes and returned debits.
import { never } from '../../../../../support/never.js';
import { chooseItem } from '../../../../../support/rigs/choose-item.js';
import { describe, expect, it } from '@jest/globals';
import { openFacts } from '../../../../../support/builders/channel-lane.js';
import { eur } from '../../../../../support/builders/channel-object.js';
import { type LaneState } from '../../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../../src/shared/domain/payment-row.js';
import { type MorObjectRow } from '../../../../../../src/shared/domain/mor-object.js';
import { putObject, putPayment } from '../../../../../support/builders/put-rows.js';
import { disputeLost } from '../../../../../../src/shared/domain/postings.js';
import { postLosses } from '../../../../../../src/features/losses/returns/rules/loss.js';
import { anInvoice, aPaymentSucceeded, aRefund, delivery, INVOICE_ID } from '../../../../../support/builders/events.js';
import { aDispute, later, minutesLater, paid, paidTwice } from '../../../../../support/builders/disputed-lane.js';
import { balances, LaneHarness } from '../../../../../support/rigs/lane-harness.js';
import { decided } from '../../../../../support/builders/settled.js';
import { decide } from '../../../../../support/rigs/decide.js';
import { disputed } from '../../../../../../src/features/losses/disputes/dispute-page.js';

const lost = (over: Partial<MorObjectRow> = {}): MorObjectRow => aDispute({ status: 'lost', ...over });
const euros = (amount: bigint): Pick<MorObjectRow, 'amount' | 'currency'> => ({ amount, currency: 'EUR' });
const book = (state: LaneState, objects: readonly MorObjectRow[], minute = 9): LaneState =>
  decided(state, (state) => decide(objects.reduce(putObject, state), later(minute), postLosses));
/** The row as it stands after the books followed. */
const row = (state: LaneState, id = 'dsp_1'): MorObjectRow => {
  const found = state.objects.find((o) => o.id === id) ?? never();
  return found;
};
const taken = (state: LaneState): (readonly [string, string, bigint])[] =>
  state.entries.map((e) => [e.paymentRowId, e.reason, e.amount.minor] as const);
const lossOf = (state: LaneState, id?: string): string | undefined => row(state, id).detail.loss?.minor;
const change = (state: LaneState, over: Partial<PaymentRow>): LaneState =>
  state.payments.slice(0, 1).reduce((state, p) => putPayment(state, { ...p, ...over }), state);

it('a lost dispute takes its own amount, but at most the rest of the payment, and without an amount the whole rest', () => {
  expect(taken(book(paid(), [lost(euros(1000n))]))).toEqual([['pmt_1', 'dispute_lost', 1000n]]);
  expect(taken(book(paid(), [lost(euros(2990n))]))).toEqual([['pmt_1', 'dispute_lost', 2990n]]);
  expect(taken(book(paid(), [lost(euros(9000n))]))).toEqual([['pmt_1', 'dispute_lost', 2990n]]);
  for (const over of [{}, { currency: 'EUR' }]) {
    expect(taken(book(paid(), [lost(over)]))).toEqual([['pmt_1', 'dispute_lost', 2990n]]);
  }
  const inDollars = lost({ amount: 1000n, currency: 'USD' });
  expect(taken(book(paid(), [inDollars]))).toEqual([['pmt_1', 'dispute_lost', 2990n]]);
  expect(taken(book(paid({ amountRefunded: 990n }), [lost(euros(2500n))]))).toEqual([['pmt_1', 'dispute_lost', 2000n]]);
});

it('a lost dispute takes nothing of a refunded, failed or unknown payment', () => {
  for (const over of [{ amountRefunded: 2990n }, { amountRefunded: 3000n }, { succeededAt: null }, { amount: null }]) {
    expect(book(paid(over), [lost()]).entries).toEqual([]);
  }
  expect(book(paid(), [lost({ paymentRowId: null })]).entries).toEqual([]);
  expect(book(paid(), [lost({ paymentRowId: 'pmt_9' })]).entries).toEqual([]);
});

it.each(['action_needed', 'revision_requested', 'won', 'decided'])(
  'a dispute with status %s books no loss',
  (status) => {
    expect(book(paid(), [lost({ status })]).entries).toEqual([]);
  },
);

it('Crossbill books no loss for an alert or another object of the MoR', () => {
  for (const kind of ['alert', 'capture', 'payment_link'] as const) {
    expect(book(paid(), [lost({ kind }), lost({ id: 'ret_1', kind, status: 'returned' })]).entries).toEqual([]);
  }
  expect(book(paid(), [lost({ kind: 'debit_return' }), lost({ id: 'd', status: 'returned' })]).entries).toEqual([]);
});

it("the ledger entry of a lost dispute has the bank's date, or the date of arrival if the bank's date is unknown", () => {
  const s = book(paid(), [lost({ detail: { outcomeAt: '2026-10-31T23:59:00Z' } })]);
  expect(s.entries).toMatchObject([
    {
      ...{ debit: 'disputed_payments', credit: 'mor_receivable', subject: 'dsp_1', invoiceId: 'in_1' },
      ...{ amount: eur(2990n), at: minutesLater(9) },
      movedAt: new Date('2026-10-31T23:59:00Z'),
    },
  ]);
  expect(s.journal.at(-1)).toMatchObject({
    text: '29.90 EUR was taken back by the bank: dispute dp_1 is lost',
    ref: 'dsp_1',
  });
  expect(row(s).detail).toMatchObject({ loss: { of: 'pmt_1', minor: '2990', entries: 1 } });
  expect(book(paid(), [lost()]).entries).toMatchObject([{ movedAt: minutesLater(9) }]);
  const unnamed = book(paid(), [lost({ morId: null })]);
  expect(unnamed.journal.at(-1)?.text).toBe('29.90 EUR was taken back by the bank: dispute dsp_1 is lost');
});

it('Crossbill books a loss once, even if Crossbill decides about the same invoice again', () => {
  const s = book(paid(), [lost()]);
  expect(book(s, [], 30)).toEqual(s);
});

it('a refund after a lost dispute reverses its share of the loss, with the date of the refund', () => {
  const s = book(paid(), [lost({ detail: { outcomeAt: '2026-10-31T23:59:00Z' } })]);
  const refunded = book(change(s, { amountRefunded: 990n }), [], 20);
  expect(refunded.entries.at(-1)).toMatchObject({
    ...{ debit: 'mor_receivable', credit: 'disputed_payments', reason: 'dispute_reversed', subject: 'dsp_1:2' },
    ...{ amount: { minor: 990n }, movedAt: minutesLater(20) },
  });
  expect(refunded.journal.at(-1)?.text).toBe('9.90 EUR of the loss from dispute dp_1 is reversed in the ledger');
  expect(row(refunded).detail.loss).toEqual({
    ...{ of: 'pmt_1', minor: '2000', entries: 2, movedAt: minutesLater(20).toISOString() },
  });
  const failed = book(change(refunded, { amountRefunded: 0n }), [], 30);
  expect(failed.entries.at(-1)).toMatchObject({
    ...{ reason: 'dispute_lost', subject: 'dsp_1:3', amount: { minor: 990n }, movedAt: minutesLater(30) },
  });
  expect(lossOf(failed)).toBe('2990');
});

it('a won dispute reverses the whole loss, and a second lost outcome books the loss again', () => {
  const s = book(paid(), [lost()]);
  const won = book(s, [{ ...row(s), status: 'won' }], 20);
  expect(taken(won)).toEqual([
    ['pmt_1', 'dispute_lost', 2990n],
    ['pmt_1', 'dispute_reversed', 2990n],
  ]);
  expect([lossOf(won), won.entries.at(-1)?.subject]).toEqual(['0', 'dsp_1:2']);
  expect(book(won, [{ ...row(won) }], 25).entries).toHaveLength(2);
  const again = book(won, [{ ...row(won), status: 'lost' }], 30);
  expect(again.entries.at(-1)).toMatchObject({
    reason: 'dispute_lost',
    subject: 'dsp_1:3',
    movedAt: minutesLater(30),
  });
});

it('if a lost dispute moves to another payment, Crossbill reverses the loss and books it on that payment', () => {
  const s = book(paidTwice(), [lost(euros(1000n))]);
  const moved = book(s, [{ ...row(s), paymentRowId: 'pmt_2' }], 20);
  expect(taken(moved)).toEqual([
    ['pmt_1', 'dispute_lost', 1000n],
    ['pmt_1', 'dispute_reversed', 1000n],
    ['pmt_2', 'dispute_lost', 1000n],
  ]);
  expect(moved.entries.map((e) => e.subject)).toEqual(['dsp_1', 'dsp_1:2', 'dsp_1:3']);
  const at = minutesLater(20).toISOString();
  expect(row(moved).detail.loss).toEqual({ of: 'pmt_2', minor: '1000', entries: 3, movedAt: at });
});

describe('several losses of one payment', () => {
  const at = (id: string, outcomeAt: string | null, amount: bigint): MorObjectRow =>
    lost({ id, morId: id, detail: outcomeAt === null ? {} : { outcomeAt }, ...euros(amount) });

  it("several lost disputes together take at most the payment, in the order of the bank's decisions", () => {
    const early = at('d_b', '2026-11-01T00:00:00Z', 2000n);
    const late = at('d_a', '2026-11-02T00:00:00Z', 2000n);
    for (const order of [
      [early, late],
      [late, early],
    ]) {
      const s = book(paid(), order);
      expect([lossOf(s, 'd_b'), lossOf(s, 'd_a')]).toEqual(['2000', '990']);
    }
    const third = at('d_c', '2026-11-03T00:00:00Z', 1n);
    const s = book(paid(), [third, late, early]);
    expect(taken(s).map(([, , minor]) => minor)).toEqual([990n, 2000n]);
    expect(row(s, 'd_c').detail.loss).toBeUndefined();
  });

  it("lost disputes with the same time, or without a time, take the payment in the order of the MoR's ids", () => {
    for (const when of ['2026-11-01T00:00:00Z', null]) {
      // Our own ids may be others after a restore: the order is the same.
      for (const [ours, other] of [
        ['d_1', 'd_2'],
        ['d_2', 'd_1'],
      ] as const) {
        const two = [
          { ...at(ours, when, 2000n), morId: 'dp_a' },
          { ...at(other, when, 2000n), morId: 'dp_b' },
        ];
        for (const order of [two, two.toReversed()]) {
          const s = book(paid(), order);
          expect([lossOf(s, ours), lossOf(s, other)]).toEqual(['2000', '990']);
        }
      }
    }
  });

  it('Crossbill books the loss of a dispute on the disputed payment', () => {
    const s = book(paidTwice(), [at('d_a', null, 2990n), { ...at('d_b', null, 2000n), paymentRowId: 'pmt_2' }]);
    expect(taken(s)).toEqual([
      ['pmt_1', 'dispute_lost', 2990n],
      ['pmt_2', 'dispute_lost', 2000n],
    ]);
    expect(book(s, [], 30)).toEqual(s);
  });
});

const back = (over: Partial<MorObjectRow> = {}): MorObjectRow =>
  lost({ id: 'ret_1', kind: 'debit_return', morId: null, status: 'returned', ...euros(2990n), ...over });

it("a returned debit is a loss with the bank's date, and its undo reverses that loss", () => {
  const s = book(paid(), [back({ detail: { outcomeAt: '2026-10-30T00:00:00Z' } })]);
  expect(s.entries).toMatchObject([
    { reason: 'debit_returned', debit: 'disputed_payments', movedAt: new Date('2026-10-30T00:00:00Z') },
  ]);
  expect(s.journal.at(-1)?.text).toBe('29.90 EUR was taken back by the bank: the debit was returned, ret_1');
  const undone = book(s, [{ ...row(s, 'ret_1'), status: 'undone' }], 20);
  expect(undone.entries.at(-1)).toMatchObject({
    ...{ reason: 'debit_return_reversed', debit: 'mor_receivable', credit: 'disputed_payments' },
    ...{ amount: { minor: 2990n }, movedAt: minutesLater(20) },
  });
  expect(undone.journal.at(-1)?.text).toBe('29.90 EUR of the loss from return ret_1 is reversed in the ledger');
});

it('a returned debit and a lost dispute take at most the payment together, in the order of their dates', () => {
  const s = book(paid(), [back({ ...euros(2000n), detail: { outcomeAt: '2026-11-01T00:00:00Z' } }), lost()]);
  // The dispute's time is not known, so it counts as the first.
  expect(taken(s).map(([, reason, minor]) => [reason, minor])).toEqual([['dispute_lost', 2990n]]);
  const dated = lost({ detail: { outcomeAt: '2026-11-02T00:00:00Z' } });
  const both = book(paid(), [back({ ...euros(2000n), detail: { outcomeAt: '2026-11-01T00:00:00Z' } }), dated]);
  expect(taken(both).map(([, reason, minor]) => [reason, minor])).toEqual([
    ['debit_returned', 2000n],
    ['dispute_lost', 990n],
  ]);
});

describe('a loss and its reversal in one decision', () => {
  const dated = (state: LaneState): LaneState =>
    book(state, [lost({ detail: { outcomeAt: minutesLater(1).toISOString() } })], 2);
  const when = { at: minutesLater(30), movedAt: minutesLater(10) };
  /** 9.90 were given back: so much less was lost, at 40 unless `entries` of the same decision say when. */
  const lessBy = (lane: LaneState, ...entries: LaneState['entries']): Date | undefined => {
    const state = { ...change(lane, { amountRefunded: 990n }), entries };
    return decide(state, later(40), postLosses).entries.find((e) => e.reason === 'dispute_reversed')?.movedAt;
  };

  it('if one decision reverses a loss and books another loss of the payment, the reversal has the date of the other loss', () => {
    const s = dated(paidTwice());
    const [p, other] = s.payments;
    if (p === undefined || other === undefined) throw new Error('two payments');
    const refunded = disputeLost(p, 'ref_1', 990n, when);
    expect(lessBy(s)).toEqual(minutesLater(40));
    expect(lessBy(s, refunded)).toEqual(minutesLater(10));
    expect(lessBy(s, { ...refunded, paymentRowId: other.id })).toEqual(minutesLater(40));
    expect(lessBy(s, { ...refunded, credit: 'unmarked_payments' })).toEqual(minutesLater(40));
    expect(lessBy(s, { ...refunded, debit: 'mor_receivable', credit: 'disputed_payments' })).toEqual(minutesLater(40));
  });

  it("Crossbill never dates a loss's reversal by an earlier ledger entry of the same loss", () => {
    const s = dated(paid());
    const [p = never()] = s.payments;
    for (const subject of ['dsp_1', 'dsp_1:2'])
      expect(lessBy(s, disputeLost(p, subject, 990n, when))).toEqual(minutesLater(40));
  });
});

type Notified = readonly [what: 'lost' | 'won' | number, at: string, dispute?: string];
const LOST: Notified = ['lost', '2026-11-25T12:00:00Z'];
const given: Notified = [300, '2026-11-22T12:00:00Z'];

/** What moved at the MoR by month, without the payment of 10.00. Each event comes on its day, except the last, which comes in December. */
async function booked(...notified: readonly Notified[]): Promise<Record<string, bigint>> {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  await h.take(aPaymentSucceeded());
  for (const [i, [what, at, disputeId = 'dp_1']] of notified.entries()) {
    h.clock.set(i === notified.length - 1 ? new Date('2026-12-05T00:10:00Z') : new Date(at));
    const id = `evt_${i}`;
    const data = { disputeId, paymentId: 'pay_oak', outcome: what };
    if (typeof what === 'number') await h.take(aRefund({ amount: what, at: new Date(at) }));
    else {
      const body = { id, type: 'dispute.outcome', created: at, data };
      await h.take(delivery('mor_events', id, 'dispute.outcome', INVOICE_ID, body));
    }
  }
  const months: Record<string, bigint> = {};
  for (const e of (await h.state(INVOICE_ID)).entries.filter((x) => x.reason !== 'payment_collected')) {
    if (e.debit !== 'mor_receivable' && e.credit !== 'mor_receivable') continue;
    const month = e.movedAt.toISOString().slice(0, 7);
    months[month] = (months[month] ?? 0n) + (e.debit === 'mor_receivable' ? 1n : -1n) * e.amount.minor;
  }
  return months;
}

it('the reversal of a loss belongs to the month in which the MoR won the dispute', async () => {
  expect(await booked(LOST, ['won', '2026-11-30T23:59:00Z'])).toEqual({ '2026-11': 0n });
  expect(await booked(LOST, ['won', '2026-12-01T00:00:00Z'])).toEqual({ '2026-11': -1000n, '2026-12': 1000n });
  const lostAgain: Notified = ['lost', '2026-11-29T00:00:00Z'];
  expect(await booked(LOST, ['won', '2026-11-28T00:00:00Z'], lostAgain)).toEqual({ '2026-11': -1000n });
});

it('if a loss grew after the MoR won the dispute, the reversal has the date of that growth', () => {
  const first = book(paid(), [lost({ ...euros(400n), detail: { outcomeAt: minutesLater(1).toISOString() } })], 1);
  const grown = book(first, [{ ...row(first), ...euros(1000n) }], 40);
  const detail = { ...row(grown).detail, outcomeAt: minutesLater(3).toISOString() };
  const won = book(grown, [{ ...row(grown), status: 'won', detail }], 41);
  expect(won.entries.map((e) => [e.reason, e.amount.minor, e.movedAt])).toEqual([
    ['dispute_lost', 400n, minutesLater(1)],
    ['dispute_lost', 600n, minutesLater(40)],
    ['dispute_reversed', 1000n, minutesLater(40)],
  ]);
});

it('if a refund reverses a loss, the reversal belongs to the month of the refund or of the loss, whichever is later', async () => {
  expect(await booked(LOST, given)).toEqual({ '2026-11': -1000n });
  expect(await booked(given, LOST)).toEqual({ '2026-11': -1000n });
  // Given back after the loss was booked: November stays as it is, and December has both.
  expect(await booked(LOST, [300, '2026-12-02T00:00:00Z'])).toEqual({ '2026-11': -1000n, '2026-12': 0n });
});

it('if another dispute takes the money of a loss, the reversal of this loss belongs to the month of the other dispute', async () => {
  const earlier: Notified = ['lost', '2026-11-10T00:00:00Z', 'dp_0'];
  expect(await booked(LOST, earlier)).toEqual({ '2026-11': -1000n });
  const won: Notified = ['won', '2026-12-02T00:00:00Z', 'dp_0'];
  for (const lost of [
    [LOST, earlier],
    [earlier, LOST],
  ])
    expect(await booked(...lost, won)).toEqual({ '2026-11': -1000n, '2026-12': 0n });
});

describe('a dispute of unclear amount', () => {
  /** A marked payment of 10.00 EUR. */
  async function paid(): Promise<LaneHarness> {
    const h = LaneHarness.inMemory();
    h.platform.put(anInvoice());
    await h.take(aPaymentSucceeded());
    return h;
  }

  async function tell(harness: LaneHarness, minute: number, type: string, data: object): Promise<void> {
    const id = `evt_${minute}`;
    const created = new Date(harness.clock.now().getTime() + minute * 60_000).toISOString();
    const body = { id, type, created, data: { disputeId: 'dp_1', paymentId: 'pay_oak', ...data } };
    await harness.take(delivery('mor_events', id, type, INVOICE_ID, body));
  }
  const lost = (harness: LaneHarness, sum: object, minute = 1): Promise<void> =>
    tell(harness, minute, 'dispute.outcome', { outcome: 'lost', ...sum });

  const WHOLE = { code: 'dispute-lost', dispute: 'dp_1', amount: eur(1000n), twice: null };
  async function booked(harness: LaneHarness): Promise<readonly [bigint, readonly unknown[]]> {
    const s = await harness.state(INVOICE_ID);
    return [balances(s)['disputed_payments'] ?? 0n, openFacts(s)];
  }

  it("Crossbill books a lost dispute's decimal amount, as two flat fields or as one object of amount and currency", async () => {
    for (const sum of [{ amount: '3.00', currency: 'EUR' }, { amount: { amount: '3.00', currency: 'eur' } }]) {
      const h = await paid();
      await lost(h, sum);
      const fact = { code: 'dispute-lost', dispute: 'dp_1', amount: eur(300n) };
      expect(await booked(h)).toMatchObject([300n, [fact]]);
    }
  });

  it("Crossbill books no ambiguous dispute amount, and the review item quotes the MoR's amount", async () => {
    for (const [sum, said] of [
      [{ amount: 300, currency: 'EUR' }, '300 EUR'],
      [{ amount: '300', currency: 'eur' }, '300 eur'],
      [{ disputedAmount: '3.00', amount: { amount: '10.00', currency: 'EUR' } }, '3.00'],
      [{ amount: { value: 3 } }, '{"value":3}'],
    ] as const) {
      const h = await paid();
      await lost(h, sum);
      expect(await booked(h)).toMatchObject([0n, [{ code: 'loss-unread', dispute: 'dp_1', unread: said }]]);
      const [dispute] = (await h.state(INVOICE_ID)).objects;
      const [payment = null] = (await h.state(INVOICE_ID)).payments;
      expect(dispute && disputed({ dispute, payment }).minor).toBeNull();
    }
  });

  it('a later clear amount of a lost dispute books the loss, even after an operator dismissed the ambiguous amount', async () => {
    const h = await paid();
    await lost(h, { amount: 300, currency: 'EUR' });
    await chooseItem(h, 'dismiss', { note: 'booked outside the ledger' });
    await lost(h, { amount: '3.00', currency: 'EUR' }, 2);
    const fact = { code: 'dispute-lost', bookedSince: true, amount: eur(300n) };
    expect(await booked(h)).toMatchObject([300n, [fact]]);
  });

  it('Crossbill books the last clear amount of a dispute', async () => {
    const h = await paid();
    await tell(h, 1, 'dispute.action_needed', { amount: 300, currency: 'EUR' });
    await lost(h, { amount: { amount: '3.00', currency: 'EUR' } }, 2);
    expect((await booked(h))[0]).toBe(300n);
  });

  const whole = { amount: { amount: '10.00', currency: 'EUR' } };
  const part = { amount: { amount: '3.00', currency: 'EUR' } };

  it('Crossbill books no loss if the payment and the dispute of one event give two amounts', async () => {
    const h = await paid();
    await lost(h, { payment: { id: 'pay_oak', ...whole }, dispute: { id: 'dp_1', ...part } });
    expect(await booked(h)).toMatchObject([0n, [{ code: 'loss-unread', unread: '10.00 EUR or 3.00 EUR' }]]);
  });

  it("Crossbill books no loss if one of an event's two amounts is unreadable", async () => {
    for (const amount of [{ amount: '10.00', currency: 'EUR' }, '10.00']) {
      const h = await paid();
      const dispute = { id: 'dp_1', amount: 300, currency: 'EUR' };
      await lost(h, { payment: { id: 'pay_oak', amount, currency: 'EUR' }, dispute });
      expect(await booked(h)).toMatchObject([0n, [{ code: 'loss-unread', unread: '10.00 EUR or 300 EUR' }]]);
    }
  });

  it('two equal amounts in one dispute event book the loss', async () => {
    const same = await paid();
    await lost(same, { payment: whole, dispute: { amount: { amount: '10.0', currency: 'eur' } } });
    expect(await booked(same)).toMatchObject([1000n, [WHOLE]]);
  });

  it("Crossbill does not book a dispute's clear amount after a later ambiguous amount", async () => {
    const h = await paid();
    await tell(h, 1, 'dispute.action_needed', whole);
    await lost(h, { amount: 300, currency: 'EUR' }, 2);
    expect(await booked(h)).toMatchObject([0n, [{ code: 'loss-unread', unread: '300 EUR' }]]);
    const s = await h.state(INVOICE_ID);
    const [dispute, payment] = [s.objects[0], s.payments[0]];
    if (dispute === undefined || payment === undefined) throw new Error('none');
    expect(disputed({ dispute, payment })).toEqual({ minor: null, currency: null });
  });

  it('Crossbill books the whole payment as lost if the amount is missing, or ambiguous and no less than the payment', async () => {
    for (const sum of [{ amount: 1000, currency: 'eur' }, { amount: '1000', currency: 'EUR' }, {}]) {
      const h = await paid();
      await lost(h, sum);
      expect(await booked(h)).toMatchObject([1000n, [WHOLE]]);
    }
  });

  it("the review item of an open dispute quotes an ambiguous amount in the MoR's words", async () => {
    const h = await paid();
    await tell(h, 1, 'dispute.action_needed', { amount: 300, currency: 'EUR' });
    const fact = { code: 'evidence-due', dispute: 'dp_1', amount: null, unread: '300 EUR', until: null };
    expect((await booked(h))[1]).toMatchObject([fact]);
  });
});
