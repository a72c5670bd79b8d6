// A charge that the MoR named for two invoices, once a person has said that the other one was paid by it: this one is unpaid, and no more.
import { wordsOf } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { aPaymentSucceeded, aRefund, invoiceEvent } from '../support/builders.js';
import { openKinds } from '../support/lane-harness.js';
import { after, DAY_MS, HOUR_MS, refused, type Rig, relayed, retry, type rig, state } from '../support/retry-rig.js';
import { bookElsewhere, booked, dismiss, named, refusedNow, SHARED } from '../support/shared-charge.js';

/** The renewal, whose success names that charge. */
async function sharing(over: Parameters<typeof rig>[0] = {}): Promise<Rig> {
  const r = booked(over);
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

describe('once a charge was let go', () => {
  it('an invoice.created under a second id is not relayed: the MoR has not answered the first', async () => {
    const r = booked();
    await r.h.take(invoiceEvent('invoice.created', { eventId: 'evt_created_1' }));
    r.h.clock.advance(60_000);
    await r.h.take(named(r));
    await dismiss(r);
    r.h.clock.advance(60_000);
    await r.h.take(invoiceEvent('invoice.created', { eventId: 'evt_created_2' }));
    await r.h.drain();
    expect(relayed(r).map((x) => x.id)).toEqual(['evt_created_1']);
  });

  it('nobody is charged for a refusal of before: the MoR corrects the charge, and the customer has paid once', async () => {
    const r = booked();
    await refused(r);
    await after(r, 2 * DAY_MS);
    await r.h.take(named(r));
    await after(r, 4 * DAY_MS);
    await dismiss(r);
    await after(r, HOUR_MS);
    expect([openKinds(await state(r)), relayed(r)]).toEqual([[], []]);
    await r.h.take(named(r, { chargeId: 'ch_own', eventId: 'evt_right' }));
    await r.h.rest(48);
    const s = await state(r);
    const taken = s.entries.filter((e) => e.reason === 'payment_collected');
    expect([s.invoice?.status, taken.map((e) => e.processorChargeId), relayed(r)]).toEqual(['paid', ['ch_own'], []]);
  });

  it('and the MoR never speaks again after a refusal of before, a person hears of it and may try again', async () => {
    const r = booked();
    await refused(r);
    r.h.clock.advance(HOUR_MS);
    await r.h.take(named(r));
    await dismiss(r);
    await r.h.rest(5 * 24);
    expect([openKinds(await state(r)), relayed(r)]).toEqual([['renewal_overdue'], []]);
    await dismiss(r, 'renewal_overdue');
    await r.h.rest(5 * 24);
    expect(relayed(r)).toEqual([]);
    expect((await retry(r)).ok).toBe(true);
    await r.h.drain();
    expect(relayed(r)).toHaveLength(1);
  });

  it.each([
    ['is charged again by its schedule', {}, ['retry']],
    ['gets its link', { retrySchedule: null }, ['payment_link']],
  ] as const)('and refused, it %s though the MoR tells of the old success again', async (_, over, made) => {
    const r = await sharing(over);
    const then = r.h.clock.now();
    await dismiss(r);
    r.h.clock.advance(HOUR_MS);
    await r.h.deliver(refusedNow(r), named(r, { eventId: 'evt_again', at: then }));
    await r.h.drain();
    const s = await state(r);
    expect([openKinds(s), s.payments[0]?.declineCode]).toEqual([[], 'insufficient_funds']);
    await after(r, 3 * DAY_MS);
    const objects = (await state(r)).objects.map((o) => o.kind);
    expect([...relayed(r).map(() => 'retry'), ...objects]).toEqual(made);
  });

  it('a refund that names it is no verdict: the alarm stays, and nobody is charged', async () => {
    const r = await sharing();
    await dismiss(r);
    await r.h.rest(48);
    await r.h.take(aRefund({ paymentId: 'pay_second', chargeId: SHARED, at: r.h.clock.now() }));
    await r.h.rest(48);
    const kinds = ['conflicting_event', 'renewal_overdue'];
    expect([openKinds(await state(r)), (await retry(r)).ok, relayed(r)]).toEqual([kinds, false, []]);
  });

  it('a retry that was under way stays so, and its true answer counts', async () => {
    const r = booked();
    await refused(r);
    await after(r, 3 * DAY_MS);
    expect(relayed(r)).toHaveLength(1);
    r.h.clock.advance(HOUR_MS);
    await r.h.take(named(r));
    await dismiss(r);
    await r.h.rest(20);
    expect([relayed(r).length, openKinds(await state(r)), (await retry(r)).ok]).toEqual([1, [], false]);
    await r.h.take(aPaymentSucceeded({ paymentId: 'pay_true', chargeId: 'ch_true', at: r.h.clock.now() }));
    await r.h.rest(2);
    const s = await state(r);
    expect([s.invoice?.status, openKinds(s), relayed(r).length]).toEqual(['paid', [], 1]);
  });

  it('another shared charge is asked about anew', async () => {
    const r = await sharing();
    bookElsewhere(r, 'ch_other');
    await dismiss(r);
    r.h.clock.advance(HOUR_MS);
    await r.h.take(named(r, { chargeId: 'ch_other', eventId: 'evt_other' }));
    expect(openKinds(await state(r))).toEqual(['double_payment']);
  });

  it('beside a payment that was marked it changes nothing', async () => {
    const r = booked();
    const right = aPaymentSucceeded({ paymentId: 'pay_true', chargeId: 'ch_true', at: r.h.clock.now() });
    await r.h.take(invoiceEvent('invoice.finalized'), right);
    await r.h.rest(1);
    await r.h.take(named(r));
    await dismiss(r);
    await r.h.take(refusedNow(r));
    await r.h.rest(100);
    const s = await state(r);
    expect([s.invoice?.status, openKinds(s), relayed(r)]).toEqual(['paid', [], []]);
  });

  it('given back under this invoice is shown to a person: no ledger has it', async () => {
    const r = await sharing();
    await dismiss(r);
    r.h.clock.advance(HOUR_MS);
    const back = { paymentId: 'pay_second', chargeId: SHARED, amount: 1000, total: 1000, at: r.h.clock.now() };
    await r.h.take(aRefund(back), aRefund({ ...back, eventId: 'evt_again' }));
    const s = await state(r);
    expect([s.entries, openKinds(s)]).toEqual([[], ['conflicting_event']]);
    expect(wordsOf(s.reviews.find((x) => x.status === 'open')).summary).toBe(
      '10.00 EUR was given back of payment pay_second, whose charge was said to have paid another invoice: the ledger does not show it',
    );
  });
});
