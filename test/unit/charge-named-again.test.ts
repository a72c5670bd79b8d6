// After a charge was let go as another invoice's: the MoR speaks again, its clock is apart from ours, and what was taken back meanwhile goes on.
import { wordsOf } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { requestObject } from '../support/object-calls.js';
import { aPaymentFailed, aRefund, delivery, INVOICE_ID, invoiceEvent } from '../support/builders.js';
import { failed } from '../support/fakes.js';
import { openKinds } from '../support/lane-harness.js';
import {
  after,
  DAY_MS,
  days,
  declined,
  HOUR_MS,
  refused,
  relayed,
  retry,
  type Rig,
  SCHEDULE,
  state,
} from '../support/retry-rig.js';
import { booked, dismiss, named, refusedNow, SHARED } from '../support/shared-charge.js';

const opened = async (r: Rig): Promise<string[]> =>
  (await state(r)).reviews.filter((x) => x.status === 'open').map((x) => wordsOf(x).summary);

/** Let go, and refused an hour and a half after that. */
async function refusedSince(over: Parameters<typeof booked>[0] = {}): Promise<Rig> {
  const r = booked(over);
  await r.h.take(invoiceEvent('invoice.finalized'), named(r));
  await dismiss(r);
  await after(r, 1.5 * HOUR_MS);
  await r.h.take(refusedNow(r));
  return r;
}

describe('the MoR names the charge again, after it has refused the payment or was asked to charge it once more', () => {
  it('a person is asked again, and the schedule charges nobody beside it', async () => {
    const r = await refusedSince();
    await after(r, HOUR_MS);
    await r.h.take(named(r, { eventId: 'evt_later' }));
    await after(r, 3 * DAY_MS);
    expect(relayed(r)).toEqual([]);
    expect(await opened(r)).toEqual([
      expect.stringMatching(
        /^payment pay_second of 10.00 EUR .* names charge ch_shared, .*; the MoR says so again, after /,
      ),
    ]);
    await dismiss(r); // the same event once more asks nothing
    await r.h.take(named(r, { eventId: 'evt_later', at: new Date(r.h.clock.now().getTime() - 3 * DAY_MS) }));
    expect(openKinds(await state(r))).not.toContain('double_payment');
  });

  it('as the answer to a retry it is no silence, and no other charge is at hand', async () => {
    const r = await refusedSince({ retrySchedule: null, recoveryLinks: null });
    expect((await retry(r)).ok).toBe(true);
    await r.h.drain();
    await after(r, HOUR_MS);
    await r.h.take(named(r, { eventId: 'evt_later' }));
    await r.h.rest(49);
    expect(openKinds(await state(r))).toEqual(['double_payment']);
    expect((await retry(r)).ok).toBe(false);
  });
});

it('an earlier try is no news though the MoR’s clock is three minutes ahead of ours', async () => {
  const r = booked();
  const at = (min: number): Date => new Date(r.h.clock.now().getTime() + min * 60_000);
  const [tried, taken] = [at(2), at(3)];
  await r.h.take(invoiceEvent('invoice.finalized'), named(r, { at: taken }));
  await after(r, HOUR_MS);
  await dismiss(r);
  await after(r, HOUR_MS);
  await r.h.take(aPaymentFailed({ paymentId: 'pay_second', at: tried }));
  await after(r, 3 * DAY_MS);
  expect(relayed(r)).toEqual([]);
});

