// Disputes, alerts and refunds of one payment: whatever order they arrive in, the books end the same.
import { expect, it } from '@jest/globals';
import { type PaymentEvent } from '../../../../../src/engine/event.js';
import { type Ctx } from '../../../../../src/engine/context.js';
import { askRefund } from '../../../../support/rigs/ask-refund.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { aCtx, anOpenInvoice, aPaymentEvent, hear, NOW, open } from '../../../../support/builders/channel-lane.js';
import { balances } from '../../../../support/rigs/lane-harness.js';
import { same } from '../../../../support/same.js';
import { settle } from '../../../../support/builders/settled.js';
import { applyEvent } from '../../../../support/rigs/decide.js';

type Happening = { readonly name: string; readonly tell: (state: LaneState, ctx: Ctx) => LaneState };

const at = (minutes: number): Date => new Date(NOW.getTime() - 3_600_000 + minutes * 60_000);

function payment(name: string, over: Partial<PaymentEvent> & Pick<PaymentEvent, 'type' | 'at'>): Happening {
  const event = aPaymentEvent({ eventId: `evt_${name}`, ...over });
  return { name, tell: (s, ctx) => settle(applyEvent(s, event, ctx).state, ctx) };
}

const taken = payment('taken', { type: 'payment.succeeded', at: at(0) });
const refund = (count: number, amount: bigint, total: bigint): Happening =>
  payment(`refund ${count}`, {
    type: 'payment.refunded',
    at: at(10 + count),
    amount,
    status: total === 2990n ? 'refunded' : 'partially_refunded',
    refundId: `rfnd_${count}`,
    processorRefundId: `re_${count}`,
    amountRefundedTotal: total,
  });

/** `minute`: when the event was made. */
function notified(type: string, minute: number, data: object = {}, disputeId = 'dp_1'): Happening {
  const name = `${type} ${disputeId} ${JSON.stringify(data)}`;
  const body = { disputeId, paymentId: 'pay_1', ...data };
  return { name, tell: (s, ctx) => hear(s, type, body, ctx, `evt_${name}`, at(minute).toISOString()) };
}

const raised = notified('dispute.action_needed', 20);
const lost = notified('dispute.outcome', 40, { outcome: 'lost' });
const lostAfterwards = notified('dispute.outcome', 60, { outcome: 'lost' });
const won = notified('dispute.outcome', 50, { outcome: 'won' });
const closed = notified('dispute.outcome', 55, { outcome: 'closed' });
const sentBack = notified('dispute.revision_requested', 57, { deadline: '2026-12-05T00:00:00Z' });
const partLost = notified('dispute.outcome', 45, { outcome: 'lost', amount: { amount: '20.00', currency: 'EUR' } });
const second = notified(
  'dispute.outcome',
  46,
  { outcome: 'lost', amount: { amount: '12.00', currency: 'EUR' } },
  'dp_2',
);
const alertRaised = notified('pre_chargeback_alert.received', 15, { alertId: 'al_1', disputeId: undefined });
const alertHandled = notified('pre_chargeback_alert.outcome', 30, {
  alertId: 'al_1',
  disputeId: undefined,
  refunded: true,
});

function permutations<T>(all: readonly T[]): T[][] {
  if (all.length <= 1) return [[...all]];
  return all.flatMap((one, k) => permutations(all.filter((_, n) => n !== k)).map((remaining) => [one, ...remaining]));
}

/** What counts as the same end: balances, and what a person is still asked. */
function ended(order: readonly Happening[]): object {
  let s = anOpenInvoice();
  order.forEach((one, n) => (s = one.tell(s, aCtx(new Date(NOW.getTime() + n * 1000)))));
  const again = settle(s, aCtx(new Date(NOW.getTime() + 60_000)));
  same(again.entries, s.entries);
  const remaining = balances(s);
  same((remaining['mor_receivable'] ?? 0n) >= 0n && (remaining['disputed_payments'] ?? 0n) >= 0n, true);
  same(new Set(s.entries.map((e) => `${e.reason} ${e.subject}`)).size, s.entries.length);
  return {
    balances: Object.entries(remaining).sort(),
    payments: s.payments.map((p) => `${p.paymentId} ${p.status} ${p.amount} ${p.amountRefunded}`),
    disputes: s.objects
      .map((o) => `${o.kind} ${o.morId} ${o.status} ${o.amount} ${o.detail.loss?.minor ?? '0'}`)
      .sort(),
    open: open(s)
      .map((r) => `${r.kind} ${r.subject}`)
      .sort(),
  };
}

