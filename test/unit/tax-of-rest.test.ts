// The tax of an invoice that a link paid in part and a card the rest, where the link's money was told of first, as of a card's.
import { describe, expect, it } from '@jest/globals';
import { putObject } from '../../src/domain/lane/change.js';
import { type LaneState } from '../../src/domain/model.js';
import { newMorObject } from '../../src/domain/mor-object.js';
import { settleTax } from '../../src/tax/rules/settle-tax.js';
import { applyTaxAnswer, applyTaxRefused, retryTax } from '../../src/tax/rules/tax-answer.js';
import {
  answered,
  bodyOf,
  calculated,
  ctx,
  last,
  NOW,
  paid,
  refunded,
  refusal,
  unitPrices,
} from '../support/tax-lane.js';

const link = newMorObject(NOW, {
  id: 'lnk_1',
  kind: 'payment_link',
  morId: 'link_1',
  invoiceId: 'in_1',
  status: 'PAID',
});
const told = (s: LaneState, amount = 600n): LaneState =>
  putObject(s, { ...link, paymentRowId: s.payments[0]?.id ?? '', amount, currency: 'EUR' });

/** A link brought 6.00, told by payment.succeeded first; then the link named it; then a card paid the rest of 4.00. */
function cardsPart(): LaneState {
  const s = settleTax(told(paid({ amount: 600n }, { amount: 400n })), ctx);
  const asked = calculated(s);
  expect(unitPrices(asked)).toEqual(['2.80', '1.20']);
  return asked;
}
function committedPart(part = cardsPart()): LaneState {
  const asked = settleTax(part, ctx);
  const calculation = { taxCalculationId: 'calc_1', total: 400n, currency: 'EUR' };
  const s = applyTaxAnswer(asked, last(asked), { kind: 'calculate_tax', calculation }, ctx);
  return settleTax(answered(settleTax(s, ctx), [280n, 120n]), ctx);
}

const second = newMorObject(NOW, { ...link, id: 'lnk_2', morId: 'link_2' });

describe('the tax of a rest that a card paid', () => {
  it('is not said to be committed twice', () => {
    expect(settleTax(cardsPart(), ctx).reviews).toEqual([]);
    expect(committedPart().reviews).toEqual([]);
  });
  it('is not given back with a refund of the link’s money', () => {
    const s = committedPart();
    const [first] = s.payments;
    const back = settleTax(refunded(s, 300n, { paymentRowId: first?.id ?? '', mirror: 'done' }), ctx);
    expect(back.messages.filter((m) => m.kind === 'refund_tax').map(bodyOf)).toEqual([]);
  });
  it('can be given back after the link’s money was', () => {
    const s = committedPart();
    const [first, second] = s.payments;
    const one = settleTax(refunded(s, 300n, { paymentRowId: first?.id ?? '', mirror: 'done', morRefundId: 'r1' }), ctx);
    const back = settleTax(
      refunded(one, 400n, { paymentRowId: second?.id ?? '', mirror: 'done', morRefundId: 'r2' }),
      ctx,
    );
    expect(back.reviews.map((r) => r.summary)).toEqual([]);
  });
});

describe('the tax of a rest that a card and the customer’s balance paid', () => {
  /** 10.00 was billed: a link brought 6.00, the balance 3.00, a card 1.00. The tax is that of 4.00. */
  const beside = (): LaneState =>
    committedPart(calculated(settleTax(told(paid({ amount: 600n }, { amount: 100n })), ctx)));

  it('is not said to be committed twice', () => {
    expect(beside().reviews.map((r) => r.summary)).toEqual([]);
  });
  it('is not given back with a refund of the link’s money', () => {
    const s = beside();
    const back = refunded(s, 300n, { paymentRowId: s.payments[0]?.id ?? '', mirror: 'done' });
    expect(settleTax(back, ctx).messages.filter((m) => m.kind === 'refund_tax')).toEqual([]);
  });
});

it('of two links whose money was first told as a card’s, the item names the one whose tax was asked for', () => {
  const s = committedPart();
  const [, last] = s.payments;
  const both = settleTax(putObject(s, { ...second, paymentRowId: last?.id ?? '', amount: 400n, currency: 'EUR' }), ctx);
  expect(both.reviews.map((r) => r.paymentRowId)).toEqual([last?.id]);
});

it('a refund of money that turns out to be a link’s leaves no tax refund that waits for good', () => {
  const begun = settleTax(paid({ amount: 1000n }), ctx);
  const back = settleTax(refunded(begun, 300n, { mirror: 'done' }), ctx);
  expect(back.taxes.map((t) => [t.kind, t.stage])).toEqual([
    ['transaction', 'gathering'],
    ['refund', 'waiting'],
  ]);
  expect(settleTax(told(back, 1000n), ctx).taxes.map((t) => [t.kind, t.stage])).toEqual([
    ['transaction', 'closed'],
    ['refund', 'closed'],
  ]);
});

it('tax whose calculation was refused is not said to be committed', () => {
  const asked = calculated(settleTax(paid(), ctx));
  const named = settleTax(told(asked, 1000n), ctx);
  const refused = settleTax(applyTaxRefused(named, last(named), refusal({ code: 'invalid_request' }), ctx), ctx);
  expect(refused.taxes[0]?.stage).toBe('parked');
  const item = refused.reviews.find((r) => r.kind === 'effect_failed');
  if (item === undefined) throw new Error('none');
  const again = settleTax(retryTax(refused, item, ctx), ctx);
  expect(again.taxes[0]?.stage).toBe('closed');
  expect(again.reviews.filter((r) => r.status === 'open' && r.summary.includes('was committed from here too'))).toEqual(
    [],
  );
});

it('the tax of the rest names the card’s charge, not the link’s, which was told of first', () => {
  const part = paid({ amount: 600n, processorChargeId: 'ch_link' });
  const { invoice } = part;
  if (invoice === null) throw new Error('no invoice');
  const open = settleTax({ ...part, invoice: { ...invoice, platformStatus: 'open' } }, ctx);
  const named = settleTax(told(open), ctx);
  const [card] = paid({ amount: 400n, processorChargeId: 'ch_card' }).payments;
  if (card === undefined) throw new Error('no card');
  const whole = settleTax({ ...named, invoice, payments: [...named.payments, card] }, ctx);
  const asked = calculated(whole);
  const calculation = { taxCalculationId: 'calc_1', total: 400n, currency: 'EUR' };
  const s = applyTaxAnswer(asked, last(asked), { kind: 'calculate_tax', calculation }, ctx);
  expect([last(s).kind, last(s).wire.body]).toEqual(['commit_tax', expect.stringContaining('ch_card')]);
});
