// A payment gets the MoR's id from a person, and an event names its payment.
import { describe, expect, it } from '@jest/globals';
import { type LaneState } from '../../../src/domain/model.js';
import { asCommand } from '../../../src/engine/adapter.js';
import { putRefund } from '../../support/put-rows.js';
import { identifyPayment, paymentNamed } from '../../../src/engine/payment.js';
import { byEvent, ctx, lane, payment } from '../../support/asked-refund.js';
import { LINK } from '../../support/channel-lane.js';
import { aLink, withObjects } from '../../support/channel-object.js';
import * as waiting from '../../support/waiting-payment.js';

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
