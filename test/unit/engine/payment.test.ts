// A payment gets the MoR's id from a person, and an event names its payment.
import { describe, expect, it } from '@jest/globals';
import { type LaneState, type PaymentRow } from '../../../src/domain/model.js';
import { effectName } from '../../../src/domain/payment-name.js';
import { emptyLane } from '../../../src/engine/context.js';
import { putPayment, putRefund } from '../../support/put-rows.js';
import {
  closePayment,
  findPayment,
  identifyPayment,
  newPayment,
  paymentNamed,
  paymentThatCame,
  withIds,
} from '../../../src/engine/payment.js';
import { byEvent, ctx, lane, payment } from '../../support/asked-refund.js';
import { aCtx, aPaymentEvent, LINK } from '../../support/channel-lane.js';
import { never } from '../../support/never.js';
import { aLink, withObjects } from '../../support/channel-object.js';
import * as waiting from '../../support/waiting-payment.js';
import { asCommand, decide } from '../../support/decide.js';

const name = (s: LaneState, id: string, paymentId: string, by: string) =>
  asCommand((on) => identifyPayment(on, id, paymentId, by))(s, ctx());

describe('a person names a payment', () => {
  const nameless = payment({ paymentId: null });

  it('for good: the same name again changes nothing, another one is refused', () => {
    const named = name(lane(nameless), 'pmt_1', 'pay_9', 'ops');
    if (!named.ok) throw new Error(named.code);
    expect(named.value).toMatchObject({ paymentId: 'pay_9', identifiedBy: 'ops' });
    expect(name(named.state, 'pmt_1', 'pay_9', 'shop')).toMatchObject({ ok: true, state: named.state });
    expect(name(named.state, 'pmt_1', 'pay_8', 'ops')).toMatchObject({
      ...{ ok: false, status: 409, code: 'payment_already_identified', field: 'payment_id' },
    });
  });

  it('never by the name of another payment of the invoice: one would be refunded for the other', () => {
    const s = lane(nameless, payment({ id: 'pmt_2', paymentId: 'pay_2' }));
    expect(name(s, 'pmt_1', 'pay_2', 'ops')).toMatchObject({
      ...{ ok: false, status: 409, code: 'payment_id_taken', field: 'payment_id' },
      message: 'pay_2 is the id of payment pmt_2 of invoice in_1 already.',
    });
    expect(name(s, 'pmt_9', 'pay_2', 'ops')).toMatchObject({ ok: false, status: 404 });
  });
});

describe('the payment of an event', () => {
  const other = waiting.payment({ id: 'pmt_0', paymentId: 'pay_0', processorChargeId: 'ch_0' });
  const own = waiting.payment({ processorPaymentIntentId: 'pi_1' });

  it.each([
    ['the MoR’s id', 'pay_1'],
    ['our id', 'pmt_1'],
    ['its charge', 'ch_1'],
    ['its payment intent', 'pi_1'],
    ['its refund at the MoR', 'rfnd_1'],
    ['its refund at the processor', 're_1'],
    ['our id of its refund', 'ref_event'],
    ['the link that it came by', LINK],
  ])('is named by %s', (_, id) => {
    const refunded = putRefund(
      waiting.lane({}, other, own),
      byEvent({ morRefundId: 'rfnd_1', processorRefundId: 're_1' }),
    );
    const s = withObjects(
      refunded,
      aLink({ id: 'lnk_0', morId: 'link_0', paymentRowId: 'pmt_0' }),
      aLink({ paymentRowId: 'pmt_1' }),
    );
    expect(paymentNamed(s, new Set([id]))?.id).toBe('pmt_1');
    expect(paymentNamed(s, new Set(['x']))).toBeNull();
  });

  it('is the only taken payment, where the event names none', () => {
    const refused = waiting.payment({ id: 'pmt_0', paymentId: null, processorChargeId: null, succeededAt: null });
    const named = (s: LaneState) => paymentNamed(withObjects(s, aLink()), new Set([LINK]))?.id ?? null;
    expect(named(waiting.lane({}, refused, own))).toBe('pmt_1');
    expect(named(waiting.lane({}, refused))).toBeNull();
    expect(named(waiting.lane())).toBeNull();
  });
});

