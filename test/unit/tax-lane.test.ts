// What a lane decides about tax: after the mark, never instead of it; each step once, to the last unit.
import { describe, expect, it } from '@jest/globals';
import { type Ctx, putObject } from '../../src/domain/lane/change.js';
import { type LaneState, type RefundRow } from '../../src/domain/model.js';
import { newMorObject } from '../../src/domain/mor-object.js';
import { settleTax } from '../../src/tax/rules/settle-tax.js';
import { applyTaxAnswer, applyTaxRefused, dismissTax, retryTax } from '../../src/tax/rules/tax-answer.js';
import { compareWithin } from '../../src/verify/rules/compare.js';
import { plan } from '../support/settled.js';
import {
  NOW,
  context,
  ctx,
  payment,
  paid,
  found,
  last,
  answered,
  refunded,
  bodyOf,
  refusal,
  calculated,
  unitPrices,
} from '../support/tax-lane.js';

describe('the tax of a paid invoice', () => {
  it('is begun once its payment is marked, and once only', () => {
    const s = settleTax(paid(), ctx);
    expect(s.taxes).toMatchObject([{ kind: 'transaction', stage: 'gathering', reference: 'in_1' }]);
    expect(settleTax(s, ctx)).toBe(s);
    expect(plan(s, ctx).errand).toMatchObject({ do: 'gather-tax', invoiceId: 'in_1' });
  });

  it('that was begun before shadow mode was switched on stays in the queue, and goes on when it ends', () => {
    const s = settleTax(paid(), ctx);
    const inShadow = plan(s, { ...ctx, settings: { ...ctx.settings, shadow: true } });
    expect(inShadow).toMatchObject({ errand: null, dueAt: new Date(NOW.getTime() + 15 * 60_000) });
    expect(plan(s, ctx).errand).toMatchObject({ do: 'gather-tax' });
  });

  it('of a refund that a person wants tried again in shadow mode waits until that ends, and is given back then', () => {
    const shadow = { ...ctx, settings: { ...ctx.settings, shadow: true } };
    const parked = settleTax(refunded(answered(found(settleTax(paid(), ctx)), []), 300n, { mirror: 'done' }), ctx);
    const item = parked.reviews.find((r) => r.kind === 'effect_failed');
    if (item === undefined) throw new Error('no item');
    const lines = [{ lineItemId: 'l_1', amount: '1000' }]; // what was missing is known now
    const known = { ...parked, taxes: parked.taxes.map((t) => (t.kind === 'transaction' ? { ...t, lines } : t)) };
    const again = settleTax(retryTax(known, item, shadow), shadow);
    expect([again.taxes.at(-1)?.stage, last(again).kind]).toEqual(['waiting', 'commit_tax']);
    expect(plan(again, shadow).dueAt).toEqual(new Date(NOW.getTime() + 15 * 60_000));
    const after = settleTax(again, ctx);
    expect([after.taxes.at(-1)?.stage, last(after).kind, last(after).status]).toEqual([
      'committing',
      'refund_tax',
      'pending',
    ]);
  });

  it.each<[string, LaneState, Ctx]>([
    ['the product is Merchant of Record', paid(), context('mor')],
    ['the payment is not marked', paid({ mark: 'waiting' }), ctx],
    ['a bank transfer settled a proforma invoice', paid({ origin: 'proforma' }), ctx],
    ['a hosted link was paid', paid({ origin: 'payment_link' }), ctx],
  ])('is not ours when %s', (_why, state, at) => {
    expect(settleTax(state, at).taxes).toEqual([]);
  });

  it('waits while the rest of the invoice is due, and verify says so; once it is paid, the whole sale is committed once', () => {
    const part = paid({ amount: 400n });
    const { invoice } = part;
    if (invoice === null) throw new Error('no invoice');
    const s = settleTax({ ...part, invoice: { ...invoice, platformStatus: 'open' } }, ctx);
    expect(s.taxes).toMatchObject([{ kind: 'transaction', stage: 'waiting', reference: 'in_1' }]);
    expect(plan(s, ctx).errand?.do).not.toBe('gather-tax');
    const own = { ...s, invoice: { ...invoice, platformStatus: 'open' }, openReviews: [] } as const;
    expect(compareWithin(own, new Date(NOW.getTime() + 3_600_000))).toMatchObject([
      { kind: 'tax_not_committed', detail: expect.stringContaining('until the rest of the invoice is paid') },
    ]);
    const rest = payment({ amount: 600n, processorChargeId: 'ch_2', signupId: 'sig_1' });
    const whole = settleTax({ ...s, invoice, payments: [...s.payments, rest] }, ctx);
    expect(whole.taxes).toMatchObject([{ kind: 'transaction', stage: 'gathering' }]);
    // The calculation that a signup was bound to would be of its own part alone.
    expect(plan(whole, ctx).errand).toMatchObject({ do: 'gather-tax', signupId: null, intentId: null });
    expect(unitPrices(calculated(whole))).toEqual(['7.00', '3.00']);
  });

  it.each(['proforma', 'payment_link'] as const)('is calculated without what was paid by %s', (origin) => {
    const s = settleTax(paid({ amount: 400n }, { amount: 600n, origin }), ctx);
    const asked = calculated(s);
    expect(unitPrices(asked)).toEqual(['2.80', '1.20']);
    const calculation = { taxCalculationId: 'calc_1', total: 400n, currency: 'EUR' };
    expect(applyTaxAnswer(asked, last(asked), { kind: 'calculate_tax', calculation }, ctx).taxes).toMatchObject([
      { stage: 'committing', taxCalculationId: 'calc_1' },
    ]);
  });

  it('is calculated with what came by transfer beyond the amount that was asked for there: that is no sale', () => {
    const s = settleTax(paid({ amount: 400n }, { amount: 700n, origin: 'proforma' }), ctx);
    const asked = newMorObject(NOW, { id: 'obj_1', kind: 'proforma', invoiceId: 'in_1', status: 'SETTLED' });
    const of = { paymentRowId: s.payments[1]?.id ?? '', amount: 600n };
    expect(unitPrices(calculated(putObject(s, { ...asked, ...of, currency: 'EUR' })))).toEqual(['2.80', '1.20']);
    expect(unitPrices(calculated(putObject(s, { ...asked, ...of, currency: 'USD' })))).toEqual(['2.10', '0.90']);
  });

  describe('of money that a payment link brought, and of which payment.succeeded told first', () => {
    const link = newMorObject(NOW, {
      id: 'lnk_1',
      kind: 'payment_link',
      morId: 'link_1',
      invoiceId: 'in_1',
      status: 'PAID',
    });
    const told = (s: LaneState): LaneState => {
      const of = { paymentRowId: s.payments[0]?.id ?? '', amount: 1000n, currency: 'EUR' };
      return settleTax(putObject(s, { ...link, ...of }), ctx);
    };

    it('is the MoR’s: nothing is asked for it', () => {
      expect(told(paid()).taxes).toEqual([]);
      const begun = told(settleTax(paid(), ctx));
      expect(begun.taxes).toMatchObject([{ stage: 'closed' }]);
      expect([settleTax(begun, ctx), plan(begun, ctx).errand?.do]).toEqual([begun, undefined]);
    });

    it('is calculated without it where a card paid the rest', () => {
      const s = told(settleTax(paid({ amount: 600n }, { amount: 400n }), ctx));
      const only = { ...s, objects: s.objects.map((o) => ({ ...o, amount: 600n })) };
      expect(unitPrices(calculated(only))).toEqual(['2.80', '1.20']);
    });

    it('is shown to a person once, where it was committed before, and goes back with its refund', () => {
      const s = told(answered(found(settleTax(paid(), ctx)), [700n, 300n]));
      expect(s.reviews).toMatchObject([{ kind: 'conflicting_event', subject: 'tax:in_1:lnk_1', status: 'open' }]);
      expect(s.reviews[0]?.summary).toContain(
        'was taken on payment link link_1, whose tax the MoR commits itself, and its tax was committed from here too',
      );
      expect(settleTax(s, ctx)).toEqual(s);
      expect(settleTax(refunded(s, 100n), ctx).taxes).toMatchObject([{}, { kind: 'refund', stage: 'committing' }]);
    });
  });

  it('that came to another amount than was paid, by the calculation that a signup named, is shown to a person once', () => {
    const wrong = answered(found(settleTax(paid(), ctx)), [600n, 300n]);
    expect(wrong.taxes).toMatchObject([{ stage: 'committed', morId: 'tx_1' }]);
    expect(wrong.reviews).toMatchObject([{ kind: 'conflicting_event', subject: 'tax:in_1', status: 'open' }]);
    expect(wrong.reviews[0]?.summary).toBe(
      'tax transaction tx_1 was committed for 9.00 EUR, by the calculation that the signup named, and 10.00 EUR was paid',
    );
    expect(answered(found(settleTax(paid(), ctx)), [700n, 300n]).reviews).toEqual([]);
  });

  it('goes out with the invoice as its reference and the charge as its payment', () => {
    const s = found(settleTax(paid(), ctx));
    expect(last(s)).toMatchObject({ kind: 'commit_tax', subject: 'in_1', peer: 'mor', status: 'pending' });
    expect(JSON.parse(last(s).wire.body ?? '')).toEqual({
      taxCalculationId: 'calc_1',
      merchantTransactionReference: 'in_1',
      payment: { processor: 'cardpsp', paymentReference: 'ch_1' },
    });
    expect(answered(s, [1000n]).taxes).toMatchObject([{ stage: 'committed', morId: 'tx_1' }]);
  });

  it.each<[string, bigint | null, string, string]>([
    ['to the last unit is committed', 1000n, 'EUR', 'committing'],
    ['that is one unit more is left to a person', 1001n, 'EUR', 'parked'],
    ['in another currency is left to a person', 1000n, 'USD', 'parked'],
    ['that is no exact amount is left to a person', null, 'EUR', 'parked'],
  ])('with a calculation of what was asked for %s', (_what, total, currency, stage) => {
    const s = settleTax(paid(), ctx);
    const asked = calculated(s);
    expect([last(asked).kind, asked.taxes[0]?.stage]).toEqual(['calculate_tax', 'calculating']);
    const calculation = { taxCalculationId: 'calc_1', total, currency };
    const told = applyTaxAnswer(asked, last(asked), { kind: 'calculate_tax', calculation }, ctx);
    expect(told.taxes).toMatchObject([{ stage, lines: [] }]);
    expect(told.messages.some((m) => m.kind === 'commit_tax')).toBe(stage === 'committing');
    expect(told.reviews.map((r) => [r.kind, r.status])).toEqual(stage === 'parked' ? [['effect_failed', 'open']] : []);
  });

  it('is calculated again once when the calculation cannot be used, then a person is asked', () => {
    const gone = refusal({ errors: [{ field: 'taxCalculationId', message: 'has expired' }] });
    const first = found(settleTax(paid(), ctx));
    const sent = { ...first, messages: first.messages.map((m) => ({ ...m, status: 'refused' }) as const) };
    const again = applyTaxRefused(sent, last(sent), gone, ctx);
    expect(again.taxes).toMatchObject([{ stage: 'gathering', calculations: 1 }]);
    expect(plan(again, ctx).errand).toMatchObject({ do: 'gather-tax' });
    const second = found(again);
    const parked = applyTaxRefused(second, last(second), gone, ctx);
    expect(parked.taxes).toMatchObject([{ stage: 'parked' }]);
    expect(parked.reviews).toMatchObject([{ kind: 'effect_failed', subject: 'commit_tax:in_1' }]);
    expect(parked.reviews[0]?.summary).toContain('taxCalculationId has expired');
    const [r] = parked.reviews;
    if (r === undefined) throw new Error('no item');
    expect(retryTax(parked, r, ctx).taxes).toMatchObject([{ stage: 'gathering', calculations: 0 }]);
    expect(dismissTax(parked, r, ctx).taxes).toMatchObject([{ stage: 'closed' }]);
  });

  it('is not calculated again when the reference is taken', () => {
    const taken = refusal({ errors: [{ field: 'merchantTransactionReference', message: 'was used' }] });
    const s = found(settleTax(paid(), ctx));
    expect(applyTaxRefused(s, last(s), taken, ctx).taxes).toMatchObject([{ stage: 'parked' }]);
  });
});

