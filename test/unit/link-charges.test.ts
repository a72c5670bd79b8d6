// What the MoR announced on one payment link, as plain values: which captures are one payment, what it is called, and what may be the same money.
import { describe, expect, it } from '@jest/globals';
import { type Ctx, emptyLane, openReview, putObject, putPayment } from '../../src/domain/lane/change.js';
import {
  aboutCharge,
  areTwo,
  idOn,
  maybeNotTaken,
  sharedLink,
  withCapture,
} from '../../src/domain/lane/link-charges.js';
import { newPayment } from '../../src/domain/lane/payment.js';
import { type LaneState, type PaymentRow } from '../../src/domain/model.js';
import { type Capture, type MorObjectDetail } from '../../src/domain/mor-object.js';
import { nameByCapture } from '../../src/links/rules/name-payment.js';
import { isAnswered, tellOtherCharges } from '../../src/links/rules/second-charge.js';
import { aCtx, LINK, NOW, open } from '../support/channel-lane.js';
import { aLink } from '../support/channel-object.js';

const capture = (charge: string | null, id: string | null = null): Capture => ({ charge, id });
const linkWith = (captures: readonly Capture[], detail: MorObjectDetail = {}, paymentRowId: string | null = 'pmt_1') =>
  aLink({ status: 'PAID', paymentRowId, detail: { ...detail, captures } });
const payment = (over: Partial<PaymentRow> = {}): PaymentRow =>
  newPayment(aCtx(), {
    ...{ id: 'pmt_1', invoiceId: 'in_1', customerId: 'cus_1', currency: 'EUR', amount: 2990n, succeededAt: NOW },
    ...{ origin: 'payment_link', reference: LINK, paymentId: null, ...over },
  });
const lane = (o: ReturnType<typeof linkWith>, ...payments: PaymentRow[]): LaneState =>
  payments.reduce(putPayment, putObject(emptyLane('in_1'), o));

describe('captures on a link', () => {
  it.each<[string, readonly Capture[], Capture, readonly Capture[]]>([
    ['that name one charge are one payment', [capture('ch_1')], capture('ch_1'), [capture('ch_1')]],
    ['that name two charges are two', [capture('ch_1')], capture('ch_2'), [capture('ch_1'), capture('ch_2')]],
    [
      'that name two charges are two, though by one id: a payment may have two names of its charge',
      [capture('ch_1', 'pay_1')],
      capture('ch_2', 'pay_1'),
      [capture('ch_1', 'pay_1'), capture('ch_2', 'pay_1')],
    ],
    ['that name one id are one payment', [capture(null, 'pay_1')], capture(null, 'pay_1'), [capture(null, 'pay_1')]],
    [
      'that name two ids are two',
      [capture(null, 'pay_1')],
      capture(null, 'pay_2'),
      [capture(null, 'pay_1'), capture(null, 'pay_2')],
    ],
    [
      'by its id, then by both, are one',
      [capture(null, 'pay_1')],
      capture('ch_1', 'pay_1'),
      [capture('ch_1', 'pay_1')],
    ],
    [
      'by both, then by its id, are one',
      [capture('ch_1', 'pay_1')],
      capture(null, 'pay_1'),
      [capture('ch_1', 'pay_1')],
    ],
    ['by its charge, then by both, are one', [capture('ch_1')], capture('ch_1', 'pay_1'), [capture('ch_1', 'pay_1')]],
    ['by both, then by its charge, are one', [capture('ch_1', 'pay_1')], capture('ch_1'), [capture('ch_1', 'pay_1')]],
    [
      'by a charge and by an id may be two: nothing says that they are one',
      [capture('ch_1')],
      capture(null, 'pay_1'),
      [capture('ch_1'), capture(null, 'pay_1')],
    ],
    ['that name nothing are one', [capture(null)], capture(null), [capture(null)]],
    [
      'of which one names nothing and one a charge are two',
      [capture(null)],
      capture('ch_1'),
      [capture(null), capture('ch_1')],
    ],
    [
      'of which one tells that two names are of one payment are one, in the place of the first',
      [capture(null, 'pay_1'), capture('ch_2'), capture('ch_1')],
      capture('ch_1', 'pay_1'),
      [capture('ch_1', 'pay_1'), capture('ch_2')],
    ],
  ])('%s', (_, before, next, after) => {
    expect(withCapture({ captures: before }, next)).toEqual(after);
  });

  it('are kept beside the charge of a link from before there was a list of them, which comes first and once', () => {
    expect(withCapture({ pspReference: 'ch_1' }, capture('ch_2'))).toEqual([capture('ch_1'), capture('ch_2')]);
    expect(withCapture({ pspReference: 'ch_1' }, capture('ch_1', 'pay_1'))).toEqual([capture('ch_1', 'pay_1')]);
    const both = { pspReference: 'ch_2', captures: [capture('ch_1'), capture('ch_2', 'pay_2')] };
    expect(withCapture(both, capture('ch_3'))).toEqual([capture('ch_1'), capture('ch_2', 'pay_2'), capture('ch_3')]);
  });
});

