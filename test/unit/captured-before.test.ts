// What `payment.captured` tells of a payment that is in the books already: the charge of a link's payment, and the proof of a signup's.
import { describe, expect, it } from '@jest/globals';
import { emptyLane, openReview, putObject, putPayment } from '../../src/domain/lane/change.js';
import { newPayment } from '../../src/domain/lane/payment.js';
import { type LaneState, type PaymentRow, type Resolution } from '../../src/domain/model.js';
import { type Capture } from '../../src/domain/mor-object.js';
import { applyCaptured, learnFromCapture } from '../../src/links/rules/payment-captured.js';
import { aCtx, LINK, NOW } from '../support/channel-lane.js';
import { aLink, channelEvent } from '../support/channel-object.js';

const later = (minutes: number): Date => new Date(NOW.getTime() + minutes * 60_000);
const payment = (over: Partial<PaymentRow>): PaymentRow =>
  newPayment(aCtx(), {
    ...{ id: 'pmt_1', invoiceId: 'in_1', customerId: 'cus_1', currency: 'EUR', amount: 2990n, paymentId: null },
    ...over,
  });

describe('a link’s payment that a read brought', () => {
  const UUID = '5c1b0c2e-6a52-4f6e-9d0b-2f0c9a3c7b11';

  /** Its charge and name, and what the MoR's uuid belongs to, after a capture with these names; `before` was captured on the link. */
  function after(known: Partial<PaymentRow>, before: readonly Capture[], data: object): readonly (string | null)[] {
    const o = aLink({ status: 'PAID', paymentRowId: 'pmt_1', detail: { captures: before } });
    const p = payment({ origin: 'payment_link', reference: LINK, succeededAt: NOW, mark: 'confirmed', ...known });
    const e = channelEvent('payment.captured', { paymentLinkId: LINK, paymentId: UUID, ...data });
    const { state } = applyCaptured(putObject(putPayment(emptyLane('in_1'), p), o), e, aCtx());
    const row = state.payments[0];
    const uuid = state.objects.find((x) => x.morId === UUID);
    return [row?.processorChargeId ?? null, row?.paymentId ?? null, uuid?.paymentRowId ?? null];
  }
  const id = (paymentId: string) => ({ processorReferences: { payment: paymentId } });

  it.each<[string, Partial<PaymentRow>, readonly Capture[], object, readonly (string | null)[]]>([
    ['has the charge that is named alone', {}, [], { pspReference: 'ch_1' }, ['ch_1', null, 'pmt_1']],
    ['has the id that is named alone', {}, [], id('pay_1'), [null, 'pay_1', 'pmt_1']],
    ['has both that are named', {}, [], { pspReference: 'ch_1', ...id('pay_1') }, ['ch_1', 'pay_1', 'pmt_1']],
    ['has nothing where nothing is named', {}, [], {}, [null, null, 'pmt_1']],
    [
      'called by its id has the charge that is named with that id',
      { paymentId: 'pay_1' },
      [{ charge: null, id: 'pay_1' }],
      { pspReference: 'ch_1', ...id('pay_1') },
      ['ch_1', 'pay_1', 'pmt_1'],
    ],
    [
      'called by its id has not the charge that is named with another',
      { paymentId: 'pay_1' },
      [{ charge: null, id: 'pay_1' }],
      { pspReference: 'ch_2', ...id('pay_2') },
      [null, 'pay_1', null],
    ],
    [
      'called by its id has not a charge that is named alone, where its capture named none',
      { paymentId: 'pay_1' },
      [{ charge: null, id: 'pay_1' }],
      { pspReference: 'ch_2' },
      [null, 'pay_1', null],
    ],
    [
      'called by its id has a charge that is named alone, where nothing was captured before',
      { paymentId: 'pay_1' },
      [],
      { pspReference: 'ch_1' },
      ['ch_1', 'pay_1', 'pmt_1'],
    ],
    [
      'called so by a person has the charge that is named, and the MoR’s name',
      { paymentId: 'pay_typo', identifiedBy: 'ops' },
      [],
      { pspReference: 'ch_1', ...id('pay_1') },
      ['ch_1', 'pay_1', 'pmt_1'],
    ],
    [
      'called so by the MoR keeps its charge beside another payment',
      { paymentId: 'pay_1', processorChargeId: 'ch_1' },
      [{ charge: 'ch_1', id: 'pay_1' }],
      { pspReference: 'ch_2', ...id('pay_2') },
      ['ch_1', 'pay_1', null],
    ],
    [
      'keeps its charge beside another one that is named alone',
      { processorChargeId: 'ch_1' },
      [{ charge: 'ch_1', id: null }],
      { pspReference: 'ch_2' },
      ['ch_1', null, null],
    ],
  ])('%s', (_, known, before, data, expected) => {
    expect(after(known, before, data)).toEqual(expected);
  });
});

