// Order of arrival does not change the end (G8): every permutation of one invoice's events, and random ones with duplicates.
import { it } from '@jest/globals';
import fc from 'fast-check';
import { type InvoiceFacts } from '../../../src/shared/domain/ports/billing-platform.js';
import { type Delivery } from '../../../src/shared/domain/ports/inbox.js';
import { type DecisionSettings } from '../../../src/shared/domain/settings.js';
import {
  aPaymentFailed,
  aPaymentSucceeded,
  aRefund,
  aRequiredAction,
  INVOICE_ID,
  invoiceEvent,
  START,
} from '../../support/builders/events.js';
import { balances, LaneHarness, openKinds } from '../../support/rigs/lane-harness.js';
import { same } from '../../support/same.js';

const later = (sec: number): Date => new Date(START.getTime() + sec * 1000);
const created = invoiceEvent('invoice.created', { at: later(0) });
const finalized = invoiceEvent('invoice.finalized', { at: later(10) });
const paidEvent = invoiceEvent('invoice.paid', { at: later(300) });
const voided = invoiceEvent('invoice.voided', { at: later(200) });
const failedFirst = aPaymentFailed({ at: later(20) });
const action = aRequiredAction({ at: later(30) });
const succeeded = aPaymentSucceeded({ at: later(40) });
const lateFailed = aPaymentFailed({ at: later(60), eventId: 'evt_late' });
const refund1 = aRefund({ refundId: 'rfnd_1', amount: 300, total: 300, at: later(100) });
const refund2 = aRefund({ refundId: 'rfnd_2', amount: 400, total: 700, at: later(110) });
const refund3 = aRefund({ refundId: 'rfnd_3', amount: 300, total: 1000, at: later(120) });
const refundAll = aRefund({ refundId: 'rfnd_all', amount: 1000, total: 1000, at: later(100) });
const second = aPaymentSucceeded({ paymentId: 'pay_elm', at: later(50) });
const part = aPaymentSucceeded({ amount: 600, at: later(40) });
const foreign = aPaymentSucceeded({ customerId: 'cus_other', at: later(40) });

function permutations<T>(all: readonly T[]): T[][] {
  if (all.length <= 1) return [[...all]];
  return all.flatMap((one, k) => permutations(all.filter((_, n) => n !== k)).map((remaining) => [one, ...remaining]));
}

type Way = { readonly facts?: Partial<InvoiceFacts>; readonly settings?: Partial<DecisionSettings> };

async function ended(events: readonly Delivery[], way: Way, allAtOnce: boolean): Promise<object> {
  const h = LaneHarness.withInvoice(way.facts, { settings: way.settings ?? {} });
  if (allAtOnce) await h.deliver(...events);
  else for (const e of events) await h.take(e);
  await h.idle(20);
  const s = await h.state(INVOICE_ID);
  same(h.platform.clashes, []);
  // Nothing is under way: only money that waits for a person may stand on a clearing account.
  const remaining = balances(s);
  const waits = s.payments.some((p) => p.mark === 'parked' || p.mark === 'held');
  if (!waits) same([remaining['unmarked_payments'], remaining['unmirrored_refunds']], [undefined, undefined]);
  for (const p of s.payments) same(p.amount === null || p.amountRefunded <= p.amount, true);
  return {
    status: s.invoice?.status,
    platform: h.platform.invoices.get(INVOICE_ID)?.status,
    payments: s.payments
      .map(
        (p) =>
          `${p.mark} ${p.status} ${p.amount} ${p.amountRefunded} ${p.refundedTotal} ${p.failureMessage} ${p.declineCode}`,
      )
      .sort(),
    refunds: s.refunds.map((r) => `${r.morRefundId} ${r.status} ${r.amount} ${r.counted} ${r.mirror}`).sort(),
    reviews: openKinds(s),
    attempts: s.attempts.map((a) => a.eventId).sort(),
    effects: Object.entries(h.platform.effects).sort(),
    ledger: Object.entries(remaining).sort(),
  };
}