describe('the MoR’s id of a payment on a link', () => {
  it.each<[string, readonly Capture[], string | null, string | null]>([
    ['is that of its charge', [capture('ch_1', 'pay_1'), capture('ch_2', 'pay_2')], 'ch_2', 'pay_2'],
    ['is not known of a charge that no capture names', [capture('ch_1', 'pay_1')], 'ch_9', null],
    ['is not known of a charge that its capture names alone', [capture('ch_1')], 'ch_1', null],
    ['is that of the only capture where no charge is known', [capture(null, 'pay_1')], null, 'pay_1'],
    [
      'is not known where no charge is and two were captured',
      [capture(null, 'pay_1'), capture(null, 'pay_2')],
      null,
      null,
    ],
    ['is not known where nothing was captured', [], null, null],
  ])('%s', (_, captures, charge, id) => {
    expect(idOn(linkWith(captures), charge)).toBe(id);
  });

  const named = (p: PaymentRow, captures: readonly Capture[], over: Partial<Ctx> = {}, ...others: PaymentRow[]) =>
    nameByCapture(lane(linkWith(captures), p, ...others), linkWith(captures), { ...aCtx(), ...over }).payments[0]
      ?.paymentId;

  it('becomes its name, also in place of one that a person gave', () => {
    expect(named(payment(), [capture(null, 'pay_1')])).toBe('pay_1');
    expect(named(payment({ paymentId: 'pay_typo', identifiedBy: 'ops' }), [capture(null, 'pay_1')])).toBe('pay_1');
  });

  it('does not become its name where the MoR has named it already, or another payment is called so', () => {
    expect(named(payment({ paymentId: 'pay_9' }), [capture(null, 'pay_1')])).toBe('pay_9');
    const elsewhere = new Map([['pay_1', 'in_2']]);
    expect(named(payment(), [capture(null, 'pay_1')], { paymentsElsewhere: elsewhere })).toBeNull();
    expect(named(payment(), [capture(null, 'pay_1')], {}, payment({ id: 'pmt_2', paymentId: 'pay_1' }))).toBeNull();
    expect(named(payment(), [capture(null, 'pay_1')], { beside: true })).toBeNull();
  });

  it('is not that of a card payment that the link was found to be, nor of one of another link', () => {
    expect(named(payment({ origin: 'renewal' }), [capture(null, 'pay_1')])).toBeNull();
    expect(named(payment({ reference: 'another' }), [capture(null, 'pay_1')])).toBeNull();
    expect(named(payment({ id: 'pmt_7' }), [capture(null, 'pay_1')])).toBeNull();
  });
});

describe('two payments that may be the same money', () => {
  const first = payment({ processorChargeId: 'ch_1' });
  const second = payment({ id: 'pmt_2', origin: 'renewal', processorChargeId: 'ch_2', paymentId: 'pay_2' });
  const link = linkWith([capture('ch_1'), capture('ch_2')]);

  it('are those whose charges were announced on one link, unless the MoR has named both', () => {
    expect(sharedLink(lane(link), first, second)).toBe(link);
    expect(sharedLink(lane(link), payment({ processorChargeId: 'ch_1', paymentId: 'pay_1' }), second)).toBeUndefined();
    const byPerson = payment({ processorChargeId: 'ch_1', paymentId: 'pay_1', identifiedBy: 'ops' });
    expect(sharedLink(lane(link), byPerson, second)).toBe(link);
    expect([areTwo(first, second), areTwo(second, second)]).toEqual([false, false]);
    expect(areTwo(payment({ paymentId: 'pay_1' }), second)).toBe(true);
  });

  it('are not those of which the link announced one, or of no charge', () => {
    const one = linkWith([capture('ch_1'), capture(null, 'pay_2')]);
    expect(sharedLink(lane(one), first, second)).toBeUndefined();
    expect(sharedLink(lane(one), second, first)).toBeUndefined();
    expect(sharedLink(lane(one), first)).toBeUndefined();
    const nameless = payment({ id: 'pmt_3', processorChargeId: null });
    expect(sharedLink(lane(one), first, nameless)).toBeUndefined();
    expect(sharedLink(lane(linkWith([capture('ch_1')])), first)).toBeUndefined();
    expect(sharedLink(lane(aLink()), first)).toBeUndefined();
    expect(sharedLink(lane(link), first)).toBe(link);
  });

  it('of those only a payment that a read of the link showed, and that the MoR has not named, may not have been taken', () => {
    expect(maybeNotTaken(lane(link), first, second)).toBe(link);
    expect(
      maybeNotTaken(lane(link), payment({ origin: 'renewal', processorChargeId: 'ch_1' }), second),
    ).toBeUndefined();
    const named = payment({ processorChargeId: 'ch_1', paymentId: 'pay_1' });
    expect(maybeNotTaken(lane(link), named)).toBeUndefined();
    expect(maybeNotTaken(lane(link), second, first)).toBeUndefined();
  });
});

