// Refunds: what the MoR gave back is counted once, never beyond the payment, and shown on the platform once.
import { never } from '../../../support/never.js';
import { chooseItem } from '../../../support/rigs/choose-item.js';
import { expect, it } from '@jest/globals';
import { completeSignup } from '../../../support/rigs/complete-signup.js';
import { type LaneState } from '../../../../src/shared/domain/model.js';
import { refundable } from '../../../../src/shared/domain/status.js';
import { shownStatus } from '../../../../src/core/refunds/refund.view.js';
import { type Delivery } from '../../../../src/shared/domain/ports/inbox.js';
import {
  anInvoice,
  aPaymentFailed,
  aPaymentSucceeded,
  aRefund,
  COMPLETION,
  INVOICE_ID,
} from '../../../support/builders/events.js';
import { type Trouble } from '../../../support/fakes/fake-platform.js';
import { balances, LaneHarness, openKinds } from '../../../support/rigs/lane-harness.js';
import { ask, paid } from '../../../support/builders/paid-lane.js';

const state = (harness: LaneHarness): Promise<LaneState> => harness.state(INVOICE_ID);
const part = (count: number, amount: number, total: number | null): Delivery =>
  aRefund({ refundId: `rfnd_${count}`, amount, total });

async function shows(harness: LaneHarness, refunded: bigint, notes: number): Promise<void> {
  const s = await state(harness);
  expect(s.payments[0]?.amountRefunded).toBe(refunded);
  expect(harness.platform.notes).toHaveLength(notes);
  expect(balances(s)).toEqual(
    refunded === 1000n ? {} : { mor_receivable: 1000n - refunded, settled_invoices: refunded - 1000n },
  );
}

it('three refunds of 3.00, 4.00 and 3.00 EUR give a payment of 10.00 EUR back in full, with three credit notes', async () => {
  const h = await paid();
  await h.take(part(1, 300, 300));
  await h.take(part(2, 400, 700));
  expect((await state(h)).payments[0]?.status).toBe('partially_refunded');
  await h.take(part(3, 300, 1000));
  expect((await state(h)).payments[0]?.status).toBe('refunded');
  expect((await state(h)).invoice?.status).toBe('paid');
  await shows(h, 1000n, 3);
  expect(openKinds(await state(h))).toEqual([]);
});

it('a refund total above the known refunds opens a refund_gap item, and the missing refund event closes the item', async () => {
  const h = await paid();
  await h.take(part(2, 400, 700));
  expect(openKinds(await state(h))).toEqual(['refund_gap']);
  await h.take(part(1, 300, 300));
  expect(openKinds(await state(h))).toEqual([]);
  await h.take(part(4, 100, 1000));
  await h.take(aPaymentSucceeded({ eventId: 'evt_again' })); // one more decision while the gap is open
  expect(openKinds(await state(h))).toEqual(['refund_gap']);
  await h.take(part(3, 200, 900));
  expect(openKinds(await state(h))).toEqual([]);
  await shows(h, 1000n, 4);
});

it('a refund beyond its payment opens a refund_gap item; Crossbill neither counts the refund nor shows it on Stripe', async () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    const events = [part(1, 600, 600), part(2, 500, 1100)];
    const h = await paid();
    for (const n of order) await h.take(events[n] ?? part(0, 1, 1));
    await shows(h, 600n, 1);
    const s = await state(h);
    expect(s.refunds.map((r) => [r.morRefundId, r.counted]).sort()).toEqual([
      ['rfnd_1', true],
      ['rfnd_2', false],
    ]);
    expect(openKinds(s)).toEqual(['refund_gap']);
  }
});

it('a refund in another currency than its payment opens a refund_gap item and does not count, in either order of events', async () => {
  for (const before of [true, false]) {
    const h = LaneHarness.inMemory();
    h.platform.put(anInvoice());
    const refund = aRefund({ amount: 300, total: 300, currency: 'usd' });
    await h.take(...(before ? [refund, aPaymentSucceeded()] : [aPaymentSucceeded(), refund]));
    const s = await state(h);
    expect(s.payments[0]).toMatchObject({ amountRefunded: 0n, currency: 'EUR' });
    expect(s.refunds[0]).toMatchObject({ currency: 'USD', counted: false });
    expect(openKinds(s)).toEqual(['refund_gap']);
    expect(h.platform.notes).toEqual([]);
  }
});

