// A payment that gets another name while its mark is on the way to Stripe: the MoR corrects what a signup or a person called it.
import { describe, expect, it } from '@jest/globals';
import { type LaneState } from '../../../src/domain/model.js';
import { askRefund } from '../../support/ask-refund.js';
import { completeSignup } from '../../support/complete-signup.js';
import { anInvoice, aPaymentSucceeded, COMPLETION, delivery, INVOICE_ID, START } from '../../support/builders.js';
import { type Trouble } from '../../support/fakes.js';
import { balances, LaneHarness, openKinds } from '../../support/lane-harness.js';
import { resolveReview } from '../../support/decide.js';

const STEPS = [
  ['payment_record', 'report_payment'],
  ['payment_record', 'attach_payment'],
  ['out_of_band', 'set_reference'],
  ['out_of_band', 'pay_out_of_band'],
] as const;

/** The signup's payment is called `pay_typo`, and Stripe does not take `kind` at first. */
async function misnamed(markMode: (typeof STEPS)[number][0], kind: string, ...what: Trouble[]): Promise<LaneHarness> {
  const h = LaneHarness.inMemory({ settings: { markMode } });
  h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
  h.gateway.charges.add('ch_first');
  h.platform.fail(kind, ...what);
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, paymentId: 'pay_typo' }, ctx));
  await h.drain();
  return h;
}

const corrected = aPaymentSucceeded({ paymentId: 'pay_right', chargeId: 'ch_first', intentId: 'pi_first' });

async function atRest(h: LaneHarness): Promise<{ s: LaneState; facts: object }> {
  await h.rest(48);
  const s = await h.state(INVOICE_ID);
  const pending = s.messages.filter((m) => m.status === 'pending').length;
  const unmarked = balances(s)['unmarked_payments'] ?? 0n;
  const payments = s.payments.map((p) => [p.paymentId, p.mark]);
  return {
    s,
    facts: { payments, pending, unmarked, open: openKinds(s), is: h.platform.invoices.get(INVOICE_ID)?.status },
  };
}

describe('the MoR names a payment otherwise than the signup did, while its mark is under way', () => {
  it.each(STEPS)('%s: the answer to %s is taken in, and the invoice is paid', async (markMode, kind) => {
    const h = await misnamed(markMode, kind, 'retry');
    await h.take(corrected);
    expect((await atRest(h)).facts).toEqual({
      ...{ payments: [['pay_right', 'confirmed']], pending: 0, unmarked: 0n, open: [], is: 'paid' },
    });
  });

  it('and the payment that bears the mistyped name in truth comes before the answer: each gets its own', async () => {
    const h = await misnamed('payment_record', 'report_payment', 'retry');
    await h.take(corrected);
    await h.take(aPaymentSucceeded({ eventId: 'evt_2', paymentId: 'pay_typo', chargeId: 'ch_2', intentId: 'pi_2' }));
    expect((await atRest(h)).facts).toMatchObject({
      payments: [
        ['pay_right', 'confirmed'],
        ['pay_typo', 'parked'],
      ],
      ...{ pending: 0, open: ['double_payment'] },
    });
  });

  it('and Stripe refuses a step: the item is about this payment, which waits for a person', async () => {
    const h = await misnamed('payment_record', 'report_payment', 'retry', 'refused');
    await h.take(corrected);
    const { s, facts } = await atRest(h);
    expect(facts).toMatchObject({ payments: [['pay_right', 'parked']], open: ['effect_failed'] });
    expect(s.reviews.at(-1)?.paymentRowId).toBe(s.payments[0]?.id);
  });
});

it('a name that the MoR does not know is taken back while the mark is under way: the invoice is paid all the same', async () => {
  const h = await misnamed('payment_record', 'report_payment', 'retry', 'retry');
  const id = (await h.state(INVOICE_ID)).payments[0]?.id ?? '';
  const refund = { amount: 300n, reason: null, metadata: null, by: 'ada' };
  await h.command(INVOICE_ID, (s, ctx) => askRefund(s, id, refund, ctx));
  expect((await atRest(h)).facts).toMatchObject({ payments: [[null, 'confirmed']], unmarked: 0n, is: 'paid' });
});

