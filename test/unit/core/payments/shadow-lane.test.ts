// Shadow mode, one lane at a time: everything is decided, nothing is sent, and what others do is compared with it.
import { expect, it } from '@jest/globals';
import { askRefund } from '../../../support/rigs/ask-refund.js';
import { applyRead } from '../../../support/rigs/settle-rule.js';
import { decideMarksAgain } from '../../../../src/core/payments/rules/others-mark.js';
import { type DecisionSettings } from '../../../../src/shared/domain/settings.js';
import { compareWithin } from '../../../../src/features/verify/rules/compare.js';
import {
  anInvoice,
  aPaymentFailed,
  aPaymentSucceeded,
  aRefund,
  INVOICE_ID,
  invoiceEvent,
} from '../../../support/builders/events.js';
import { balances, LaneHarness, openKinds } from '../../../support/rigs/lane-harness.js';
import { decide } from '../../../support/rigs/decide.js';

const MODES = ['payment_record', 'out_of_band'] as const;

function inShadow(settings: Partial<DecisionSettings> = {}): LaneHarness {
  const h = LaneHarness.withInvoice({}, { settings: { sendsNothing: true, ...settings } });
  return h;
}

const state = (harness: LaneHarness) => harness.state(INVOICE_ID);

/** The integration in charge marks the invoice, and Stripe tells of it. */
async function othersMark(harness: LaneHarness): Promise<void> {
  harness.platform.change(INVOICE_ID, { status: 'paid', amountRemaining: 0n, amountPaid: 1000n });
  await harness.take(invoiceEvent('invoice.paid', { amountRemaining: 0n, amountPaid: 1000n }));
}

const calls = async (harness: LaneHarness): Promise<string[]> =>
  (await state(harness)).calls.map((m) => `${m.kind} ${m.status} ${m.lastCode ?? ''}`);

it.each(MODES)(
  'in shadow mode, Crossbill decides the mark of a payment and stores the first call to Stripe without sending it (%s)',
  async (markMode) => {
    const h = inShadow({ markMode });
    await h.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
    await h.idle();
    expect(h.platform.effects).toEqual({});
    const first = markMode === 'payment_record' ? 'report_payment' : 'set_reference';
    expect(await calls(h)).toEqual([`${first} cancelled shadow_mode`]);
    expect((await state(h)).invoice?.status).toBe('marking');
    expect(balances(await state(h))).toEqual({ mor_receivable: 1000n, unmarked_payments: -1000n });
  },
);

it.each(MODES)(
  'in shadow mode, another integration’s mark makes the invoice paid in Crossbill, and the ledger balances (%s)',
  async (markMode) => {
    const h = inShadow({ markMode });
    await h.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
    await othersMark(h);
    const s = await state(h);
    expect([s.invoice?.status, s.payments[0]?.mark]).toEqual(['paid', 'confirmed']);
    expect(balances(s)).toEqual({ mor_receivable: 1000n, settled_invoices: -1000n });
    expect(openKinds(s)).toEqual([]);
    expect(h.platform.effects).toEqual({});
  },
);

it('in shadow mode, another integration’s mark before the payment event opens no double_payment item', async () => {
  const h = inShadow();
  await h.take(invoiceEvent('invoice.finalized'));
  await othersMark(h);
  await h.take(aPaymentSucceeded());
  const s = await state(h);
  expect(await calls(h)).toEqual(['report_payment cancelled shadow_mode']);
  expect([s.payments[0]?.mark, openKinds(s)]).toEqual(['confirmed', []]);
});

it('in shadow mode, a different amount opens an amount_mismatch item, even on an invoice marked by another integration', async () => {
  const h = inShadow();
  await h.take(invoiceEvent('invoice.finalized'));
  await othersMark(h);
  await h.take(aPaymentSucceeded({ amount: 900 }));
  const s = await state(h);
  expect([s.payments[0]?.mark, openKinds(s), s.calls]).toEqual(['parked', ['amount_mismatch'], []]);
});

it('in shadow mode, a second payment of a paid invoice opens a double_payment item', async () => {
  const h = inShadow();
  await h.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
  await othersMark(h);
  await h.take(aPaymentSucceeded({ eventId: 'evt_second', paymentId: 'pay_second' }));
  expect(openKinds(await state(h))).toEqual(['double_payment']);
});

it('in shadow mode, a failed payment leaves the invoice open, and Crossbill stores no call', async () => {
  const h = inShadow();
  await h.take(invoiceEvent('invoice.finalized'), aPaymentFailed());
  const s = await state(h);
  expect([s.invoice?.status, s.calls]).toEqual(['open', []]);
});

it('in shadow mode, Crossbill finalizes no draft, and decides the mark after another integration finalizes the draft', async () => {
  const h = inShadow({ draftPolicy: 'finalize' });
  h.platform.change(INVOICE_ID, { status: 'draft' });
  await h.take(invoiceEvent('invoice.created'), aPaymentSucceeded());
  await h.idle(5);
  expect(await calls(h)).toEqual(['finalize_invoice cancelled shadow_mode']);
  expect((await state(h)).invoice?.status).toBe('held');
  h.platform.change(INVOICE_ID, { status: 'open' });
  await h.take(invoiceEvent('invoice.finalized'));
  expect(await calls(h)).toEqual(['finalize_invoice cancelled shadow_mode', 'report_payment cancelled shadow_mode']);
  expect(h.platform.effects).toEqual({});
});

