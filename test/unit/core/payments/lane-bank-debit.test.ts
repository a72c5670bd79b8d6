// Bank debits: a signup's is not believed before it is settled, a renewal's is waited for, and either may come back.
import { expect, it } from '@jest/globals';
import { chooseItem } from '../../../support/rigs/choose-item.js';
import { completeSignup } from '../../../support/rigs/complete-signup.js';
import { type Resolution } from '../../../../src/shared/domain/review-row.js';
import {
  anInvoice,
  aPaymentFailed,
  aPaymentSucceeded,
  COMPLETION,
  CUSTOMER_ID,
  INVOICE_ID,
  invoiceEvent,
  START,
} from '../../../support/builders/events.js';
import { LaneHarness, type MemoryLaneRepository, openKinds, balances } from '../../../support/rigs/lane-harness.js';

const DAY_HOURS = 24;

/** A completed signup whose debit the MoR calls pending. */
async function onItsWay(hours = 1): Promise<LaneHarness> {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ billingReason: 'subscription_create', createdAt: h.clock.now() }));
  h.gateway.pendingCharges.add('ch_first');
  await h.take(
    invoiceEvent('invoice.created', { status: 'open', billingReason: 'subscription_create', createdAt: h.clock.now() }),
  );
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
  await h.idle(hours);
  return h;
}

async function shown(harness: LaneHarness): Promise<object> {
  const s = await harness.state(INVOICE_ID);
  return {
    invoice: s.invoice?.status,
    payments: s.payments.map((p) => [p.status, p.mark]),
    records: harness.platform.records.length,
    collected: s.entries.map((e) => e.reason).filter((r) => r === 'payment_collected').length,
    open: openKinds(s),
  };
}

it('while a signup’s bank debit is pending, Crossbill asks the MoR at growing pauses and books and marks nothing', async () => {
  const h = await onItsWay(10);
  expect(await shown(h)).toEqual({
    invoice: 'open',
    payments: [['processing', 'proving']],
    records: 0,
    collected: 0,
    open: [],
  });
  const { asked } = h.gateway;
  expect(asked.length).toBeGreaterThan(20);
  expect(asked.length).toBeLessThan(40);
  const before = asked.length;
  await h.idle(3);
  expect(asked.length - before).toBeGreaterThanOrEqual(2);
  expect(asked.length - before).toBeLessThanOrEqual(4);
});

it('as soon as a signup’s bank debit settles, Crossbill marks the invoice paid once', async () => {
  const h = await onItsWay(10);
  h.gateway.pendingCharges.clear();
  h.gateway.charges.add('ch_first');
  await h.idle(2);
  expect(await shown(h)).toMatchObject({
    invoice: 'paid',
    payments: [['succeeded', 'confirmed']],
    records: 1,
    open: [],
  });
});

it('an unsettled bank debit opens a review item five hours before Stripe ends the subscription; settlement closes the item', async () => {
  const h = await onItsWay(17.5);
  expect(await shown(h)).toMatchObject({ open: [] });
  await h.idle(1.5);
  const [item] = (await h.state(INVOICE_ID)).reviews;
  expect(item).toMatchObject({
    kind: 'signup_overdue',
    status: 'open',
    fact: { code: 'charge-unsettled' },
  });
  const made = (await h.state(INVOICE_ID)).invoice?.platformCreatedAt?.getTime() ?? 0;
  expect(item?.dueAt?.getTime()).toBe(made + 23 * 3_600_000);
  expect(await shown(h)).toMatchObject({ invoice: 'open', records: 0 });
  h.gateway.pendingCharges.clear();
  h.gateway.charges.add('ch_first');
  await h.idle(2);
  expect(await shown(h)).toMatchObject({ invoice: 'paid', records: 1, open: [] });
});

it('a bank debit settled after Stripe voided the signup’s invoice opens the item invoice_not_payable', async () => {
  const h = await onItsWay(24);
  h.platform.put(anInvoice({ billingReason: 'subscription_create', status: 'void' }));
  await h.take(invoiceEvent('invoice.voided', { billingReason: 'subscription_create', at: h.clock.now() }));
  expect(await shown(h)).toMatchObject({ invoice: 'void', payments: [['processing', 'proving']] });
  h.gateway.pendingCharges.clear();
  h.gateway.charges.add('ch_first');
  await h.idle(2);
  expect(await shown(h)).toEqual({
    invoice: 'review',
    payments: [['succeeded', 'parked']],
    records: 0,
    collected: 1,
    open: ['invoice_not_payable'],
  });
});

it('a bank debit no longer known to the MoR counts as failed, and opens a review item', async () => {
  const h = await onItsWay(10);
  h.gateway.pendingCharges.clear();
  await h.idle(2);
  const s = await h.state(INVOICE_ID);
  expect(s.reviews).toMatchObject([{ kind: 'signup_unproven', fact: { code: 'charge-unknown' } }]);
  expect(await shown(h)).toMatchObject({ payments: [['failed', 'parked']], records: 0, collected: 0 });
});