describe('of what was announced on a link, all but one is asked about', () => {
  const asked = (captures: readonly Capture[], detail: MorObjectDetail, ...payments: PaymentRow[]): string[] => {
    const o = linkWith(captures, detail);
    return open(tellOtherCharges(lane(o, ...payments), o, aCtx())).map((r) => r.subject);
  };
  const two = [capture(null, 'pay_1'), capture(null, 'pay_2')];

  it.each<[string, readonly Capture[], MorObjectDetail, readonly PaymentRow[], readonly string[]]>([
    ['nothing where there is one', [capture('ch_1')], {}, [], []],
    ['the second where nothing is in the books', two, {}, [], ['lnk_1:charge:pay_2']],
    [
      'the first where the charge of the second counts',
      [capture('ch_1'), capture('ch_2')],
      { pspReference: 'ch_2' },
      [],
      ['lnk_1:charge:ch_1'],
    ],
    [
      'the first where the second is the payment in the books',
      two,
      {},
      [payment({ paymentId: 'pay_2' })],
      ['lnk_1:charge:pay_1'],
    ],
    [
      'the second where a person named the payment',
      two,
      {},
      [payment({ paymentId: 'pay_2', identifiedBy: 'ops' })],
      ['lnk_1:charge:pay_2'],
    ],
    [
      'the second where another payment bears its name, which is in the books',
      two,
      {},
      [payment(), payment({ id: 'pmt_2', paymentId: 'pay_2' })],
      [],
    ],
    [
      'nothing of one payment with two names of its charge',
      [capture('ch_1', 'pay_1'), capture('ch_2', 'pay_1')],
      {},
      [],
      [],
    ],
    ['nothing where the other one was called by nothing', [capture('ch_1'), capture(null)], {}, [], []],
    [
      'each of two others',
      [capture('ch_1'), capture('ch_2'), capture('ch_3')],
      { pspReference: 'ch_1' },
      [],
      ['lnk_1:charge:ch_2', 'lnk_1:charge:ch_3'],
    ],
  ])('%s', (_, captures, detail, payments, subjects) => {
    expect(asked(captures, detail, ...payments)).toEqual(subjects);
  });

  it('once, under the name under which it was asked about first', () => {
    const before = linkWith([capture('ch_1'), capture(null, 'pay_2')], { pspReference: 'ch_1' });
    const s = tellOtherCharges(lane(before), before, aCtx());
    const after = linkWith([capture('ch_1'), capture('ch_2', 'pay_2')], { pspReference: 'ch_1' });
    const again = tellOtherCharges(putObject(s, after), after, aCtx());
    expect(open(again).map((r) => r.subject)).toEqual(['lnk_1:charge:pay_2']);
    expect(open(again)[0]?.summary).toMatch(/^charge ch_2 was announced/);
  });

  it('and not again after a person has answered, whichever of its names that was about', () => {
    const o = linkWith([capture('ch_1'), capture('ch_2', 'pay_2')], { pspReference: 'ch_1' });
    const item = { kind: 'conflicting_event', subject: aboutCharge(o, 'pay_2'), summary: 's', proposal: 'p' } as const;
    const told = openReview(lane(o), aCtx(), item);
    const answered: LaneState = {
      ...told,
      reviews: told.reviews.map((r) => ({ ...r, status: 'resolved', resolution: 'dismiss', resolvedAt: NOW })),
    };
    expect([isAnswered(answered, o, 'pay_2'), isAnswered(answered, o, 'ch_2')]).toEqual([true, false]);
    expect(open(tellOtherCharges(answered, o, aCtx()))).toEqual([]);
  });
});
