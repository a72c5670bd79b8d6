// A charge that the MoR named for two invoices, once a person has said that the other one was paid by it: this one is unpaid, and no more.
import { describe, expect, it } from '@jest/globals';
import { resolveReview } from '../../src/lane/rules/resolve-review.js';
import { aPaymentFailed, aPaymentSucceeded, INVOICE_ID, invoiceEvent } from '../support/builders.js';
import { MemoryLaneStore, openKinds } from '../support/lane-harness.js';
import { after, DAY_MS, HOUR_MS, type Rig, relayed, retry, rig, state } from '../support/retry-rig.js';

const SHARED = 'ch_shared';
const named = (r: Rig, over: object = {}) =>
  aPaymentSucceeded({ paymentId: 'pay_second', chargeId: SHARED, at: r.h.clock.now(), ...over });
const refusedNow = (r: Rig) =>
  aPaymentFailed({ paymentId: 'pay_second', declineCode: 'insufficient_funds', at: r.h.clock.now() });

async function dismiss(r: Rig): Promise<void> {
  const item = (await state(r)).reviews.find((x) => x.kind === 'double_payment' && x.status === 'open');
  const choice = { resolution: 'dismiss', by: 'ops', note: null } as const;
  const done = await r.h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', choice, ctx));
  expect(done.ok).toBe(true);
}

/** The renewal, whose success names a charge that was booked for another invoice. */
async function sharing(over: Parameters<typeof rig>[0] = {}): Promise<Rig> {
  const r = rig(over);
  if (!(r.h.backend.store instanceof MemoryLaneStore)) throw new Error('not in memory');
  r.h.backend.store.bookedElsewhere.set(SHARED, { invoiceId: 'in_first', payment: 'pay_first' });
  await r.h.take(invoiceEvent('invoice.finalized'), named(r));
  expect(openKinds(await state(r))).toEqual(['double_payment']);
  return r;
}

describe('a charge that paid another invoice', () => {
  it('once dismissed keeps nothing from the invoice: refused after that, it is charged again by its schedule', async () => {
    const r = await sharing();
    await dismiss(r);
    await after(r, HOUR_MS);
    await r.h.take(refusedNow(r));
    expect((await state(r)).invoice?.nextTryAt).toEqual(new Date(r.h.clock.now().getTime() + 3 * DAY_MS));
    await after(r, 3 * DAY_MS);
    expect(relayed(r)).toHaveLength(1);
    await r.h.take(aPaymentSucceeded({ paymentId: 'pay_won', chargeId: 'ch_won', at: r.h.clock.now() }));
    await r.h.rest(24);
    const s = await state(r);
    expect([s.invoice?.status, openKinds(s)]).toEqual(['paid', []]);
    expect(s.entries.filter((e) => e.reason === 'payment_collected')).toMatchObject([{ processorChargeId: 'ch_won' }]);
    expect(r.h.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
  });

  it('once dismissed is no verdict: nothing is charged, no link is made, and the verdict that never comes is missed', async () => {
    const r = await sharing({ retrySchedule: null });
    await dismiss(r);
    await r.h.rest(23);
    const before = await state(r);
    expect([before.invoice?.status, before.objects, openKinds(before)]).toEqual(['open', [], []]);
    await r.h.rest(25);
    const s = await state(r);
    expect([openKinds(s), s.objects, relayed(r)]).toEqual([['renewal_overdue'], [], []]);
    expect((await retry(r)).ok).toBe(false);
  });

  it('once dismissed, and refused since, gets the link that any refused renewal gets', async () => {
    const r = await sharing({ retrySchedule: null });
    await dismiss(r);
    r.h.clock.advance(HOUR_MS);
    await r.h.take(refusedNow(r));
    await r.h.rest(1);
    expect((await state(r)).objects).toMatchObject([{ kind: 'payment_link', amount: 1000n }]);
  });

  it('that the MoR names again is not asked about again, and still keeps nothing from the invoice', async () => {
    const r = await sharing();
    await dismiss(r);
    r.h.clock.advance(HOUR_MS);
    await r.h.take(named(r, { eventId: 'evt_again' }));
    const s = await state(r);
    expect([s.invoice?.status, openKinds(s), s.entries]).toEqual(['open', [], []]);
    expect(s.payments).toMatchObject([{ mark: 'none', succeededAt: null }]);
    r.h.clock.advance(HOUR_MS);
    await r.h.take(refusedNow(r));
    expect((await retry(r)).ok).toBe(true);
    await r.h.drain();
    expect(relayed(r)).toHaveLength(1);
  });

  it('refused before the item was dismissed, which may be an earlier try, is missed as one without a verdict', async () => {
    const r = await sharing();
    r.h.clock.advance(HOUR_MS);
    await r.h.take(refusedNow(r));
    await dismiss(r);
    await r.h.rest(25);
    const s = await state(r);
    expect([openKinds(s), s.invoice?.retries]).toEqual([['renewal_overdue'], null]);
  });

  it('that paid this invoice under another payment is marked as ever', async () => {
    const r = await sharing();
    await dismiss(r);
    r.h.clock.advance(HOUR_MS);
    await r.h.take(named(r, { chargeId: 'ch_own', eventId: 'evt_own' }));
    await r.h.rest(1);
    const s = await state(r);
    expect([s.invoice?.status, openKinds(s)]).toEqual(['paid', []]);
  });
});