it('Crossbill counts a refund once, even if the MoR sends it again under new event ids', async () => {
  const h = await paid();
  await h.take(part(1, 300, 300));
  await h.take(aRefund({ refundId: 'rfnd_1', eventId: 'evt_other', amount: 300 }));
  await h.take(aRefund({ refundId: null, processorRefundId: 're_rfnd_1', eventId: 'evt_third', amount: 300 }));
  await shows(h, 300n, 1);
  expect((await state(h)).refunds).toHaveLength(1);
});

it('a refund received before its payment waits, and Stripe shows the refund after Crossbill marks the invoice paid', async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  await h.take(part(1, 300, 300));
  expect(h.platform.effects).toEqual({});
  expect((await state(h)).payments[0]).toMatchObject({ amount: null, mark: 'none', status: 'partially_refunded' });
  await h.take(aPaymentSucceeded());
  expect(h.platform.effects).toEqual({
    report_payment: 1,
    attach_payment: 1,
    report_refund: 1,
    issue_credit_note: 1,
  });
  await shows(h, 300n, 1);
});

it('a full refund of a payment for a void invoice closes its review item and leaves every ledger balance at zero', async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ status: 'void' }));
  await h.take(aPaymentSucceeded());
  expect(openKinds(await state(h))).toEqual(['invoice_not_payable']);
  await h.take(part(1, 1000, 1000));
  const s = await state(h);
  expect(s.payments[0]).toMatchObject({ mark: 'closed', status: 'refunded' });
  expect(openKinds(s)).toEqual([]);
  expect(balances(s)).toEqual({});
  expect(h.platform.effects).toEqual({});
});

it("a refund requested through the API stays one refund, whether the MoR's event or the MoR's answer comes first", async () => {
  for (const eventFirst of [true, false]) {
    const h = await paid();
    const r = await ask(h, 300n);
    const event = aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1', amount: 300 });
    if (eventFirst) await h.take(event);
    else {
      await h.drain();
      await h.take(event);
    }
    const s = await state(h);
    expect(s.refunds).toHaveLength(1);
    expect(s.refunds[0]).toMatchObject({ id: r.id, status: 'succeeded', morRefundId: 'rfnd_api1', mirror: 'done' });
    await shows(h, 300n, 1);
  }
});

it.each<[string, Trouble]>([
  ['lost answers', 'lost-answer'],
  ['lost requests', 'lost-request'],
  ['temporary refusals', 'retry'],
])('the MoR makes a requested refund once, even after two %s', async (_, what) => {
  const h = await paid();
  h.gateway.trouble.push(what, what);
  await ask(h, 300n);
  await h.idle();
  expect(h.gateway.made).toHaveLength(1);
  expect(h.gateway.clashes).toEqual([]);
  await shows(h, 300n, 1);
});

it("a refund keeps its amount reserved after a lost request and a refused retry, until the MoR's event reports it", async () => {
  const h = await paid();
  h.gateway.trouble.push('lost-request', 'refused');
  const r = await ask(h, 400n);
  await h.idle();
  let s = await state(h);
  expect(s.refunds[0]?.status).toBe('unknown');
  expect(openKinds(s)).toEqual(['refund_stuck']);
  expect(refundable(s.payments[0] ?? never(), s.refunds, 0n)).toBe(600n);
  await h.take(aRefund({ refundId: 'rfnd_x', amount: 400 }));
  s = await state(h);
  expect(s.refunds.map((x) => [x.id, x.status])).toEqual([[r.id, 'succeeded']]);
  expect(openKinds(s)).toEqual([]);
  await shows(h, 400n, 1);
});

it('Crossbill shows a pending refund on Stripe only after the MoR reports its success', async () => {
  const h = await paid();
  h.gateway.nextStatus = 'pending';
  await ask(h, 400n);
  await h.drain();
  await shows(h, 0n, 0);
  await h.idle(24 * 11);
  expect(openKinds(await state(h))).toEqual(['refund_stuck']);
  await h.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1', amount: 400 }));
  await shows(h, 400n, 1);
  expect(openKinds(await state(h))).toEqual([]);
});

