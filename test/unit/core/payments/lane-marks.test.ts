// Marks: from the money's arrival to the paid invoice, in both modes and both draft policies, through crashes and lost answers.
import { expect, it } from '@jest/globals';
import { chooseItem } from '../../../support/rigs/choose-item.js';
import { eur } from '../../../support/builders/channel-object.js';
import {
  anInvoice,
  aPaymentFailed,
  aPaymentSucceeded,
  INVOICE_ID,
  invoiceEvent,
} from '../../../support/builders/events.js';
import { type Trouble } from '../../../support/fakes/fake-platform.js';
import { balances, LaneHarness, openKinds } from '../../../support/rigs/lane-harness.js';

const MODES = ['payment_record', 'out_of_band'] as const;
const EFFECTS = {
  payment_record: { report_payment: 1, attach_payment: 1 },
  out_of_band: { set_reference: 1, pay_out_of_band: 1 },
};

const mark = async (harness: LaneHarness): Promise<string | undefined> =>
  (await harness.state(INVOICE_ID)).payments[0]?.mark;

it.each(MODES)('Crossbill marks a paid renewal with one read and two calls to Stripe (%s)', async (markMode) => {
  const h = LaneHarness.withInvoice({}, { settings: { markMode } });
  await h.take(invoiceEvent('invoice.created'), invoiceEvent('invoice.finalized'));
  await h.take(aPaymentSucceeded());
  expect(h.platform.asked.map((a) => a.split(' ')[0])).toEqual(
    markMode === 'payment_record'
      ? ['read', 'report_payment', 'attach_payment']
      : ['read', 'set_reference', 'pay_out_of_band'],
  );
  expect(h.platform.invoices.get(INVOICE_ID)?.status).toBe('paid');
  const s = await h.state(INVOICE_ID);
  expect(s.invoice?.status).toBe('paid');
  expect(openKinds(s)).toEqual([]);
  expect(balances(s)).toEqual({ mor_receivable: 1000n, settled_invoices: -1000n });
});

it('Crossbill leaves an invoice open after a failed payment, and marks it paid after a later success', async () => {
  const h = LaneHarness.withInvoice();
  await h.take(invoiceEvent('invoice.finalized'), aPaymentFailed({ paymentId: 'pay_first' }));
  expect((await h.state(INVOICE_ID)).invoice?.status).toBe('open');
  expect(h.platform.asked).toEqual([]);
  await h.take(aPaymentSucceeded());
  expect((await h.state(INVOICE_ID)).invoice?.status).toBe('paid');
});

it('a payment for a void invoice opens a review item with the invoice’s replacement on Stripe', async () => {
  const h = LaneHarness.withInvoice({ status: 'void', latestRevision: 'in_new' });
  await h.take(aPaymentSucceeded());
  const s = await h.state(INVOICE_ID);
  expect(openKinds(s)).toEqual(['invoice_not_payable']);
  expect(s.reviews[0]?.fact).toMatchObject({ code: 'invoice-void', replacedBy: 'in_new' });
  expect(s.invoice?.latestRevision).toBe('in_new');
});

it.each([
  ['another charge: refund the second payment', 'ch_2', false],
  ['the same charge: ask the MoR', 'ch_1', true],
])(
  'a second payment of one invoice opens a double_payment item with a proposal (%s)',
  async (_what, chargeId, maybeOne) => {
    const h = LaneHarness.withInvoice();
    await h.take(aPaymentSucceeded({ paymentId: 'pay_1', chargeId: 'ch_1' }));
    await h.take(aPaymentSucceeded({ paymentId: 'pay_2', chargeId, eventId: 'evt_2' }));
    const s = await h.state(INVOICE_ID);
    expect(s.payments.map((p) => p.mark)).toEqual(['confirmed', 'parked']);
    expect(s.reviews).toMatchObject([{ kind: 'double_payment', fact: { code: 'paid-twice', maybeOne } }]);
  },
);