const owed = (receivable: bigint, disputed: bigint): object => ({
  ...(receivable === 0n ? {} : { mor_receivable: receivable }),
  ...(disputed === 0n ? {} : { disputed_payments: disputed }),
});

const SCENARIOS: [string, Happening[], object][] = [
  ['a dispute lost without a refund', [taken, raised, lost], owed(0n, 2990n)],
  ['a dispute lost with a full refund', [taken, raised, lost, refund(1, 2990n, 2990n)], owed(0n, 0n)],
  ['a dispute lost with a partial refund', [taken, lost, refund(1, 1000n, 1000n)], owed(0n, 1990n)],
  [
    'a dispute lost in part with two partial refunds',
    [taken, partLost, refund(1, 500n, 500n), refund(2, 1000n, 1500n)],
    owed(0n, 1490n),
  ],
  ['a dispute lost and then won', [taken, raised, lost, won], owed(2990n, 0n)],
  ['a dispute won and then lost', [taken, raised, won, lostAfterwards], owed(0n, 2990n)],
  ['a dispute lost, won and lost again', [taken, lost, won, lostAfterwards], owed(0n, 2990n)],
  ['a dispute lost and then closed in unknown words', [taken, raised, lost, closed], owed(0n, 2990n)],
  [
    'a dispute closed and then won',
    [taken, closed, notified('dispute.outcome', 58, { outcome: 'won' })],
    owed(2990n, 0n),
  ],
  ['a lost dispute with a later request for evidence', [taken, raised, lost, sentBack], owed(0n, 2990n)],
  ['a won dispute with a later request for evidence', [taken, lost, won, sentBack], owed(2990n, 0n)],
  ['a closed dispute with a later request for evidence', [taken, raised, closed, sentBack], owed(2990n, 0n)],
  [
    'a dispute won, sent back for evidence, then closed',
    [taken, won, sentBack, notified('dispute.outcome', 58, { outcome: 'closed' })],
    owed(2990n, 0n),
  ],
  ['a dispute closed, sent back for evidence, then lost', [taken, closed, sentBack, lostAfterwards], owed(0n, 2990n)],
  ['two disputes of more than the payment', [taken, partLost, second, refund(1, 500n, 500n)], owed(0n, 2490n)],
  ['two lost disputes with one later win', [taken, partLost, second, won], owed(1790n, 1200n)],
  [
    'an alert answered with a refund and a dispute lost anyway',
    [taken, alertRaised, alertHandled, refund(1, 2990n, 2990n), lost],
    owed(0n, 0n),
  ],
  [
    'two lost disputes, a win and a refund',
    [taken, raised, lost, won, refund(1, 1000n, 1000n), second],
    owed(790n, 1200n),
  ],
];

it.each(SCENARIOS)('the ledger ends in the same state in every order of the events: %s', (_, events, wanted) => {
  const first = ended(events);
  for (const order of permutations(events)) {
    const names = order.map((e) => e.name);
    same({ order: names, ...ended(order) }, { order: names, ...first });
  }
  let s = anOpenInvoice();
  for (const e of events) s = e.tell(s, aCtx());
  const { mor_receivable, disputed_payments } = balances(s);
  expect({
    ...(mor_receivable ? { mor_receivable } : {}),
    ...(disputed_payments ? { disputed_payments } : {}),
  }).toEqual(wanted);
});

it('each further outcome of a dispute books its own ledger entry', () => {
  let s = anOpenInvoice();
  for (const e of [taken, lost, won, lostAfterwards]) s = e.tell(s, aCtx());
  const dispute = s.objects.find((o) => o.kind === 'dispute')?.id ?? '';
  expect(s.entries.filter((e) => e.reason.startsWith('dispute_'))).toMatchObject([
    { reason: 'dispute_lost', subject: dispute, amount: { minor: 2990n } },
    {
      reason: 'dispute_reversed',
      subject: `${dispute}:2`,
      debit: 'mor_receivable',
      credit: 'disputed_payments',
      amount: { minor: 2990n },
    },
    { reason: 'dispute_lost', subject: `${dispute}:3`, amount: { minor: 2990n } },
  ]);
});