it('in shadow mode, Crossbill books another integration’s refund and stores the credit note’s call unsent', async () => {
  const h = inShadow();
  await h.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
  await othersMark(h);
  await h.take(aRefund({ amount: 400, total: 400 }));
  const s = await state(h);
  expect(s.refunds[0]).toMatchObject({ counted: true, mirror: 'not_needed' });
  expect(balances(s)).toEqual({ mor_receivable: 600n, settled_invoices: -600n });
  expect(await calls(h)).toEqual(['report_payment cancelled shadow_mode', 'issue_credit_note cancelled shadow_mode']);
  expect(h.platform.effects).toEqual({});
});

it('Crossbill sends no pending call during shadow mode, and sends these calls afterwards', async () => {
  const h = LaneHarness.inMemory({});
  const over = (sendsNothing: boolean): void => void Object.assign(h.context.settings, { sendsNothing });
  h.platform.put(anInvoice());
  h.platform.fail('report_payment', 'retry');
  await h.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
  expect(await calls(h)).toEqual(['report_payment pending ']);
  over(true);
  await h.idle(2);
  expect(h.platform.effects).toEqual({});
  over(false);
  await h.idle(1);
  expect([await calls(h), (await state(h)).invoice?.status]).toEqual([
    ['report_payment done ', 'attach_payment done '],
    'paid',
  ]);
});

it('in shadow mode, Crossbill refuses a refund request with 409 and relays no event to the MoR', async () => {
  const h = inShadow({ relay: 'created' });
  await h.take(invoiceEvent('invoice.created'), aPaymentSucceeded());
  await othersMark(h);
  const id = (await state(h)).payments[0]?.id ?? '';
  const asked = await h.command(INVOICE_ID, (s, ctx) =>
    askRefund(s, id, { amount: null, reason: null, metadata: null, by: 'ops' }, ctx),
  );
  expect(asked).toMatchObject({ ok: false, status: 409, code: 'shadow_mode' });
  expect(await calls(h)).toContain('relay_event cancelled shadow_mode');
  expect(h.relay.sent).toEqual([]);
});

it('in shadow mode, Crossbill stores one unsent payment link request for a failed renewal', async () => {
  const recoveryLinks = { jurisdiction: 'DE', returnUrl: 'https://shop.example/back', expiresSec: 604_800 };
  const h = inShadow({ recoveryLinks });
  await h.take(invoiceEvent('invoice.finalized'), aPaymentFailed());
  await h.idle(24);
  expect(await calls(h)).toEqual(['create_payment_link cancelled shadow_mode']);
  Object.assign(h.context.settings, { sendsNothing: false });
  await h.take(aPaymentFailed({ eventId: 'evt_again', paymentId: 'pay_again' }));
  await h.idle(24);
  expect(await calls(h)).toEqual(['create_payment_link cancelled shadow_mode']);
});

/** Decided in shadow mode and marked by nobody; then the daemon is started without it. */
async function left(): Promise<LaneHarness> {
  const h = inShadow();
  await h.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
  Object.assign(h.context.settings, { sendsNothing: false });
  return h;
}

it('after shadow mode, Crossbill sends no call decided in shadow mode', async () => {
  const h = await left();
  await h.take(invoiceEvent('invoice.updated', { eventId: 'evt_later' }));
  await h.idle(48);
  expect(h.platform.effects).toEqual({});
  expect((await state(h)).payments[0]?.mark).toBe('reporting');
});

it('after shadow mode, the operator’s retry makes Crossbill decide again and mark the invoice once, under the next key', async () => {
  const h = await left();
  const facts = h.platform.invoices.get(INVOICE_ID) ?? null;
  await h.command(INVOICE_ID, (s, ctx) => {
    const read = applyRead(s, { ok: true, value: facts, status: 200, requestId: null }, ctx);
    return { ok: true, state: decide(read, ctx, decideMarksAgain), value: null };
  });
  await h.idle();
  const s = await state(h);
  expect(h.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
  expect(s.calls.filter((m) => m.kind === 'report_payment').map((m) => [m.generation, m.status])).toEqual([
    [1, 'cancelled'],
    [2, 'done'],
  ]);
  expect([s.invoice?.status, s.payments[0]?.mark]).toEqual(['paid', 'confirmed']);
});

it('after shadow mode, another integration’s late mark confirms the payment', async () => {
  const h = await left();
  await othersMark(h);
  const s = await state(h);
  expect([s.payments[0]?.mark, openKinds(s), h.platform.effects]).toEqual(['confirmed', [], {}]);
});

it.each(MODES)(
  'the refund of an earlier marked payment waits until shadow mode ends, and `crossbill verify` reports the refund (%s)',
  async (markMode) => {
    const h = LaneHarness.withInvoice({}, { settings: { markMode } });
    await h.take(aPaymentSucceeded());
    Object.assign(h.context.settings, { sendsNothing: true });
    await h.take(aRefund({ amount: 300 }));
    let s = await state(h);
    expect(s.refunds[0]).toMatchObject({ counted: true, mirror: 'waiting' });
    expect(balances(s)).toEqual({ mor_receivable: 700n, settled_invoices: -1000n, unmirrored_refunds: 300n });
    const { invoice } = s;
    if (invoice === null) throw new Error('no invoice');
    const shown = compareWithin(
      { ...s, invoice, openReviews: [], sameCharge: [] },
      new Date(h.clock.now().getTime() + 3_600_000),
    );
    expect(shown.map((d) => d.kind)).toEqual(['refund_not_mirrored']);
    Object.assign(h.context.settings, { sendsNothing: false });
    await h.idle(1);
    s = await state(h);
    expect([s.refunds[0]?.mirror, h.platform.notes.length]).toEqual(['done', 1]);
    expect(balances(s)).toEqual({ mor_receivable: 700n, settled_invoices: -700n });
  },
);