describe('while a person looks into the charge', () => {
  it('no link is made, as no retry is', async () => {
    const r = booked();
    await r.h.take(invoiceEvent('invoice.finalized'), named(r));
    expect((await retry(r)).ok).toBe(false);
    const facts = r.h.platform.invoices.get(INVOICE_ID);
    if (facts === undefined) throw new Error('none');
    const wire = { method: 'POST', path: '/x', body: '{}' } as const;
    r.h.clock.advance(2_000);
    const made = await r.h.command(INVOICE_ID, (s, ctx) => {
      const ask = { kind: 'payment_link', id: 'lnk_by_hand', wire, until: null, facts, by: 'shop' } as const;
      return requestObject(s, { ...ask, askedAt: ctx.now }, ctx);
    });
    expect(made).toMatchObject({ ok: false, code: 'invoice_not_payable' });
  });

  it('a link that the MoR has not answered is not asked for again', async () => {
    const r = booked({ retrySchedule: null });
    const create = r.links.createLink.bind(r.links);
    r.links.createLink = async () => failed('unknown', { status: 503 });
    await refused(r);
    await r.h.drain();
    await r.h.take(named(r));
    expect(openKinds(await state(r))).toContain('double_payment');
    r.links.createLink = create;
    await r.h.rest(3);
    expect(r.links.links.size).toBe(0);
  });

  it('and the MoR corrects it, the item no longer says that nothing is booked', async () => {
    const r = booked();
    await r.h.take(invoiceEvent('invoice.finalized'), named(r));
    await after(r, HOUR_MS);
    await r.h.take(named(r, { chargeId: 'ch_own', eventId: 'evt_right' }));
    const s = await state(r);
    expect(s.entries.map((e) => e.processorChargeId)).toEqual(['ch_own']);
    expect(s.reviews.map((x) => [x.status, wordsOf(x).summary, wordsOf(x).proposal])).toEqual([
      [
        'open',
        'payment pay_second for this invoice named a charge of another invoice; the MoR names charge ch_own now, which is booked here',
        'Dismiss this: the payment is marked on Stripe then, unless you have marked the invoice by hand.',
      ],
    ]);
    await dismiss(r);
    await r.h.rest(2);
    expect((await state(r)).invoice?.status).toBe('paid');
  });
});

describe('an alarm that was dismissed before the charge was named', () => {
  it('comes again once the charge is let go: the retry has no answer after all', async () => {
    const r = booked();
    await refused(r);
    await after(r, 3 * DAY_MS);
    expect(relayed(r)).toHaveLength(1);
    await r.h.rest(25);
    expect(openKinds(await state(r))).toEqual(['renewal_overdue']);
    await dismiss(r, 'renewal_overdue'); // "the MoR says it is on its way"
    await after(r, HOUR_MS);
    await r.h.take(named(r));
    await dismiss(r);
    await r.h.rest(30 * 24);
    const s = await state(r);
    expect([s.invoice?.status, relayed(r).length]).toEqual(['open', 1]);
    expect(openKinds(s)).toEqual(['renewal_overdue']);
  });

  it('comes again where nothing was ever refused', async () => {
    const r = booked({ retrySchedule: null });
    await r.h.take(invoiceEvent('invoice.finalized'));
    await r.h.rest(49);
    await dismiss(r, 'renewal_overdue');
    await after(r, HOUR_MS);
    await r.h.take(named(r));
    await dismiss(r);
    await r.h.rest(30 * 24);
    expect(openKinds(await state(r))).toEqual(['renewal_overdue']);
  });
});

it('the end of a schedule, taken back after a lost try because money came, is carried out once that is let go', async () => {
  const r = booked({ retrySchedule: { ...SCHEDULE, soft: days(3), end: 'uncollectible' } });
  await refused(r);
  await after(r, 3 * DAY_MS);
  r.h.clock.advance(60_000);
  r.h.platform.fail('mark_uncollectible', 'lost-request');
  await r.h.take(declined(r));
  expect((await state(r)).invoice?.retries?.ended?.how).toBe('uncollectible');
  await r.h.take(named(r));
  await dismiss(r);
  await after(r, 2 * HOUR_MS);
  await r.h.take(refusedNow(r));
  await r.h.rest(60 * 24);
  const left = { stripe: r.h.platform.invoices.get(INVOICE_ID)?.status, open: openKinds(await state(r)) };
  expect(left).not.toEqual({ stripe: 'open', open: [] });
});

it('a relay that was heard and whose answer was lost counts as asked: another invoice.created is no retry', async () => {
  const r = booked();
  r.h.relay.down = true; // it hears; its answers are lost
  await r.h.take(invoiceEvent('invoice.created', { eventId: 'evt_created_1' }));
  await r.h.take(named(r));
  r.h.relay.down = false;
  await dismiss(r);
  r.h.clock.advance(60_000);
  await r.h.take(invoiceEvent('invoice.created', { eventId: 'evt_created_2' }));
  await r.h.rest(1);
  expect(relayed(r).map((x) => x.id)).toEqual(['evt_created_1']);
});