it('Crossbill refuses to refund money of a lost dispute, and a later win allows the refund', () => {
  const asking = (amount: bigint | null) => ({ amount, reason: null, metadata: null, by: 'ops' });
  let s = anOpenInvoice();
  for (const e of [taken, partLost]) s = e.tell(s, aCtx());
  const row = s.payments[0]?.id ?? '';
  expect(askRefund(s, row, asking(1000n), aCtx())).toMatchObject({
    ok: false,
    status: 400,
    code: 'invalid_request',
    field: 'amount',
    message: expect.stringMatching(/at most 9\.90 EUR\. The bank took 20\.00 EUR/),
  });
  expect(askRefund(s, row, asking(null), aCtx())).toMatchObject({ ok: true, value: { amount: 990n } });
  const allLost = second.tell(s, aCtx());
  expect(askRefund(allLost, row, asking(1n), aCtx())).toMatchObject({
    ok: false,
    status: 422,
    code: 'payment_not_refundable',
    message: 'The bank took 29.90 EUR of this payment: a dispute was lost. Nothing is left to refund.',
  });
  expect(askRefund(won.tell(s, aCtx()), row, asking(null), aCtx())).toMatchObject({
    ok: true,
    value: { amount: 2990n },
  });
});

it('if the MoR wins a dispute after an operator dismissed the item about the loss, a review item about the win opens', () => {
  let s = anOpenInvoice();
  for (const e of [taken, lost]) s = e.tell(s, aCtx());
  const item = open(s).find((r) => r.subject === 'dp_1:lost');
  const dealt = {
    ...s,
    reviews: s.reviews.map((r) =>
      r.id === item?.id ? { ...r, status: 'resolved' as const, resolution: 'dismiss' as const } : r,
    ),
  };
  expect(open(won.tell(dealt, aCtx()))).toMatchObject([
    { kind: 'dispute', subject: 'dp_1:won', fact: { code: 'won-after-loss', reversed: true, beside: false } },
  ]);
  expect(open(won.tell(s, aCtx()))).toEqual([]);
});

it("a request for evidence after a dispute's outcome opens a review item with the deadline of the request", () => {
  for (const [outcome, subjects] of [
    [lost, ['dp_1:lost', 'dp_1:revision']],
    [won, ['dp_1:revision']],
    [closed, ['dp_1:revision']],
  ] as const) {
    let s = anOpenInvoice();
    for (const e of [taken, outcome, sentBack]) s = e.tell(s, aCtx());
    expect(
      open(s)
        .map((r) => r.subject)
        .sort(),
    ).toEqual(subjects);
    expect(open(s).find((r) => r.subject === 'dp_1:revision')?.dueAt).toEqual(new Date('2026-12-05T00:00:00Z'));
    s = notified('dispute.outcome', 59, { outcome: 'won' }).tell(s, aCtx());
    expect(open(s)).toEqual([]);
  }
});

it('Crossbill moves the loss of a dispute in the ledger to the disputed payment as soon as the payment is known', () => {
  const other = payment('other', {
    type: 'payment.succeeded',
    at: at(1),
    paymentId: 'pay_2',
    processorChargeId: 'ch_2',
    processorPaymentIntentId: 'pi_2',
  });
  const aboutOther = notified('dispute.outcome', 40, { outcome: 'lost', paymentId: 'pay_2' });
  for (const order of permutations([taken, aboutOther, other])) {
    let s = anOpenInvoice();
    for (const e of order) s = e.tell(s, aCtx());
    const booked = (id: string): bigint =>
      s.entries
        .filter(
          (e) => e.paymentRowId === s.payments.find((p) => p.paymentId === id)?.id && e.reason.startsWith('dispute_'),
        )
        .reduce((sum, e) => sum + (e.reason === 'dispute_lost' ? e.amount.minor : -e.amount.minor), 0n);
    expect([booked('pay_1'), booked('pay_2')]).toEqual([0n, 2990n]);
  }
});