for (const markMode of MODES) {
  for (const draftPolicy of ['wait', 'finalize'] as const) {
    it(`after a crash between any call to Stripe and its record, Crossbill makes no change on Stripe twice (${markMode}, ${draftPolicy})`, async () => {
      const run = async (dieBefore: number | null): Promise<LaneHarness> => {
        const h = LaneHarness.inMemory({ settings: { markMode, draftPolicy } });
        h.repository.dieBefore = dieBefore;
        h.platform.put(anInvoice({ status: 'draft' }));
        await h.take(invoiceEvent('invoice.created'), aPaymentSucceeded());
        if (draftPolicy === 'wait') {
          await h.idle(0.1);
          h.platform.change(INVOICE_ID, { status: 'open' });
          await h.deliver(invoiceEvent('invoice.finalized'));
        }
        await h.idle();
        return h;
      };
      const steps = (await run(null)).repository.transactions;
      expect(steps).toBeGreaterThanOrEqual(4);
      for (let k = 1; k <= steps; k++) {
        const h = await run(k);
        expect(h.crashes).toBe(1);
        const finalize = draftPolicy === 'finalize' ? { finalize_invoice: 1 } : {};
        expect({ k, effects: h.platform.effects }).toEqual({ k, effects: { ...EFFECTS[markMode], ...finalize } });
        expect(await mark(h)).toBe('confirmed');
        expect(h.platform.clashes).toEqual([]);
        expect(balances(await h.state(INVOICE_ID))).toEqual({ mor_receivable: 1000n, settled_invoices: -1000n });
      }
    });
  }
}