it("a refund with an undocumented status keeps its amount reserved and opens a refund_stuck item until the MoR's event", async () => {
  const h = await paid();
  h.gateway.nextStatus = 'under_review';
  await ask(h, 400n);
  await h.drain();
  const s = await state(h);
  expect(s.refunds).toMatchObject([{ status: 'pending', morStatus: 'under_review', morRefundId: 'rfnd_api1' }]);
  expect(refundable(s.payments[0] ?? never(), s.refunds, 0n)).toBe(600n);
  expect(shownStatus(s.refunds[0] ?? never())).toBe('under_review');
  await shows(h, 0n, 0);
  await h.idle(25);
  expect(openKinds(await state(h))).toEqual(['refund_stuck']);
  expect(h.gateway.made).toHaveLength(1);
  await h.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1', amount: 400 }));
  await shows(h, 400n, 1);
  expect((await state(h)).refunds).toMatchObject([{ status: 'succeeded', morStatus: null }]);
  expect(openKinds(await state(h))).toEqual([]);
});

it('an event of 3.00 EUR for a pending refund of 4.00 EUR opens a conflicting_event item and makes no credit note', async () => {
  const h = await paid();
  h.gateway.nextStatus = 'pending';
  await ask(h, 400n);
  await h.drain();
  await h.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1', amount: 300 }));
  await shows(h, 0n, 0);
  expect(openKinds(await state(h))).toContain('conflicting_event');
});

it('if the MoR answers that a refund failed, the amount can be refunded again and a refund_stuck item opens', async () => {
  const h = await paid();
  h.gateway.nextStatus = 'failed';
  await ask(h, null);
  await h.drain();
  const s = await state(h);
  expect(s.refunds[0]?.status).toBe('failed');
  expect(openKinds(s)).toEqual(['refund_stuck']);
  expect(refundable(s.payments[0] ?? never(), s.refunds, 0n)).toBe(1000n);
  await shows(h, 0n, 0);
});

it("while a refund of a payment's rest is under way, Crossbill refuses a second refund of this rest, and the MoR refunds the rest once", async () => {
  const h = await paid();
  await ask(h, null);
  await expect(ask(h, null)).rejects.toThrow('payment_not_refundable');
  await h.idle();
  expect(h.gateway.made.map((m) => m.amountMinor)).toEqual([1000n]);
  await shows(h, 1000n, 1);
});

it("if the MoR's refund total exceeds the known refunds, Crossbill allows a refund only up to the payment less this total", async () => {
  const h = await paid();
  await h.take(part(2, 300, 700)); // 400 were given back that nobody told us of
  await expect(ask(h, 301n)).rejects.toThrow('invalid_request');
  expect((await ask(h, null)).amount).toBe(300n);
});

it('if the MoR answers a refund with another amount, Stripe gets no credit note and a refund_gap item opens', async () => {
  for (const eventFirst of [true, false]) {
    const h = await paid();
    h.gateway.distort = (a) => ({ ...a, amountMinor: 900n });
    await ask(h, 500n);
    const event = aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1', amount: 900 });
    if (eventFirst) await h.take(event);
    else {
      await h.drain();
      await shows(h, 0n, 0);
      expect((await state(h)).refunds[0]?.status).toBe('unknown');
      await h.take(event);
    }
    await h.idle();
    expect(openKinds(await state(h))).toContain('refund_gap');
    expect(h.gateway.asked).toHaveLength(1);
  }
});

const REPLIES = [
  ['the MoR’s id', (n: number) => ({ refundId: `rfnd_api${n}`, processorRefundId: `re_api${n}` })],
  ['the processor’s id alone', (n: number) => ({ refundId: null, processorRefundId: `re_api${n}` })],
] as const;
it.each(REPLIES)(
  'each of two equal refund requests matches its own event by %s, even if the second event comes first',
  async (_, names) => {
    const h = await paid();
    await ask(h, 300n);
    await ask(h, 300n);
    await h.take(aRefund({ ...names(2), eventId: 'evt_second', amount: 300, total: 600 }));
    await h.take(aRefund({ ...names(1), eventId: 'evt_first', amount: 300, total: 300 }));
    await h.idle();
    const s = await state(h);
    expect(s.refunds.map((r) => r.status)).toEqual(['succeeded', 'succeeded']);
    expect(s.refunds.map((r) => r.processorRefundId).sort()).toEqual(['re_api1', 're_api2']);
    expect(refundable(s.payments[0] ?? never(), s.refunds, 0n)).toBe(400n);
    await shows(h, 600n, 2);
    expect(openKinds(s)).toEqual([]);
  },
);

