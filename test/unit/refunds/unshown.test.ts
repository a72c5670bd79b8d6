// A refund of a payment that a person set aside: Stripe shows nothing of it, and whoever may have to credit the invoice hears so.
import { withWords, wordsOf } from '../../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { mayHaveSettled } from '../../../src/engine/payment.js';
import { type PaymentRow, type ReviewRow } from '../../../src/domain/model.js';
import { anInvoice, aPaymentSucceeded, aRefund, INVOICE_ID } from '../../support/builders.js';
import { paidTwice } from '../../support/disputed-lane.js';
import { balances, LaneHarness } from '../../support/lane-harness.js';
import { never } from '../../support/never.js';
import { resolveReview } from '../../support/decide.js';

const openOf = async (h: LaneHarness): Promise<readonly ReviewRow[]> =>
  (await h.state(INVOICE_ID)).reviews.filter((r) => r.status === 'open');

async function choose(h: LaneHarness, resolution: 'dismiss' | 'refund'): Promise<void> {
  const [item] = await openOf(h);
  const choice = { resolution, note: null, by: 'ada' } as const;
  await h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? never(), choice, ctx));
  await h.rest(1);
}

/** A renewal whose invoice somebody has marked as paid by hand. */
async function markedByHand(): Promise<LaneHarness> {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  h.gateway.payments.set('pay_oak', { minor: 1000n, currency: 'EUR', refunded: 0n });
  h.platform.payAnotherWay(INVOICE_ID);
  await h.take(aPaymentSucceeded());
  return h;
}

describe('of money for which somebody marked the invoice by hand, dismissed as its item proposes', () => {
  it('opens an item that says to credit it there, once for each refund', async () => {
    const h = await markedByHand();
    expect(wordsOf((await openOf(h))[0]).proposal).toContain('marked the invoice by hand for this money, dismiss this');
    await choose(h, 'dismiss');
    await h.take(aRefund());
    await h.rest(48);
    expect(withWords(await openOf(h))).toMatchObject([
      {
        kind: 'refund_gap',
        summary:
          '3.00 EUR of payment pay_oak was refunded, and Stripe shows nothing of it: no invoice was marked for that money from here',
        proposal: expect.stringMatching(/^If the invoice was paid with this money .*, credit it on Stripe by hand/),
      },
    ]);
    await choose(h, 'dismiss');
    await h.take(aRefund({ eventId: 'evt_2', refundId: 'rfnd_2', amount: 700, total: 1000 }));
    await h.rest(48);
    expect((await openOf(h)).map((r) => wordsOf(r).summary)).toEqual([expect.stringMatching(/^7\.00 EUR/)]);
    const s = await h.state(INVOICE_ID);
    expect([balances(s), h.platform.notes, s.refunds.map((r) => r.mirror)]).toEqual([
      {},
      [],
      ['not_needed', 'not_needed'],
    ]);
  });

  it('and nobody is asked where the refund was chosen for its item, or all of it went back before', async () => {
    const chosen = await markedByHand();
    await choose(chosen, 'refund');
    const portal = await markedByHand();
    await portal.take(aRefund({ amount: 1000, total: 1000 }));
    for (const h of [chosen, portal]) {
      await h.rest(48);
      const [p] = (await h.state(INVOICE_ID)).payments;
      expect([p?.mark, p?.amountRefunded, await openOf(h)]).toEqual(['closed', 1000n, []]);
    }
  });
});

it('of a second payment of the invoice that was dismissed: it settled nothing, and nobody is asked', async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  await h.take(aPaymentSucceeded());
  await h.take(aPaymentSucceeded({ paymentId: 'pay_ash' }));
  await choose(h, 'dismiss');
  await h.take(aRefund({ paymentId: 'pay_ash', amount: 1000, total: 1000 }));
  await h.rest(48);
  expect(await openOf(h)).toEqual([]);
});

it('is asked about where the two payments may be one: by one charge, or a link’s that names neither charge nor payment, of as much', () => {
  const asked = (second: Partial<PaymentRow>, first: Partial<PaymentRow> = {}): boolean => {
    const s = paidTwice({ mark: 'closed', ...second });
    const payments = s.payments.map((p) => (p.id === 'pmt_1' ? { ...p, ...first } : p));
    return mayHaveSettled({ ...s, payments }, payments[1] ?? never());
  };
  const named = { origin: 'payment_link', processorChargeId: null } as const;
  const link = { ...named, paymentId: null } as const;
  expect([asked(named), asked({}, named)]).toEqual([false, false]);
  expect([asked({}), asked({ processorChargeId: 'ch_1' }), asked(link), asked({}, link)]).toEqual([
    false,
    true,
    true,
    true,
  ]);
  expect([asked({ amount: 1n }, link), asked({ currency: 'USD' }, link)]).toEqual([false, false]);
  expect([
    asked({ ...link, processorChargeId: 'ch_2' }),
    asked({ processorChargeId: null }, { processorChargeId: null }),
  ]).toEqual([false, false]);
});