describe('a paid link whose charge was let go', () => {
  async function letGo(over: Parameters<typeof booked>[0], code?: string): Promise<Rig> {
    const r = booked(over);
    await refused(r, code);
    await r.h.drain();
    r.links.pay('link_1');
    const [id, type] = ['evt_captured', 'payment.captured'];
    const data = { paymentLinkId: 'link_1', pspReference: SHARED };
    r.h.clock.advance(HOUR_MS);
    const created = r.h.clock.now().toISOString();
    await r.h.take(delivery('mor_events', id, type, INVOICE_ID, { id, type, created, data }));
    await r.h.rest(1);
    expect(openKinds(await state(r))).toEqual(['double_payment']);
    await dismiss(r);
    await after(r, 2 * HOUR_MS);
    await r.h.take(declined(r)); // the MoR's next word
    return r;
  }

  it('keeps no link from the refusal that follows, or a person hears of it', async () => {
    const r = await letGo({ retrySchedule: null });
    await r.h.rest(60 * 24);
    const s = await state(r);
    expect([s.invoice?.status, r.links.links.size, openKinds(s)]).not.toEqual(['open', 1, []]);
  });

  it('does not hold the schedule until the link’s end', async () => {
    const r = await letGo({}, 'lost_card');
    expect((await state(r)).invoice?.nextTryAt).toEqual(new Date(r.h.clock.now().getTime() + 3 * DAY_MS));
  });
});

it('the alarm after a charge was let go does not say that the MoR has said nothing', async () => {
  const r = booked();
  await r.h.take(invoiceEvent('invoice.finalized'), named(r));
  await dismiss(r);
  await r.h.rest(49);
  expect(await opened(r)).toEqual([
    expect.stringMatching(
      /^no verdict from the MoR for 10.00 EUR since .*; it named payment pay_second, of charge ch_shared, which/,
    ),
  ]);
});

describe('a link by itself that was taken back while a person looked into the charge', () => {
  /** Asked for, not answered, and taken back; then all items are dismissed, and the MoR refuses again. */
  async function refusedAgain(over: Parameters<typeof booked>[0], code?: string): Promise<Rig> {
    const r = booked(over);
    const create = r.links.createLink.bind(r.links);
    r.links.createLink = async () => failed('unknown', { status: 503 });
    await refused(r, code);
    await r.h.drain();
    await r.h.take(named(r));
    r.links.createLink = create;
    await dismiss(r);
    for (const x of (await state(r)).reviews.filter((y) => y.status === 'open')) await dismiss(r, x.kind);
    await after(r, 2 * HOUR_MS);
    await r.h.take(declined(r, code));
    return r;
  }

  it('is made once the MoR refuses again', async () => {
    const r = await refusedAgain({ retrySchedule: null });
    await r.h.rest(24);
    expect(r.links.links.size).toBe(1);
  });

  it('is no step of the schedule that was made: the subscription goes on', async () => {
    const r = await refusedAgain({ retrySchedule: { ...SCHEDULE, end: 'cancel' } }, 'stolen_card');
    for (let n = 0; n < 3; n++) await after(r, HOUR_MS);
    expect([r.links.links.size, [...r.h.platform.ended]]).toEqual([1, []]);
  });
});

describe('money that is given back under this invoice', () => {
  const back = (r: Rig): ReturnType<typeof aRefund> =>
    aRefund({ paymentId: 'pay_second', chargeId: SHARED, amount: 1000, total: 1000, at: r.h.clock.now() });

  it('before the charge was let go is shown to a person after that', async () => {
    const r = booked();
    await r.h.take(invoiceEvent('invoice.finalized'), named(r));
    await after(r, HOUR_MS);
    await r.h.take(back(r));
    await dismiss(r);
    await r.h.rest(1);
    const s = await state(r);
    expect([s.entries, openKinds(s)]).toEqual([[], ['conflicting_event']]);
  });

  it('is in the ledger once the MoR names a charge of its own, and its item closes', async () => {
    const r = booked();
    await r.h.take(invoiceEvent('invoice.finalized'), named(r));
    await dismiss(r);
    await after(r, HOUR_MS);
    await r.h.take(back(r));
    expect(openKinds(await state(r))).toEqual(['conflicting_event']);
    await after(r, HOUR_MS);
    await r.h.take(named(r, { chargeId: 'ch_own', eventId: 'evt_right' }));
    await r.h.rest(2);
    const s = await state(r);
    expect(openKinds(s)).not.toContain('conflicting_event');
    expect(s.entries.map((e) => e.reason)).toEqual(expect.arrayContaining(['payment_collected', 'refund_paid']));
  });
});