describe('a payment', () => {
  const now = aCtx();
  const empty = emptyLane('in_1');
  const payment = (over: Partial<PaymentRow> = {}): PaymentRow =>
    newPayment(now, { invoiceId: 'in_1', customerId: 'cus_1', currency: 'EUR', ...over });

  it('is found by the MoR’s id first; one without a name by its charge or intent, unless it is a renewal’s', () => {
    const signup = payment({ id: 's', origin: 'signup', processorChargeId: 'ch_1', processorPaymentIntentId: 'pi_9' });
    const named = payment({ id: 'n', paymentId: 'pay_1' });
    const of = (e: Parameters<typeof aPaymentEvent>[0], ...rows: PaymentRow[]): string | undefined =>
      findPayment(rows.reduce(putPayment, empty), aPaymentEvent(e))?.id;
    expect(of({}, signup, named)).toBe('n');
    expect(of({}, signup)).toBe('s');
    expect(of({ processorChargeId: 'ch_2', processorPaymentIntentId: 'pi_9' }, signup)).toBe('s');
    expect(of({ processorChargeId: 'ch_2' }, signup)).toBeUndefined();
    expect(of({ processorChargeId: null }, { ...signup, processorChargeId: null })).toBeUndefined();
    expect(of({}, { ...signup, paymentId: 'pay_2', identifiedBy: 'ops' })).toBe('s'); // whatever people call it
    expect(of({}, { ...signup, paymentId: 'pay_2' })).toBeUndefined();
    expect(of({}, { ...signup, origin: 'renewal' })).toBeUndefined();
  });

  it('gets every id that an event brings, and the MoR’s name in the place of a person’s', () => {
    const known = payment({
      id: 's',
      origin: 'signup',
      processorChargeId: 'ch_1',
      paymentId: 'pay_wrong',
      identifiedBy: 'ops',
    });
    expect(withIds(putPayment(empty, known), aPaymentEvent({ processorPaymentIntentId: 'pi_1' }), now)).toMatchObject({
      ...{
        id: 's',
        paymentId: 'pay_1',
        identifiedBy: null,
        processorChargeId: 'ch_1',
        processorPaymentIntentId: 'pi_1',
      },
    });
    const made = withIds(empty, aPaymentEvent({ status: 'failed' }), now);
    expect(made).toMatchObject({
      paymentId: 'pay_1',
      invoiceId: 'in_1',
      customerId: 'cus_1',
      currency: 'EUR',
      status: 'failed',
      mark: 'none',
    });
    const own = payment({ paymentId: 'pay_1', processorChargeId: 'ch_own', processorPaymentIntentId: 'pi_own' });
    expect(withIds(putPayment(empty, own), aPaymentEvent(), now)).toMatchObject({
      processorChargeId: 'ch_own',
      processorPaymentIntentId: 'pi_own',
    });
  });

  it('that came keeps anybody from charging again, whatever became of it; a refused one does not', () => {
    const refused = payment({ paymentId: 'pay_1', mark: 'none' });
    expect(paymentThatCame(putPayment(empty, refused))).toBeNull();
    expect(paymentThatCame(putPayment(empty, { ...refused, mark: 'parked' }))).toBe('payment pay_1 came');
    expect(effectName(payment({ id: 'pmt_7' }))).toBe('pmt_7');
  });

  it('that will not be marked is closed; never proven, it failed', () => {
    const s = (p: PaymentRow): LaneState['payments'] =>
      decide(putPayment(empty, p), now, (l) => closePayment(l.findPayment(p.id) ?? never())).payments;
    expect(s(payment({ mark: 'parked', succeededAt: now.now }))).toMatchObject([
      { mark: 'closed', status: 'succeeded' },
    ]);
    expect(s(payment({ mark: 'parked', status: 'processing' }))).toMatchObject([{ mark: 'closed', status: 'failed' }]);
  });
});