it('Crossbill asks the MoR no more about a bank debit after the MoR reports its failure', async () => {
  const h = await onItsWay(10);
  const before = h.gateway.asked.length;
  await h.take(
    aPaymentFailed({ at: h.clock.now(), intentId: 'pi_first', paymentId: 'pay_s', declineCode: 'no_account' }),
  );
  expect(await shown(h)).toMatchObject({
    invoice: 'review',
    payments: [['failed', 'parked']],
    open: ['signup_unproven'],
  });
  await h.idle(48);
  expect(h.gateway.asked.length).toBe(before);
  // The MoR reports a second try of the customer: it is money as well.
  const paid = { intentId: 'pi_first', paymentId: 'pay_s', chargeId: 'ch_second', at: h.clock.now() };
  await h.take(aPaymentSucceeded({ ...paid, eventId: 'evt_second' }));
  await h.idle(1);
  expect(await shown(h)).toMatchObject({
    invoice: 'paid',
    payments: [['succeeded', 'confirmed']],
    records: 1,
    open: [],
  });
  expect(h.platform.records).toMatchObject([{ reference: 'ch_second' }]); // not the charge that failed
});

it('a late event about an earlier failed try leaves a pending bank debit unproven, not failed', async () => {
  const h = LaneHarness.withInvoice({ billingReason: 'subscription_create' });
  h.gateway.pendingCharges.add('ch_first');
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
  const at = new Date(h.clock.now().getTime() - 60_000);
  await h.take(aPaymentFailed({ at, intentId: 'pi_first', paymentId: 'pay_s' }));
  expect(await shown(h)).toMatchObject({ payments: [['processing', 'proving']], open: [] });
});

it.each<[Resolution, string, string]>([
  ['apply', 'succeeded', 'confirmed'],
  ['retry', 'processing', 'proving'],
  ['dismiss', 'failed', 'closed'],
])(
  'a bank debit pending for ten days opens an item; the operator’s choice %s gives the payment the status %s and the mark status %s',
  async (resolution, status, mark) => {
    const h = await onItsWay(9.9 * DAY_HOURS);
    expect(await shown(h)).toMatchObject({ open: ['signup_overdue'] });
    await h.idle(6);
    expect(await shown(h)).toMatchObject({
      payments: [['processing', 'parked']],
      open: ['signup_unproven'],
      records: 0,
    });
    await chooseItem(h, resolution);
    await h.idle(6);
    expect(await shown(h)).toMatchObject({ payments: [[status, mark]], records: mark === 'confirmed' ? 1 : 0 });
  },
);

async function late(debit: boolean, hours: number): Promise<LaneHarness> {
  const h = LaneHarness.inMemory();
  if (debit) (h.backend.repository as MemoryLaneRepository).debtors.add(CUSTOMER_ID);
  h.platform.put(anInvoice());
  await h.take(invoiceEvent('invoice.created'));
  await h.idle(hours);
  return h;
}

it.each([
  [false, 23, []],
  [false, 25, ['renewal_overdue']],
  [true, 25, []],
  [true, 239, []],
  [true, 241, ['renewal_overdue']],
])('a renewal (paid by bank debit: %s) has after %d hours the open items %j', async (debit, hours, open) => {
  const h = await late(debit, hours);
  expect(openKinds(await h.state(INVOICE_ID))).toEqual(open);
});

// A payment that the MoR calls taken, and failed after that: a returned debit may be told so.
const DAY_MS = 86_400_000;
const succeeded = aPaymentSucceeded({ at: new Date(START.getTime() + 5 * DAY_MS) });
const failedOn = (day: number): ReturnType<typeof aPaymentFailed> =>
  aPaymentFailed({
    at: new Date(START.getTime() + day * DAY_MS),
    eventId: 'evt_failed',
    declineCode: 'debit_returned',
  });

it.each([
  ['succeeded first', [succeeded, failedOn(20)]],
  ['failed first', [failedOn(20), succeeded]],
])(
  'a bank debit collected on day 5 and refused on day 20 leaves the renewal paid, and opens one review item (%s)',
  async (_order, events) => {
    const h = LaneHarness.withInvoice();
    for (const e of [...events, ...events]) await h.take(e);
    await h.idle();
    const s = await h.state(INVOICE_ID);
    expect(s.payments).toMatchObject([{ mark: 'confirmed', status: 'succeeded' }]);
    expect(balances(s)['unmarked_payments']).toBeUndefined();
    expect(s.reviews).toMatchObject([{ kind: 'conflicting_event', paymentRowId: s.payments[0]?.id, status: 'open' }]);
    expect(s.reviews[0]?.fact).toMatchObject({ code: 'refused-after', reason: 'debit_returned' });
  },
);

it.each([
  ['succeeded first', [succeeded, failedOn(4)]],
  ['failed first', [failedOn(4), succeeded]],
])('a bank debit refused on day 4 and collected on day 5 opens no review item (%s)', async (_order, events) => {
  const h = LaneHarness.withInvoice();
  for (const e of events) await h.take(e);
  await h.idle();
  expect(openKinds(await h.state(INVOICE_ID))).toEqual([]);
});

const again = (chargeId: string): Promise<object[]> =>
  notified(aPaymentSucceeded(), aPaymentSucceeded({ eventId: 'evt_again', chargeId }));

async function notified(...events: Parameters<LaneHarness['deliver']>): Promise<object[]> {
  const h = LaneHarness.withInvoice();
  for (const e of events) await h.take(e);
  await h.idle();
  const s = await h.state(INVOICE_ID);
  expect(h.platform.records.length).toBe(1);
  return s.reviews.map((r) => ({ kind: r.kind, fact: r.fact }));
}

it('a repeated payment.succeeded event with a different charge opens a review item with both charges', async () => {
  const observations = [{ charge: 'ch_other' }, { charge: 'ch_pay_oak' }];
  expect(await again('ch_other')).toMatchObject([
    { kind: 'conflicting_event', fact: { code: 'success-differs', payment: 'pay_oak', observations } },
  ]);
});
