// A payment gets the MoR's id from a person.
import { describe, expect, it } from '@jest/globals';
import { type LaneState } from '../../../src/domain/model.js';
import { asCommand } from '../../../src/engine/adapter.js';
import { identifyPayment } from '../../../src/engine/payment.js';
import { ctx, lane, payment } from '../../support/asked-refund.js';

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