it('Crossbill reports a payment once, even after a crash during the report and a day of downtime', async () => {
  const h = LaneHarness.withInvoice();
  h.repository.dieBefore = 2; // the report was made, and nobody wrote it down
  await h.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
  expect(h.platform.effects).toEqual({ report_payment: 1 });
  h.clock.advance(25 * 3_600_000); // Stripe has forgotten the key
  await h.idle();
  expect(h.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
  expect(await mark(h)).toBe('confirmed');
});

const KINDS = {
  payment_record: ['report_payment', 'attach_payment'],
  out_of_band: ['set_reference', 'pay_out_of_band'],
};
const TROUBLES: Trouble[] = ['lost-answer', 'lost-request', 'retry', 'stopped'];
for (const markMode of MODES) {
  for (const kind of KINDS[markMode]) {
    it.each(TROUBLES)(`Crossbill repeats an unanswered ${kind} call under the same key (%s)`, async (what) => {
      const h = LaneHarness.withInvoice({}, { settings: { markMode } });
      h.platform.fail(kind, what, what);
      await h.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
      await h.idle();
      expect(h.platform.effects).toEqual(EFFECTS[markMode]);
      expect(new Set(h.platform.asked.filter((a) => a.startsWith(`${kind} `))).size).toBe(1);
      expect(h.platform.clashes).toEqual([]);
      expect(await mark(h)).toBe('confirmed');
    });

    it(`if Stripe repeats a stored 500 for ${kind}, Crossbill searches Stripe for the result, then calls under a new key`, async () => {
      const h = LaneHarness.withInvoice({}, { settings: { markMode } });
      h.platform.fail(kind, 'stored-500');
      await h.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
      await h.idle();
      const asked = h.platform.asked.filter((a) => a.includes(kind));
      expect(asked.filter((a) => a === `${kind} crossbill:${kind}:pay_oak:1`).length).toBeGreaterThan(2);
      expect(asked.slice(-2)).toEqual([`probe ${kind}`, `${kind} crossbill:${kind}:pay_oak:2`]);
      expect(h.platform.effects).toEqual(EFFECTS[markMode]);
      const call = (await h.state(INVOICE_ID)).calls.find((m) => m.kind === kind);
      expect(call?.key).toBe(`crossbill:${kind}:pay_oak:2`);
    });
  }
}

it('after 23 hours without a reply, Crossbill searches Stripe for a payment record before it reports the payment again', async () => {
  const h = LaneHarness.withInvoice();
  h.platform.fail('report_payment', 'lost-answer');
  await h.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
  h.clock.advance(23.5 * 3_600_000);
  await h.idle();
  expect(h.platform.asked).toContain('probe report_payment');
  expect(h.platform.effects).toEqual(EFFECTS.payment_record);
});

async function refusedAttach(then: (harness: LaneHarness) => void): Promise<LaneHarness> {
  const h = LaneHarness.withInvoice();
  h.platform.fail('attach_payment', 'lost-request');
  await h.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
  h.platform.fail('attach_payment', 'refused');
  then(h);
  await h.idle();
  return h;
}

it('Crossbill repeats a refused attach call while the invoice is open', async () => {
  const h = await refusedAttach(() => undefined);
  expect(h.platform.effects).toEqual(EFFECTS.payment_record);
  expect(await mark(h)).toBe('confirmed');
});

it('a refused attach call on a void invoice opens a review item, and the payment keeps its payment record', async () => {
  const h = await refusedAttach((x) => x.platform.change(INVOICE_ID, { status: 'void' }));
  const s = await h.state(INVOICE_ID);
  expect(openKinds(s)).toEqual(['invoice_not_payable']);
  expect(s.payments[0]).toMatchObject({ mark: 'parked', paymentRecordId: 'pr_1' });
  expect(s.invoice?.status).toBe('review');
});

it('a refused attach call on an invoice paid another way opens a double_payment item', async () => {
  const h = await refusedAttach((x) => x.platform.payAnotherWay(INVOICE_ID));
  const s = await h.state(INVOICE_ID);
  expect(openKinds(s)).toEqual(['double_payment']);
  expect(balances(s)).toEqual({ mor_receivable: 1000n, unmarked_payments: -1000n });
});

it('an attach call refused twice opens a review item, and the operator’s retry attaches the same payment record', async () => {
  const h = LaneHarness.withInvoice();
  h.platform.fail('attach_payment', 'refused', 'refused');
  await h.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
  await h.idle();
  expect(openKinds(await h.state(INVOICE_ID))).toEqual(['effect_failed']);
  await chooseItem(h, 'retry', { kind: 'effect_failed' });
  await h.idle();
  expect(h.platform.effects).toEqual(EFFECTS.payment_record);
  expect(await mark(h)).toBe('confirmed');
});

it('Crossbill withdraws the unsent report of a payment if its invoice becomes void', async () => {
  const h = LaneHarness.withInvoice();
  h.platform.fail('report_payment', 'lost-request');
  h.repository.dieBefore = 2;
  await h.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
  h.platform.change(INVOICE_ID, { status: 'void' });
  await h.idle();
  expect(h.platform.effects).toEqual({});
  expect(openKinds(await h.state(INVOICE_ID))).toEqual(['invoice_not_payable']);
});

it.each(MODES)('after a restore, Crossbill recognises its own mark on a paid invoice (%s)', async (markMode) => {
  const first = LaneHarness.withInvoice({}, { settings: { markMode } });
  await first.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
  const restored = LaneHarness.inMemory({ settings: { markMode } });
  Object.assign(restored.platform, {
    invoices: first.platform.invoices,
    payments: first.platform.payments,
    references: first.platform.references,
    records: first.platform.records,
  });
  await restored.take(aPaymentSucceeded());
  await restored.idle();
  expect(restored.platform.effects).toEqual({});
  const s = await restored.state(INVOICE_ID);
  expect(s.payments[0]?.mark).toBe('confirmed');
  expect(openKinds(s)).toEqual([]);
  expect(balances(s)).toEqual({ mor_receivable: 1000n, settled_invoices: -1000n });
});

it.each(MODES)('a card payment made during Crossbill’s mark opens a double_payment item (%s)', async (markMode) => {
  const h = LaneHarness.withInvoice({}, { settings: { markMode } });
  h.platform.fail(markMode === 'payment_record' ? 'attach_payment' : 'pay_out_of_band', 'retry');
  await h.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
  h.platform.payAnotherWay(INVOICE_ID);
  h.clock.advance(60_000);
  await h.idle();
  const s = await h.state(INVOICE_ID);
  expect(s.payments[0]?.mark).toBe('parked');
  expect(openKinds(s)).toEqual(['double_payment']);
  await chooseItem(h, 'retry', { kind: 'double_payment' }); // looking once more does not make it ours
  await h.idle();
  expect(openKinds(await h.state(INVOICE_ID))).toEqual(['double_payment']);
  expect(await mark(h)).toBe('parked');
});

async function stuck(): Promise<LaneHarness> {
  const h = LaneHarness.withInvoice({ status: 'draft' }, { settings: { draftPolicy: 'finalize' } });
  h.platform.finalizationRefusal = 'customer_tax_location_invalid';
  await h.take(invoiceEvent('invoice.created'), aPaymentSucceeded());
  await h.idle(0.5);
  return h;
}
const tries = (harness: LaneHarness): number =>
  harness.platform.asked.filter((a) => a.startsWith('finalize_invoice')).length;

it('if Stripe refuses to finalize a draft, Crossbill does not try again, and marks the invoice after a finalization', async () => {
  const h = await stuck();
  expect(tries(h)).toBe(1);
  expect(openKinds(await h.state(INVOICE_ID))).toEqual(['finalization_failed']);
  expect((await h.state(INVOICE_ID)).invoice?.status).toBe('held');
  h.platform.change(INVOICE_ID, { status: 'open' });
  await h.take(invoiceEvent('invoice.finalized'));
  const s = await h.state(INVOICE_ID);
  expect(s.invoice?.status).toBe('paid');
  expect(openKinds(s)).toEqual([]);
});

it('Crossbill does not repeat a failed finalization after the operator dismisses the review item', async () => {
  const h = await stuck();
  await chooseItem(h, 'dismiss', { kind: 'finalization_failed' });
  await h.idle(5);
  expect(tries(h)).toBe(1);
  expect(await mark(h)).toBe('held');
});

it('Crossbill repeats a failed finalization after the operator chooses `retry`', async () => {
  const h = await stuck();
  h.platform.finalizationRefusal = null;
  await chooseItem(h, 'retry', { kind: 'finalization_failed' });
  await h.idle(0.2);
  expect(tries(h)).toBe(2);
  expect((await h.state(INVOICE_ID)).invoice?.status).toBe('paid');
});

it('an invoice still a draft three days after the MoR took its money opens a review item', async () => {
  const h = LaneHarness.withInvoice({ status: 'draft' });
  await h.take(invoiceEvent('invoice.created'), aPaymentSucceeded());
  await h.idle(72);
  expect(openKinds(await h.state(INVOICE_ID))).toEqual([]);
  await h.idle(2);
  expect(openKinds(await h.state(INVOICE_ID))).toEqual(['finalization_failed']);
  h.platform.change(INVOICE_ID, { status: 'open' });
  await h.take(invoiceEvent('invoice.finalized'));
  const s = await h.state(INVOICE_ID);
  expect([s.invoice?.status, openKinds(s)]).toEqual(['paid', []]);
});

it('if the operator applies a part payment, Crossbill attaches the payment, and the rest stays due', async () => {
  const h = LaneHarness.withInvoice();
  await h.take(aPaymentSucceeded({ amount: 600 }));
  expect(openKinds(await h.state(INVOICE_ID))).toEqual(['amount_mismatch']);
  await chooseItem(h, 'apply', { kind: 'amount_mismatch' });
  await h.idle();
  expect(h.platform.effects).toEqual(EFFECTS.payment_record);
  expect(h.platform.invoices.get(INVOICE_ID)).toMatchObject({ status: 'open', amountRemaining: 400n });
});

it('an invoice is open again after the refund of its only payment', async () => {
  const h = LaneHarness.withInvoice();
  h.gateway.payments.set('pay_oak', { minor: 600n, currency: 'EUR', refunded: 0n });
  await h.take(aPaymentSucceeded({ amount: 600 }));
  expect((await h.state(INVOICE_ID)).invoice?.status).toBe('review');
  await chooseItem(h, 'refund', { kind: 'amount_mismatch' });
  await h.idle();
  const s = await h.state(INVOICE_ID);
  expect(s.refunds.map((r) => [r.amount, r.status])).toEqual([[600n, 'succeeded']]);
  expect(s.invoice?.status).toBe('open');
});

it('with out-of-band marks, Crossbill never marks an amount other than the amount due, even after the choice `apply`', async () => {
  const h = LaneHarness.withInvoice({}, { settings: { markMode: 'out_of_band' } });
  await h.take(aPaymentSucceeded({ amount: 600 }));
  await chooseItem(h, 'apply', { kind: 'amount_mismatch' });
  await h.idle();
  expect(h.platform.effects).toEqual({});
  expect(openKinds(await h.state(INVOICE_ID))).toEqual(['amount_mismatch']);
});

it('the review item about the amount still due after a mark does not offer the choice `apply`', async () => {
  const h = LaneHarness.withInvoice();
  h.platform.fail('attach_payment', 'lost-request');
  await h.take(aPaymentSucceeded());
  h.platform.change(INVOICE_ID, { amountDue: 1500n, amountRemaining: 1500n, total: 1500n });
  h.clock.advance(5_000); // within the time that a read counts as fresh
  await h.idle();
  expect(openKinds(await h.state(INVOICE_ID))).toEqual(['amount_mismatch']);
  await expect(chooseItem(h, 'apply', { kind: 'amount_mismatch' })).rejects.toThrow(
    'can be resolved by: refund, retry, dismiss',
  );
  await chooseItem(h, 'dismiss', { kind: 'amount_mismatch' });
  expect([openKinds(await h.state(INVOICE_ID)), await mark(h)]).toEqual([[], 'confirmed']);
});

it('the item invoice_not_payable opens again after the MoR refuses the chosen refund', async () => {
  const h = LaneHarness.withInvoice({ status: 'void' });
  h.gateway.payments.set('pay_oak', { minor: 1000n, currency: 'EUR', refunded: 0n });
  await h.take(aPaymentSucceeded());
  h.gateway.trouble.push('refused');
  await chooseItem(h, 'refund', { kind: 'invoice_not_payable' });
  await h.idle();
  expect(openKinds(await h.state(INVOICE_ID))).toEqual(['invoice_not_payable']);
});

it('a renewal still overdue after a retry opens a second renewal_overdue item', async () => {
  const h = LaneHarness.withInvoice();
  await h.take(invoiceEvent('invoice.created'));
  await h.idle(30);
  await chooseItem(h, 'retry', { kind: 'renewal_overdue' });
  await h.idle(30);
  await h.take(invoiceEvent('invoice.updated', { eventId: 'evt_later' }));
  expect(openKinds(await h.state(INVOICE_ID))).toEqual(['renewal_overdue']);
  await h.take(aPaymentSucceeded());
  expect(openKinds(await h.state(INVOICE_ID))).toEqual([]);
});

// An invoice paid in parts: a person lets one part through. The next money is the rest, or it is not.
/** 4.00 of 10.00 were taken, and a person has applied them. */
async function partApplied(): Promise<LaneHarness> {
  const h = LaneHarness.withInvoice({ amountDue: 1000n });
  await h.take(aPaymentSucceeded({ paymentId: 'pay_part', amount: 400 }));
  await chooseItem(h, 'apply');
  await h.idle();
  return h;
}

it.each([
  ['of 6.00 EUR waits and then pays the rest', 600, 'confirmed', []],
  ['of 5.00 EUR opens a review item', 500, 'parked', [eur(600n)]],
  ['of 10.00 EUR opens a review item', 1000, 'parked', [eur(600n)]],
])('while Crossbill marks 4.00 EUR of 10.00 EUR, a second payment %s', async (_what, amount, mark, says) => {
  const h = LaneHarness.withInvoice({ amountDue: 1000n });
  await h.take(aPaymentSucceeded({ paymentId: 'pay_part', amount: 400 }));
  h.platform.fail('report_payment', 'retry'); // Stripe is busy for a second
  await chooseItem(h, 'apply');
  await h.drain();
  await h.take(aPaymentSucceeded({ paymentId: 'pay_rest', amount }));
  await h.idle();
  const s = await h.state(INVOICE_ID);
  expect(s.payments.map((p) => p.mark)).toEqual(['confirmed', mark]);
  const open = s.reviews.filter((r) => r.status === 'open');
  expect(open).toMatchObject(says.map((due) => ({ fact: { code: 'amount-differs', due } })));
  expect(h.platform.invoices.get(INVOICE_ID)?.status).toBe(mark === 'confirmed' ? 'paid' : 'open');
});

it.each([
  ['with a record of the charge, Crossbill confirms the payment', 'ch_pay_rest', ['confirmed', 'confirmed'], []],
  ['without a known record, a review item opens', null, ['confirmed', 'parked'], ['paid-otherwise']],
])(
  'if the payment of the rest arrives after someone marked this rest on Stripe %s',
  async (_what, reference, marks, says) => {
    const h = await partApplied();
    h.platform.payAnotherWay(INVOICE_ID);
    if (reference !== null) {
      const record = { id: 'pr_hand', reference, minor: 600n, currency: 'EUR', paymentId: '', invoiceId: INVOICE_ID };
      h.platform.records.push({ ...record, refunds: [] });
      h.platform.payments.set(INVOICE_ID, [{ recordId: 'pr_hand', minor: 600n }]);
    }
    await h.take(aPaymentSucceeded({ paymentId: 'pay_rest', amount: 600 }));
    await h.idle();
    const s = await h.state(INVOICE_ID);
    expect(s.payments.map((p) => p.mark)).toEqual(marks);
    const open = s.reviews.filter((r) => r.status === 'open');
    expect(open.map((r) => r.topic)).toEqual(says);
  },
);

it('after a part payment and a payment of the rest, a third payment opens a double_payment item', async () => {
  const h = await partApplied();
  await h.take(aPaymentSucceeded({ paymentId: 'pay_rest', amount: 600 }));
  await h.idle();
  await h.take(aPaymentSucceeded({ paymentId: 'pay_third', amount: 600 }));
  await h.idle();
  const open = (await h.state(INVOICE_ID)).reviews.filter((r) => r.status === 'open');
  expect(open.map((r) => r.kind)).toEqual(['double_payment']);
});
