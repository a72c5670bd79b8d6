// A charge that the MoR named for two invoices, and what it says of it late, or corrects, around the moment in which a person lets it go.
import { describe, expect, it } from '@jest/globals';
import { aPaymentFailed, aPaymentSucceeded, aRefund, INVOICE_ID, invoiceEvent } from '../support/builders.js';
import { MemoryLaneStore, openKinds } from '../support/lane-harness.js';
import { after, DAY_MS, HOUR_MS, refused, relayed, retry, state } from '../support/retry-rig.js';
import { booked, dismiss, named, SHARED } from '../support/shared-charge.js';

describe('a charge that the MoR corrects while its item is open', () => {
  it('pays its invoice once the item is dismissed', async () => {
    const r = booked();
    await r.h.take(invoiceEvent('invoice.finalized'), named(r));
    await after(r, HOUR_MS);
    await r.h.take(named(r, { chargeId: 'ch_own', eventId: 'evt_right' }));
    const before = await state(r);
    expect(before.entries.map((e) => e.reason)).toEqual(['payment_collected']);
    await dismiss(r);
    await r.h.rest(1);
    const s = await state(r);
    expect(s.payments.map((p) => [p.mark, p.status, p.processorChargeId])).toEqual([
      ['confirmed', 'succeeded', 'ch_own'],
    ]);
    expect([s.invoice?.status, openKinds(s)]).toEqual(['paid', []]);
  });

  it('keeps everybody from a second charge', async () => {
    const r = booked();
    await refused(r);
    await after(r, HOUR_MS);
    await r.h.take(named(r));
    await after(r, HOUR_MS);
    await r.h.take(named(r, { chargeId: 'ch_own', eventId: 'evt_right' }));
    await dismiss(r);
    await r.h.rest(26);
    const tried = await retry(r);
    await r.h.drain();
    const s = await state(r);
    const taken = s.entries.filter((e) => e.reason === 'payment_collected');
    expect([taken.map((e) => e.processorChargeId), tried.ok, relayed(r).length]).toEqual([['ch_own'], false, 0]);
  });

  it('is a second payment beside one that was marked, and a person hears of that', async () => {
    const r = booked();
    const right = aPaymentSucceeded({ paymentId: 'pay_true', chargeId: 'ch_true', at: r.h.clock.now() });
    await r.h.take(invoiceEvent('invoice.finalized'), right);
    await r.h.rest(1);
    await r.h.take(named(r));
    await r.h.take(named(r, { chargeId: 'ch_own', eventId: 'evt_right' }));
    await dismiss(r);
    await r.h.rest(24);
    const s = await state(r);
    expect([s.entries.filter((e) => e.reason === 'payment_collected').length, openKinds(s)]).toEqual([
      2,
      ['double_payment'],
    ]);
  });

  it('is not charged again for an earlier try, told late', async () => {
    const r = booked();
    const then = r.h.clock.now();
    r.h.clock.advance(60_000);
    await r.h.take(invoiceEvent('invoice.finalized'), named(r));
    await after(r, HOUR_MS);
    await r.h.take(named(r, { chargeId: 'ch_own', eventId: 'evt_right' }));
    await dismiss(r);
    await r.h.take(aPaymentFailed({ paymentId: 'pay_second', at: then }));
    await after(r, 3 * DAY_MS);
    const taken = (await state(r)).entries.filter((e) => e.reason === 'payment_collected');
    expect([taken.length, relayed(r).length]).toEqual([1, 0]);
  });
});

describe('a refusal of before, told after the charge was let go', () => {
  it('under a second event id charges nobody', async () => {
    const r = booked();
    const then = r.h.clock.now();
    await r.h.take(
      invoiceEvent('invoice.finalized'),
      aPaymentFailed({ paymentId: 'pay_a', eventId: 'evt_z', at: then }),
    );
    await after(r, 2 * DAY_MS);
    await r.h.take(named(r));
    await after(r, 4 * DAY_MS);
    await dismiss(r);
    await after(r, HOUR_MS);
    await r.h.take(aPaymentFailed({ paymentId: 'pay_a', eventId: 'evt_a', at: then }));
    await after(r, HOUR_MS);
    expect(relayed(r)).toEqual([]);
  });

  it.each([
    ['with a schedule charges nobody', {}],
    ['without one makes no link', { retrySchedule: null }],
  ] as const)('of the same payment, %s', async (_, over) => {
    const r = booked(over);
    const then = r.h.clock.now();
    r.h.clock.advance(60_000);
    await r.h.take(invoiceEvent('invoice.finalized'), named(r));
    await after(r, HOUR_MS);
    await dismiss(r);
    await after(r, HOUR_MS);
    await r.h.take(aPaymentFailed({ paymentId: 'pay_second', at: then }));
    await after(r, 3 * DAY_MS);
    expect([relayed(r), (await state(r)).objects]).toEqual([[], []]);
  });
});

describe('the alarm about a charge that was let go', () => {
  it('comes for a customer who pays by bank debit as late as after a retry', async () => {
    const r = booked();
    if (!(r.h.backend.store instanceof MemoryLaneStore)) throw new Error('not in memory');
    const customer = r.h.platform.invoices.get(INVOICE_ID)?.customerId ?? '';
    r.h.backend.store.debtors.add(customer);
    await r.h.take(invoiceEvent('invoice.finalized'));
    await r.h.rest(49); // the verdict is late, and the lane finds out that this customer pays by debit
    expect((await state(r)).invoice?.paysByDebit).toBe(true);
    await r.h.take(aPaymentFailed({ paymentId: 'pay_a', at: r.h.clock.now() }));
    await after(r, HOUR_MS);
    await r.h.take(named(r));
    await dismiss(r);
    await r.h.rest(49);
    expect(openKinds(await state(r))).toEqual([]);
  });

  it('stays when a refund names it and a refusal comes after that: nobody is charged, so somebody must hear of it', async () => {
    const r = booked();
    await r.h.take(invoiceEvent('invoice.finalized'), named(r));
    await dismiss(r);
    await r.h.rest(49);
    await r.h.take(aRefund({ paymentId: 'pay_second', chargeId: SHARED, at: r.h.clock.now() }));
    expect(openKinds(await state(r))).toEqual(['conflicting_event', 'renewal_overdue']);
    await after(r, HOUR_MS);
    await r.h.take(aPaymentFailed({ paymentId: 'pay_second', at: r.h.clock.now() }));
    await after(r, 30 * DAY_MS);
    const s = await state(r);
    expect([openKinds(s), relayed(r)]).toEqual([['conflicting_event', 'renewal_overdue'], []]);
  });
});