describe('a signup’s charge', () => {
  /** A charge of 29.90 EUR of which the MoR says that it was captured; `over`: how the books have it, `data`: what the capture says besides. */
  function heard(over: Partial<PaymentRow>, data: object = {}, reviews: LaneState['reviews'] = []): string {
    const p = payment({ origin: 'signup', processorChargeId: 'ch_1', status: 'processing', mark: 'proving', ...over });
    const amount = { amount: '29.90', currency: 'EUR' };
    const e = channelEvent('payment.captured', { pspReference: 'ch_1', amount, ...data });
    const s = putPayment({ ...emptyLane('in_1'), reviews }, p);
    const row = learnFromCapture(s, e, null, aCtx()).payments[0];
    return `${row?.mark ?? ''}, ${row?.succeededAt === null ? 'not taken' : 'taken'}`;
  }
  const items = (kind: 'signup_unproven' | 'signup_overdue', subject: string, resolution: Resolution | null) =>
    openReview(emptyLane('in_1'), aCtx(), { kind, subject, summary: 's', proposal: 'p' }).reviews.map((r) =>
      resolution === null ? r : { ...r, status: 'resolved' as const, resolution },
    );
  const givenUp = { mark: 'closed', status: 'processing' } as const;

  it.each<[string, Partial<PaymentRow>, object, LaneState['reviews'], string]>([
    ['is proven by its amount', {}, {}, [], 'waiting, taken'],
    ['is not proven by another amount', {}, { amount: { amount: '29.91', currency: 'EUR' } }, [], 'proving, not taken'],
    [
      'is not proven by another currency',
      {},
      { amount: { amount: '29.90', currency: 'USD' } },
      [],
      'proving, not taken',
    ],
    ['is not proven without an amount', {}, { amount: null }, [], 'proving, not taken'],
    ['of an amount that is not known is not proven', { amount: null }, {}, [], 'proving, not taken'],
    ['of another name is not proven', { processorChargeId: 'ch_2' }, {}, [], 'proving, not taken'],
    ['that was given up is proven', givenUp, {}, items('signup_unproven', 'pmt_1', 'dismiss'), 'waiting, taken'],
    [
      'that a person vouched for and closed is not',
      givenUp,
      {},
      items('signup_unproven', 'pmt_1', 'apply'),
      'closed, not taken',
    ],
    ['whose item is open is not', givenUp, {}, items('signup_unproven', 'pmt_1', null), 'closed, not taken'],
    [
      'that was closed for another reason is not',
      givenUp,
      {},
      items('signup_overdue', 'pmt_1', 'dismiss'),
      'closed, not taken',
    ],
    [
      'of which another’s item was dismissed is not',
      givenUp,
      {},
      items('signup_unproven', 'pmt_2', 'dismiss'),
      'closed, not taken',
    ],
    ['that was closed without an item is not', givenUp, {}, [], 'closed, not taken'],
    [
      'that was given up among other items is proven',
      givenUp,
      {},
      [...items('signup_overdue', 'sgn_1', 'dismiss'), ...items('signup_unproven', 'pmt_1', 'dismiss')],
      'waiting, taken',
    ],
    [
      'that was taken and given up stays closed',
      { mark: 'closed', status: 'succeeded', succeededAt: NOW },
      {},
      items('signup_unproven', 'pmt_1', 'dismiss'),
      'closed, taken',
    ],
    [
      'that waits for a person is not moved by a dismissed item',
      { mark: 'parked' },
      {},
      items('signup_unproven', 'pmt_1', 'dismiss'),
      'parked, not taken',
    ],
    [
      'that was given up and refused since is not proven by a capture of before that',
      { ...givenUp, verdictAt: later(1) },
      { capturedAt: NOW.toISOString() },
      items('signup_unproven', 'pmt_1', 'dismiss'),
      'closed, not taken',
    ],
    [
      'that was given up and refused is proven by a capture since then',
      { ...givenUp, verdictAt: later(-1) },
      { capturedAt: NOW.toISOString() },
      items('signup_unproven', 'pmt_1', 'dismiss'),
      'waiting, taken',
    ],
    [
      'that was given up and refused is proven by a capture of that moment',
      { ...givenUp, verdictAt: NOW },
      { capturedAt: NOW.toISOString() },
      items('signup_unproven', 'pmt_1', 'dismiss'),
      'waiting, taken',
    ],
  ])('%s', (_, over, data, reviews, expected) => {
    expect(heard(over, data, reviews)).toBe(expected);
  });
});