it('Stripe gets a refund once, even after a crash at any step and a lost answer', async () => {
  for (const kind of ['report_refund', 'issue_credit_note']) {
    for (let k = 1; k <= 5; k++) {
      const h = await paid();
      h.platform.fail(kind, 'lost-answer');
      h.repository.dieBefore = h.repository.transactions + k;
      await h.take(part(1, 300, 300));
      await h.idle();
      expect(h.platform.effects).toMatchObject({ report_refund: 1, issue_credit_note: 1 });
      await shows(h, 300n, 1);
    }
  }
});

it("if Stripe refuses a credit note, the operator's retry issues the note without a second report of the refund", async () => {
  const h = await paid();
  h.platform.fail('issue_credit_note', 'refused');
  await h.take(part(1, 300, 300));
  await chooseItem(h, 'retry', { kind: 'effect_failed' });
  await h.idle();
  expect(h.platform.effects).toMatchObject({ report_refund: 1, issue_credit_note: 1 });
  await shows(h, 300n, 1);
});

it("a refund on Stripe keeps its reference if the processor's refund id arrives later", async () => {
  const h = await paid();
  h.gateway.distort = (a) => ({ ...a, processorRefundId: null });
  h.platform.fail('report_refund', 'lost-answer');
  await ask(h, 300n);
  await h.drain();
  await h.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_late', amount: 300 }));
  await h.idle();
  expect(h.platform.records[0]?.refunds.map((r) => r.reference)).toEqual(['rfnd_api1']);
  expect(h.platform.notes.map((n) => n.reference)).toEqual(['rfnd_api1']);
  expect((await state(h)).refunds[0]).toMatchObject({ mirror: 'done', processorRefundId: 're_late' });
  await shows(h, 300n, 1);
});

it("Stripe gets a refund once, even if the MoR's refund id arrives between the two calls", async () => {
  const h = await paid();
  h.platform.fail('report_refund', 'lost-answer');
  await h.take(aRefund({ refundId: null, processorRefundId: 're_1', eventId: 'evt_a', amount: 300 }));
  await h.take(aRefund({ refundId: 'rfnd_1', processorRefundId: 're_1', eventId: 'evt_b', amount: 300 }));
  await h.idle();
  await shows(h, 300n, 1);
  expect((await state(h)).refunds[0]?.mirror).toBe('done');
});

it('if Crossbill marked the invoice paid out of band, a refund reaches Stripe as a credit note alone', async () => {
  const h = await paid({ settings: { markMode: 'out_of_band' } });
  await h.take(part(1, 300, 300));
  expect(h.platform.effects).toEqual({ set_reference: 1, pay_out_of_band: 1, issue_credit_note: 1 });
  await shows(h, 300n, 1);
});

it('after the MoR knows the charge of a signup, Crossbill marks the invoice paid, and the payment event adds no second payment', async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
  await h.drain();
  expect(h.platform.effects).toEqual({});
  h.gateway.charges.add('ch_first');
  await h.idle();
  expect((await state(h)).payments[0]?.mark).toBe('confirmed');
  await h.take(aPaymentSucceeded({ chargeId: 'ch_first', intentId: 'pi_first', paymentId: 'pay_s' }));
  const s = await state(h);
  expect(s.payments).toHaveLength(1);
  expect(s.payments[0]).toMatchObject({ paymentId: 'pay_s', mark: 'confirmed' });
  expect(h.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
});

it('a late decline of an earlier charge does not fail a signup whose charge the MoR knows', async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
  await h.take(aPaymentFailed({ intentId: 'pi_first', paymentId: 'pay_s', amount: 900 }));
  h.gateway.charges.add('ch_first');
  await h.idle();
  const proven = { mark: 'confirmed', status: 'succeeded', declineCode: null, amount: 1000n };
  expect((await state(h)).payments).toMatchObject([proven]);
  await h.take(aPaymentSucceeded({ chargeId: 'ch_first', intentId: 'pi_first', paymentId: 'pay_s' }));
  expect((await state(h)).payments).toMatchObject([{ ...proven, paymentId: 'pay_s' }]);
  expect(openKinds(await state(h))).toEqual([]);
});

it('if an operator dismissed a signup, Crossbill still marks its invoice paid after the MoR reports the payment', async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
  await h.idle(4);
  await chooseItem(h, 'dismiss', { kind: 'signup_unproven' });
  expect((await state(h)).payments[0]?.mark).toBe('closed');
  await h.take(aPaymentSucceeded({ chargeId: 'ch_first', intentId: 'pi_first' }));
  expect((await state(h)).payments[0]?.mark).toBe('confirmed');
});
