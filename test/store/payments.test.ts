// A refund without an invoice and one charge, in a real PostgreSQL.
import { describe, expect, it } from '@jest/globals';
import { type Delivery } from '../../src/shared/domain/ports/inbox.js';
import { EventsRepository } from '../../src/core/events/events.repository.js';
import { eventParser } from '../../src/core/events/event-parser.js';
import { toDelivery } from '../../src/frames/intake/deliveries.js';
import { identifyPayment } from '../../src/core/books/rules/identify-payment.js';
import { completeSignup } from '../support/rigs/complete-signup.js';
import { COMPLETION, INVOICE_ID, aPaymentSucceeded, aRefund, anInvoice } from '../support/builders/events.js';
import { balances, openKinds } from '../support/rigs/lane-harness.js';
import { type LaneOnPostgres, laneForEach } from '../support/rigs/lane-on-postgres.js';
import { resolveReview, asCommand } from '../support/rigs/decide.js';

// A refund without an invoice, such as a signup's: it finds its invoice by its other names, and counts once.
describe('A refund without an invoice', () => {
  let x: LaneOnPostgres;
  laneForEach((opened) => {
    x = opened;
    x.harness.platform.put(anInvoice({ billingReason: 'subscription_create' }));
    x.harness.gateway.charges.add('ch_pay_oak');
  });

  /** As the payments endpoint takes it in. */
  function atEndpoint(delivery: Delivery): Delivery {
    return toDelivery(eventParser.delivered('mor_payments', delivery.body), delivery.body, x.harness.clock.now());
  }

  /** Refund `count` of the signup's payment, with the running total `total`; `invoiceId` is empty by default. */
  function refunded(count: number, total: number, over: { eventId?: string; invoiceId?: string } = {}): Delivery {
    const eventId = over.eventId ?? `evt_r${count}`;
    return atEndpoint(aRefund({ invoiceId: '', ...over, eventId, refundId: `rfnd_${count}`, amount: 300, total }));
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

  it('a refund of a completed signup counts once and shows once on Stripe, however many events report the refund', async () => {
    await complete();
    await x.harness.idle();
    await x.harness.take(refunded(1, 300), refunded(1, 300));
    expect(await shown()).toEqual(once);
    await x.harness.take(refunded(1, 300), refunded(1, 300, { eventId: 'evt_again' }));
    await x.harness.take(refunded(1, 300, { eventId: 'evt_named', invoiceId: INVOICE_ID }));
    await x.harness.idle();
    expect(await shown()).toEqual(once);
    expect(await items()).toEqual([]);
  });

  it("a refund before its signup's completion opens a review item, and counts after the completion", async () => {
    await x.harness.take(refunded(1, 300), refunded(1, 300));
    await x.harness.idle(1);
    expect(await items()).toEqual([{ kind: 'conflicting_event', subject: 'evt_r1', status: 'open', resolution: null }]);
    await complete();
    await x.harness.idle();
    expect(await shown()).toEqual(once);
    expect(await items()).toMatchObject([{ status: 'resolved', resolution: 'cleared' }]);
  });

  it("a retry of a refund event closes the review item after Crossbill learns the signup's invoice", async () => {
    await x.harness.take(refunded(1, 300));
    await x.harness.idle(1);
    await complete();
    expect(await new EventsRepository(x.db, x.harness.clock).retry('ie_1')).toBe('ie_1');
    await x.harness.idle();
    expect(await shown()).toEqual(once);
    expect(await items()).toMatchObject([{ status: 'resolved', resolution: 'cleared' }]);
  });

  it('refunds with and without an invoice id add up on their payment', async () => {
    await complete();
    await x.harness.idle();
    await x.harness.take(refunded(2, 600));
    await x.harness.take(refunded(1, 300, { invoiceId: INVOICE_ID }), refunded(3, 900));
    await x.harness.idle();
    const refunds = ['rfnd_1', 'rfnd_2', 'rfnd_3'];
    expect(await shown()).toEqual({ payments: [['pay_oak', 'confirmed', 900n]], refunds, notes: 3, open: [] });
  });

  it('a refund event without an invoice id finds the payment that an earlier event named', async () => {
    await x.harness.take(aPaymentSucceeded());
    await x.harness.take(refunded(1, 300));
    await x.harness.idle();
    expect(await shown()).toEqual(once);
  });

  it('a refund of an unknown payment opens a review item and moves no money in the ledger', async () => {
    await x.harness.take(refunded(1, 300), refunded(2, 600));
    await x.harness.idle(24 * 8);
    expect(await items()).toMatchObject([
      { kind: 'conflicting_event', subject: 'evt_r1', status: 'open' },
      { kind: 'conflicting_event', subject: 'evt_r2', status: 'open' },
    ]);
    const books = await x.db.pool.query('select 1 from ledger_entry union all select 1 from payment');
    expect(books.rowCount).toBe(0);
    const events = await x.db.pool.query('select distinct lane, status from inbox_event');
    expect(events.rows).toEqual([{ lane: 'mor:pay_oak', status: 'done' }]);
  });

  it('a refund event without an invoice id, stored by an older release, stays parked at a retry and creates no invoice', async () => {
    const lane = 'event:mor_payments:evt_r1';
    await x.harness.take({ ...refunded(1, 300), lane });
    const events = await x.db.pool.query('select status, reason from inbox_event');
    expect(events.rows).toEqual([{ status: 'parked', reason: 'merchant_invoice_id is missing or not a usable id' }]);
    expect((await x.harness.state(lane)).invoice).toBeNull();
  });

  it('the payments endpoint parks a payment.succeeded event without an invoice id', () => {
    expect(atEndpoint(aPaymentSucceeded({ invoiceId: '' }))).toMatchObject({
      status: 'parked',
      lane: expect.stringMatching(/^event:/),
    });
  });
});

// One charge is one sum of money: the database holds it to one payment, for any number of invoices naming it.
describe('One charge', () => {
  let x: LaneOnPostgres;
  laneForEach((opened) => {
    x = opened;
    x.harness.platform.put(anInvoice());
    x.harness.platform.put(anInvoice({ invoiceId: 'in_elm' }));
  });

  const second = () =>
    aPaymentSucceeded({ invoiceId: 'in_elm', paymentId: 'pay_elm', eventId: 'evt_elm', chargeId: 'ch_1' });

  it('when the MoR reports one charge for two invoices, Crossbill books the charge once, and a review item names both', async () => {
    const { harness } = x;
    await harness.take(aPaymentSucceeded({ chargeId: 'ch_1' }));
    await harness.take(second());
    expect(harness.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
    const elm = await harness.state('in_elm');
    expect(elm.entries).toEqual([]);
    expect(elm.payments).toMatchObject([{ paymentId: 'pay_elm', mark: 'parked', succeededAt: null }]);
    const [item] = elm.reviews;
    expect(item).toMatchObject({ kind: 'double_payment', status: 'open', invoiceId: 'in_elm' });
    const fact = { payment: 'pay_elm', charge: 'ch_1', holder: 'pay_oak', holderInvoice: INVOICE_ID };
    expect(item?.fact).toMatchObject({ code: 'charge-elsewhere', ...fact });
    const { rows } = await x.db.pool.query(`select distinct status from inbox_event`);
    expect(rows).toEqual([{ status: 'done' }]);

    // Reported again, it is still one item.
    await harness.take(
      aPaymentSucceeded({ invoiceId: 'in_elm', paymentId: 'pay_elm', eventId: 'evt_more', chargeId: 'ch_1' }),
    );
    expect((await harness.state('in_elm')).reviews).toHaveLength(1);
    expect(balances(await harness.state(INVOICE_ID))).toEqual({ mor_receivable: 1000n, settled_invoices: -1000n });
  });

  it("if the MoR reports one charge for two invoices, the review item names the first payment's MoR id, even if an operator entered the id", async () => {
    const { harness } = x;
    harness.platform.put(anInvoice({ billingReason: 'subscription_create' }));
    harness.gateway.charges.add(COMPLETION.chargeId);
    await harness.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
    await harness.idle();
    const [p] = (await harness.state(INVOICE_ID)).payments;
    expect(p).toMatchObject({ mark: 'confirmed', paymentId: null });
    const name = asCommand((lane) => identifyPayment(lane, p?.id ?? '', 'pay_first', 'ops'));
    await harness.command(INVOICE_ID, name);
    const twin = { invoiceId: 'in_elm', paymentId: 'pay_elm', eventId: 'evt_elm', chargeId: COMPLETION.chargeId };
    await harness.take(aPaymentSucceeded(twin));
    const [item] = (await harness.state('in_elm')).reviews;
    expect(item?.fact).toMatchObject({ payment: 'pay_elm', holder: 'pay_first', holderInvoice: INVOICE_ID });
  });

  it('when two simultaneous events report one charge for two invoices, Crossbill books the charge once and opens a review item', async () => {
    const { harness } = x;
    await harness.take(aPaymentSucceeded({ chargeId: 'ch_1' }), second());
    const both = [await harness.state(INVOICE_ID), await harness.state('in_elm')];
    expect(both.map((s) => s.entries.filter((e) => e.reason === 'payment_collected').length).sort()).toEqual([0, 1]);
    expect(both.flatMap((s) => s.reviews.map((r) => r.kind))).toEqual(['double_payment']);
    expect(harness.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
  });

  it('an operator cannot mark a second invoice paid with a used charge, and may dismiss the review item', async () => {
    const { harness } = x;
    await harness.take(aPaymentSucceeded({ chargeId: 'ch_1' }));
    await harness.take(second());
    const [item] = (await harness.state('in_elm')).reviews;
    const choose = (resolution: 'retry' | 'dismiss') =>
      harness.command('in_elm', (s, ctx) =>
        resolveReview(s, item?.id ?? '', { resolution, note: 'n', by: 'ops' }, ctx),
      );
    expect(await choose('retry')).toMatchObject({ ok: false, status: 409, code: 'resolution_not_available' });
    expect(await choose('dismiss')).toMatchObject({ ok: true });
    await harness.idle();
    const elm = await harness.state('in_elm');
    expect(elm.payments).toMatchObject([{ mark: 'closed', status: 'failed', succeededAt: null }]);
    expect(elm.invoice?.status).toBe('open');
    expect(elm.reviews).toMatchObject([{ status: 'resolved', resolution: 'dismiss' }]);
    expect(harness.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
  });
});
