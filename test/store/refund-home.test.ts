// A refund that names no invoice, as of a signup's payment: it finds its invoice by what else it names, and counts once.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { completeSignup } from '../../src/signups/rules/complete-signup.js';
import { type Delivery } from '../../src/domain/ports/inbox.js';
import { doors, toDelivery } from '../../src/intake/deliveries.js';
import { EventsStore } from '../../src/events/events.store.js';
import { aPaymentSucceeded, anInvoice, aRefund, COMPLETION, INVOICE_ID } from '../support/builders.js';
import { openKinds } from '../support/lane-harness.js';
import { laneOnPostgres, type LaneOnPostgres } from '../support/lane-on-postgres.js';

let x: LaneOnPostgres;
beforeEach(async () => {
  x = await laneOnPostgres();
  x.harness.platform.put(anInvoice({ billingReason: 'subscription_create' }));
  x.harness.gateway.charges.add('ch_pay_oak');
});
afterEach(() => x.close());

/** As the payments door takes it in. */
function atDoor(d: Delivery): Delivery {
  const door = doors.find((one) => one.source === 'mor_payments');
  if (door === undefined) throw new Error('there is no payments door');
  return toDelivery(door, d.body, x.harness.clock.now());
}

/** Refund `n` of the signup's payment, whose running total is `total`; `invoiceId` is empty unless said. */
function refunded(n: number, total: number, over: { eventId?: string; invoiceId?: string } = {}): Delivery {
  const eventId = over.eventId ?? `evt_r${n}`;
  return atDoor(aRefund({ invoiceId: '', ...over, eventId, refundId: `rfnd_${n}`, amount: 300, total }));
}

async function complete(): Promise<void> {
  const completion = { ...COMPLETION, paymentIntentId: 'pi_pay_oak', chargeId: 'ch_pay_oak' };
  await x.harness.command(INVOICE_ID, (s, ctx) => completeSignup(s, completion, ctx));
}

async function shown(): Promise<object> {
  const s = await x.harness.state(INVOICE_ID);
  return {
    payments: s.payments.map((p) => [p.paymentId, p.mark, p.amountRefunded]),
    refunds: s.refunds.map((r) => r.morRefundId).sort(),
    notes: x.harness.platform.notes.length,
    open: openKinds(s),
  };
}

async function items(): Promise<readonly object[]> {
  const found = await x.db.pool.query<object>('select kind, subject, status, resolution from review order by seq');
  return found.rows;
}

const once = { payments: [['pay_oak', 'confirmed', 300n]], refunds: ['rfnd_1'], notes: 1, open: [] };

describe('a refund without an invoice', () => {
  it('of a completed signup is recorded and mirrored once, however often and under whatever event it is told', async () => {
    await complete();
    await x.harness.rest();
    await x.harness.take(refunded(1, 300), refunded(1, 300));
    expect(await shown()).toEqual(once);
    await x.harness.take(refunded(1, 300), refunded(1, 300, { eventId: 'evt_again' }));
    await x.harness.take(refunded(1, 300, { eventId: 'evt_named', invoiceId: INVOICE_ID }));
    await x.harness.rest();
    expect(await shown()).toEqual(once);
    expect(await items()).toEqual([]);
  });

  it('that comes before the completion is shown to a person, and takes its place once the signup is completed', async () => {
    await x.harness.take(refunded(1, 300), refunded(1, 300));
    await x.harness.rest(1);
    expect(await items()).toEqual([{ kind: 'conflicting_event', subject: 'evt_r1', status: 'open', resolution: null }]);
    await complete();
    await x.harness.rest();
    expect(await shown()).toEqual(once);
    expect(await items()).toMatchObject([{ status: 'resolved', resolution: 'cleared' }]);
  });

  it('that a person tries again once its invoice is known closes its item too', async () => {
    await x.harness.take(refunded(1, 300));
    await x.harness.rest(1);
    await complete();
    expect(await new EventsStore(x.db, x.harness.clock, x.harness.ids).retry('ie_1')).toBe('ie_1');
    await x.harness.rest();
    expect(await shown()).toEqual(once);
    expect(await items()).toMatchObject([{ status: 'resolved', resolution: 'cleared' }]);
  });

  it('adds up with the others, whichever named the invoice', async () => {
    await complete();
    await x.harness.rest();
    await x.harness.take(refunded(2, 600));
    await x.harness.take(refunded(1, 300, { invoiceId: INVOICE_ID }), refunded(3, 900));
    await x.harness.rest();
    const refunds = ['rfnd_1', 'rfnd_2', 'rfnd_3'];
    expect(await shown()).toEqual({ payments: [['pay_oak', 'confirmed', 900n]], refunds, notes: 3, open: [] });
  });

  it('of a payment that its own event named goes to that payment', async () => {
    await x.harness.take(aPaymentSucceeded());
    await x.harness.take(refunded(1, 300));
    await x.harness.rest();
    expect(await shown()).toEqual(once);
  });

  it('of nothing that is known stays with a person, and moves no money here', async () => {
    await x.harness.take(refunded(1, 300), refunded(2, 600));
    await x.harness.rest(24 * 8);
    expect(await items()).toMatchObject([
      { kind: 'conflicting_event', subject: 'evt_r1', status: 'open' },
      { kind: 'conflicting_event', subject: 'evt_r2', status: 'open' },
    ]);
    const books = await x.db.pool.query('select 1 from ledger_entry union all select 1 from payment');
    expect(books.rowCount).toBe(0);
    const events = await x.db.pool.query('select distinct lane, status from inbox_event');
    expect(events.rows).toEqual([{ lane: 'mor:pay_oak', status: 'done' }]);
  });

  it('that an older release parked says why when it is tried again, and makes no invoice of its lane', async () => {
    const lane = 'event:mor_payments:evt_r1';
    await x.harness.take({ ...refunded(1, 300), lane });
    const events = await x.db.pool.query('select status, reason from inbox_event');
    expect(events.rows).toEqual([{ status: 'parked', reason: 'merchant_invoice_id is missing or not a usable id' }]);
    expect((await x.harness.state(lane)).invoice).toBeNull();
  });

  it('is no other event: a success without an invoice is parked at the door', () => {
    expect(atDoor(aPaymentSucceeded({ invoiceId: '' }))).toMatchObject({
      status: 'parked',
      lane: expect.stringMatching(/^event:/),
    });
  });
});