describe('the tax of a refund', () => {
  it('waits for the transaction and is shared over its lines to the last unit', () => {
    let s = settleTax(refunded(found(settleTax(paid(), ctx)), 100n), ctx);
    expect(s.taxes.map((t) => t.stage)).toEqual(['committing', 'waiting']);
    s = { ...s, messages: s.messages.filter((m) => m.kind === 'commit_tax') };
    s = settleTax(answered(s, [500n, 333n, 167n]), ctx);
    expect(bodyOf(last(s)).refundLineItems.map((l) => l.amount)).toEqual(['0.50', '0.33', '0.17']);
    s = applyTaxAnswer(s, last(s), { kind: 'refund_tax', taxRefundId: 'rf_1' }, ctx);
    s = settleTax(refunded(s, 900n), ctx);
    expect(bodyOf(last(s)).refundLineItems.map((l) => l.amount)).toEqual(['4.50', '3.00', '1.50']);
    expect(s.taxes.map((t) => t.stage)).toEqual(['committed', 'committed', 'committing']);
  });

  it('of any payment of the invoice is refunded, and of none that was taxed at the MoR itself', () => {
    const three = paid({ amount: 300n }, { amount: 300n }, { amount: 400n, origin: 'payment_link' });
    let s = answered(found(settleTax(three, ctx)), [600n]);
    const [, second, link] = s.payments;
    s = settleTax(refunded(s, 250n, { paymentRowId: second?.id ?? '' }), ctx);
    expect(bodyOf(last(s)).refundLineItems.map((l) => l.amount)).toEqual(['2.50']);
    expect(s.taxes.at(-1)).toMatchObject({ kind: 'refund', stage: 'committing', paymentRowId: second?.id });
    const taken = s.taxes.length;
    expect(settleTax(refunded(s, 400n, { paymentRowId: link?.id ?? '' }), ctx).taxes).toHaveLength(taken);
  });

  it.each<[string, Partial<RefundRow>, string]>([
    ['the answer to our request', { morRefundId: 'rfnd_1', processorRefundId: 're_1' }, 'pay_1:rfnd_1'],
    ['an answer without the processor’s id', { morRefundId: 'rfnd_1' }, 'pay_1:rfnd_1'],
    ['an event', { morRefundId: 'rfnd_1', processorRefundId: 're_1', totalAfter: 100n }, 'pay_1:rfnd_1'],
    ['an event without the MoR’s id', { processorRefundId: 're_1', totalAfter: 100n }, 'pay_1:re_1'],
    ['an event without any id', { totalAfter: 350n }, 'pay_1:100-of-350'],
  ])('is known to the MoR by names that survive a restored backup: by %s', (_way, names, reference) => {
    const s = answered(found(settleTax(paid({ paymentId: 'pay_1' }), ctx)), [1000n]);
    const asked = settleTax(refunded(s, 100n, names), ctx);
    expect(asked.taxes.at(-1)).toMatchObject({ kind: 'refund', reference });
    expect(JSON.parse(last(asked).wire.body ?? '{}')).toMatchObject({
      merchantRefundReference: reference,
      refundLineItems: [{ refundLineItemReference: `${reference}-1` }],
    });
    const done = applyTaxAnswer(asked, last(asked), { kind: 'refund_tax', taxRefundId: 'rf_1' }, ctx);
    expect(done.taxes.at(-1)).toMatchObject({ stage: 'committed', morId: 'rf_1' });
  });

  it('is given back although MOR_PRODUCT is another since: its transaction is there', () => {
    const s = answered(found(settleTax(paid(), ctx)), [1000n]);
    const after = settleTax(refunded(s, 300n, { mirror: 'done' }), context('mor'));
    expect(after.taxes.map((t) => [t.kind, t.stage])).toEqual([
      ['transaction', 'committed'],
      ['refund', 'committing'],
    ]);
    expect(bodyOf(last(after)).refundLineItems.map((l) => l.amount)).toEqual(['3.00']);
  });

  it('of more than the lines have left is shown to a person', () => {
    const s = settleTax(refunded(answered(found(settleTax(paid(), ctx)), [400n]), 500n), ctx);
    expect(s.taxes.map((t) => t.stage)).toEqual(['committed', 'parked']);
    expect(s.reviews.at(-1)?.summary).toContain('4.00 EUR left and 5.00 EUR was refunded');
  });

  it('that does not count, or whose transaction a person records elsewhere, is not sent', () => {
    const s = answered(found(settleTax(paid(), ctx)), [1000n]);
    expect(settleTax(refunded(s, 100n, { counted: false }), ctx).taxes).toHaveLength(1);
    const closed = { ...s, taxes: s.taxes.map((t) => ({ ...t, stage: 'closed' }) as const) };
    expect(settleTax(refunded(closed, 100n), ctx).taxes.map((t) => t.stage)).toEqual(['closed', 'closed']);
  });
});