it.each(['report_refund', 'issue_credit_note'])(
  'a name that the MoR corrects while Stripe does not take the %s of a refund: the refund shows all the same',
  async (kind) => {
    const h = await misnamed('payment_record', kind, 'retry', 'retry');
    h.gateway.payments.set('pay_typo', { minor: 1000n, currency: 'EUR', refunded: 0n });
    const id = (await h.state(INVOICE_ID)).payments[0]?.id ?? '';
    const refund = { amount: 300n, reason: null, metadata: null, by: 'ada' };
    await h.command(INVOICE_ID, (s, ctx) => askRefund(s, id, refund, ctx));
    await h.drain();
    await h.take(corrected);
    const { s, facts } = await atRest(h);
    expect(facts).toMatchObject({ payments: [['pay_right', 'confirmed']], pending: 0, open: ['conflicting_event'] });
    expect([s.refunds.map((r) => r.mirror), h.platform.effects['issue_credit_note']]).toEqual([['done'], 1]);
    expect(balances(s)).toEqual({ mor_receivable: 700n, settled_invoices: -700n });
  },
);

describe('the MoR names a payment otherwise after a refund of it was asked for under the name that people gave', () => {
  /** Paid, and all of it asked back of `pay_typo`, another customer's payment; then the MoR's own word comes. */
  async function refundedAs(
    prepare: (h: LaneHarness) => void = () => undefined,
    waitMs = 0,
    word = corrected,
  ): Promise<LaneHarness> {
    const h = await misnamed('payment_record', 'report_payment');
    h.gateway.payments.set('pay_typo', { minor: 1000n, currency: 'EUR', refunded: 0n });
    h.gateway.payments.set('pay_right', { minor: 1000n, currency: 'EUR', refunded: 0n });
    prepare(h);
    const id = (await h.state(INVOICE_ID)).payments[0]?.id ?? '';
    const refund = { amount: 300n, reason: null, metadata: null, by: 'ada' };
    await h.command(INVOICE_ID, (s, ctx) => askRefund(s, id, refund, ctx));
    await h.drain();
    h.clock.advance(waitMs);
    await h.take(word);
    return h;
  }
  const gaveBack = (h: LaneHarness): bigint | undefined => h.gateway.payments.get('pay_typo')?.refunded;

  const data = { paymentId: 'pay_right', processorChargeId: 'ch_first' };
  const body = { id: 'evt_captured', type: 'payment.captured', created: START.toISOString(), data };

  it.each([
    ['payment.succeeded', corrected],
    ['payment.captured', delivery('mor_events', body.id, body.type, INVOICE_ID, body)],
  ])('by %s, and it was made: a person hears whose money may have gone back', async (_, word) => {
    const h = await refundedAs(undefined, 0, word);
    const amount = { minor: 300n, currency: 'EUR' };
    expect((await atRest(h)).s.reviews.filter((r) => r.status === 'open')).toMatchObject([
      { kind: 'conflicting_event', fact: { code: 'payment-renamed', from: 'pay_typo', to: 'pay_right', amount } },
    ]);
    await h.take(aPaymentSucceeded({ eventId: 'evt_again', paymentId: 'pay_right', chargeId: 'ch_first' }));
    expect(openKinds(await h.state(INVOICE_ID))).toEqual(['conflicting_event']);
  });

  it('which no try has made yet: it is not made of the other payment, and can be asked for again', async () => {
    const h = await refundedAs((x) => void x.gateway.trouble.push('retry'));
    const { s } = await atRest(h);
    expect([gaveBack(h), s.refunds[0]?.status, s.refunds[0]?.failure?.code]).toEqual([0n, 'failed', 'payment_renamed']);
    expect(openKinds(s)).toEqual(['refund_stuck']);
    const again = { amount: 300n, reason: null, metadata: null, by: 'ada' };
    await h.command(INVOICE_ID, (x, ctx) => askRefund(x, s.payments[0]?.id ?? '', again, ctx));
    await atRest(h);
    expect([gaveBack(h), h.gateway.payments.get('pay_right')?.refunded]).toEqual([0n, 300n]);
  });

  it.each<[string, Trouble, number]>([
    ['whose answer was lost', 'lost-request', 0],
    ['of which a crash may have lost a try', 'retry', 60_000],
  ])('%s: it is not sent again, nor by a person, and its amount stays reserved', async (_, trouble, waitMs) => {
    const h = await refundedAs((x) => void x.gateway.trouble.push(trouble), waitMs);
    const { s, facts } = await atRest(h);
    expect(facts).toMatchObject({ pending: 0, open: ['conflicting_event', 'refund_stuck'] });
    expect([gaveBack(h), s.refunds[0]?.status]).toEqual([0n, 'unknown']);
    const item = s.reviews.find((r) => r.status === 'open' && r.kind === 'refund_stuck');
    const retry = { resolution: 'retry', note: null, by: 'ada' } as const;
    const said = await h.command(INVOICE_ID, (x, ctx) => resolveReview(x, item?.id ?? '', retry, ctx));
    expect(said).toMatchObject({ ok: false, code: 'payment_renamed' });
  });
});