const SCENARIOS: [string, Delivery[], Way][] = [
  ['a plain renewal', [created, finalized, succeeded, paidEvent], {}],
  [
    'failed, then authentication, then success, and a late failure',
    [created, failedFirst, action, succeeded, lateFailed],
    {},
  ],
  ['a renewal never paid', [created, finalized, failedFirst, action], {}],
  ['three partial refunds', [succeeded, refund1, refund2, refund3, lateFailed], {}],
  ['two of three partial refunds: one event is missing', [succeeded, refund1, refund3, failedFirst], {}],
  ['refunds of a payment nobody reported', [failedFirst, refund1, refund2, refund3], {}],
  ['a full refund after the payment', [created, finalized, succeeded, refundAll, paidEvent], {}],
  ['a void invoice', [created, finalized, voided, succeeded, lateFailed], { facts: { status: 'void' } }],
  [
    'a void invoice with a payment refunded in three parts',
    [created, voided, succeeded, refund1, refund2, refund3],
    { facts: { status: 'void' } },
  ],
  [
    'a draft finalized by Crossbill',
    [created, succeeded, refund1],
    { facts: { status: 'draft' }, settings: { draftPolicy: 'finalize' } },
  ],
  ['a draft that stays a draft', [created, failedFirst, succeeded, refund1], { facts: { status: 'draft' } }],
  ['a payment of another amount', [created, finalized, part, lateFailed], {}],
  ['a payment of another customer', [created, finalized, foreign, lateFailed], {}],
  [
    'an out-of-band mark with two refunds',
    [created, succeeded, refund1, refund2, paidEvent],
    { settings: { markMode: 'out_of_band' } },
  ],
  ['two different payments', [created, finalized, succeeded, second, lateFailed], {}],
  ['six events of one renewal', [created, finalized, failedFirst, succeeded, lateFailed, refund1], {}],
];

it.each(SCENARIOS)(
  'the events of an invoice lead to the same end in every order of arrival: %s',
  async (_, events, way) => {
    const wanted = await ended(events, way, false);
    for (const order of permutations(events)) {
      for (const atOnce of [false, true]) {
        const got = await ended(order, way, atOnce);
        const ids = order.map((e) => e.eventId);
        same({ order: ids, atOnce, ...got }, { order: ids, atOnce, ...wanted });
      }
    }
  },
);

const POOL = [created, finalized, failedFirst, action, succeeded, lateFailed, refund1, refund2, refund3, paidEvent];
it('any subset of an invoice’s events, in any order and with duplicates, has the same result as in the order of creation', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: POOL.length - 1 }), { minLength: 1, maxLength: 14 }),
      fc.constantFrom<Way>({}, { settings: { markMode: 'out_of_band' } }, { facts: { status: 'uncollectible' } }),
      fc.boolean(),
      async (picked, way, atOnce) => {
        const order = picked.flatMap((n) => POOL[n] ?? []);
        const inOrder = [...new Set(picked)].sort((a, b) => a - b).flatMap((n) => POOL[n] ?? []);
        same(await ended(order, way, atOnce), await ended(inOrder, way, false));
      },
    ),
    { numRuns: 300 },
  );
});

it('Crossbill makes each change on Stripe only once, for any events in any order and after a crash at any point', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray([created, finalized, failedFirst, succeeded, refund1, refund2], { minLength: 2 }),
      fc.integer({ min: 1, max: 12 }),
      async (order, dieBefore) => {
        const h = LaneHarness.withInvoice();
        h.repository.dieBefore = dieBefore;
        for (const e of order) await h.take(e);
        await h.idle(20);
        const has = (delivery: Delivery): boolean => order.includes(delivery);
        const mirrored = [refund1, refund2].filter((e) => has(e) && has(succeeded)).length;
        const once = (kind: string, count: number): [string, number][] => (count === 0 ? [] : [[kind, count]]);
        same(Object.entries(h.platform.effects).sort(), [
          ...once('attach_payment', has(succeeded) ? 1 : 0),
          ...once('issue_credit_note', mirrored),
          ...once('report_payment', has(succeeded) ? 1 : 0),
          ...once('report_refund', mirrored),
        ]);
      },
    ),
    { numRuns: 200 },
  );
});
