// One charge is booked for one payment: what becomes of a payment that names a charge of another invoice.
import { describe, expect, it } from '@jest/globals';
import { type LaneState, type LedgerEntry, type PaymentRow } from '../../../src/domain/model.js';
import { type Ctx, emptyLane } from '../../../src/engine/context.js';
import { putPayment } from '../../support/put-rows.js';
import { isOfSharedCharge } from '../../../src/engine/open-money.js';
import { collectedCharges, newPayment } from '../../../src/engine/payment.js';
import { collect, settleAmount } from '../../../src/engine/one-charge.js';
import { paymentCollected, paymentMarked } from '../../../src/domain/postings.js';
import { aPaymentFailed, aPaymentSucceeded, invoiceEvent } from '../../support/builders.js';
import { aCtx, NOW } from '../../support/channel-lane.js';
import { openKinds } from '../../support/lane-harness.js';
import { never } from '../../support/never.js';
import { after, DAY_MS, HOUR_MS, type Rig, relayed, retry, state } from '../../support/retry-rig.js';
import { booked, dismiss, named, refusedNow } from '../../support/shared-charge.js';
import { decide, openReview } from '../../support/decide.js';
import { FACTS } from '../../support/item-facts.js';

const payment = (over: Partial<PaymentRow> = {}): PaymentRow =>
  newPayment(aCtx(), {
    ...{ id: 'pmt_1', invoiceId: 'in_1', customerId: 'cus_1', currency: 'EUR', amount: 2990n, paymentId: 'pay_1' },
    ...{ processorChargeId: 'ch_1', succeededAt: NOW, mark: 'waiting', ...over },
  });
const elsewhere: Ctx = {
  ...aCtx(),
  chargesElsewhere: new Map([['ch_1', { invoiceId: 'in_0', payment: 'pay_0' }]]),
};
const collected = (p: PaymentRow, ctx: Ctx, ...others: PaymentRow[]): LaneState =>
  decide([...others, p].reduce(putPayment, emptyLane('in_1')), ctx, (lane) => {
    collect(lane, lane.findPayment(p.id) ?? never(), 'evt_1');
  });

describe('the money of a charge', () => {
  it('is not booked again for another invoice, and an item names both', () => {
    const s = collected(payment({ proveDueAt: NOW }), elsewhere);
    expect(s.entries).toEqual([]);
    expect(s.payments).toMatchObject([{ mark: 'parked', succeededAt: null, proveDueAt: null }]);
    expect(s.reviews).toMatchObject([
      {
        ...{ kind: 'double_payment', status: 'open', paymentRowId: 'pmt_1', actions: ['dismiss'] },
        fact: { code: 'charge-elsewhere', charge: 'ch_1', holder: 'pay_0', holderInvoice: 'in_0' },
      },
    ]);
    expect(s.reviews.map(isOfSharedCharge)).toEqual([true]);
  });

  it.each(['waiting', 'none', 'proving', 'parked'] as const)('parks a payment that is %s', (mark) => {
    expect(collected(payment({ mark }), elsewhere).payments).toMatchObject([{ mark: 'parked' }]);
  });

  it('leaves a payment closed that a person dismissed', () => {
    expect(collected(payment({ mark: 'closed' }), elsewhere).payments).toMatchObject([
      { mark: 'closed', status: 'failed', succeededAt: null },
    ]);
  });

  it('is booked for its own invoice, and for a charge that nobody else has', () => {
    for (const p of [payment({ processorChargeId: 'ch_2' }), payment({ processorChargeId: null })]) {
      const s = collected(p, elsewhere);
      expect(s.entries).toEqual([paymentCollected(p, 2990n, NOW, 'evt_1')]);
      expect(s.reviews).toEqual([]);
    }
  });

  it('is booked for two payments of one invoice, under its id once: the second may be money of its own', () => {
    const second = payment({ id: 'pmt_2', paymentId: 'pay_2' });
    const charges = (p: PaymentRow, ...others: PaymentRow[]) =>
      collected(p, aCtx(), ...others).entries.map((e) => [e.subject, e.processorChargeId]);
    expect(charges(second, payment())).toEqual([['pmt_2', null]]);
    expect(charges(second, payment({ succeededAt: null }))).toEqual([['pmt_2', 'ch_1']]);
    expect(charges(second, payment({ processorChargeId: 'ch_9' }))).toEqual([['pmt_2', 'ch_1']]);
    expect(charges(payment())).toEqual([['pmt_1', 'ch_1']]);
  });

  it('names the charges that the database must ask other invoices about', () => {
    const entries: LedgerEntry[] = [
      paymentCollected(payment(), 1n, NOW, null),
      paymentMarked(payment({ processorChargeId: 'ch_2' }), 1n, NOW),
      paymentCollected(payment({ processorChargeId: null }), 1n, NOW, null),
    ];
    expect(collectedCharges(entries)).toEqual(['ch_1']);
  });
});

/** The renewal's success names a charge that is booked for another invoice. */
async function sharing(over: Parameters<typeof booked>[0] = {}): Promise<Rig> {
  const r = booked(over);
  await r.h.take(invoiceEvent('invoice.finalized'), named(r));
  expect(openKinds(await state(r))).toEqual(['double_payment']);
  return r;
}

describe('a renewal that names a charge of another invoice', () => {
  it('is charged by nobody while a person looks into it', async () => {
    const r = await sharing();
    expect((await retry(r)).ok).toBe(false);
    await after(r, 3 * DAY_MS);
    expect([relayed(r), (await state(r)).objects]).toEqual([[], []]);
  });

  it.each([{}, { retrySchedule: null }])(
    'is charged by nobody after the dismissal, and its alarm comes (%j)',
    async (over) => {
      const r = await sharing(over);
      await dismiss(r);
      await after(r, HOUR_MS);
      await r.h.take(refusedNow(r));
      await r.h.rest(49);
      const s = await state(r);
      expect(s.payments).toMatchObject([{ mark: 'closed', status: 'failed' }]);
      expect([openKinds(s), s.objects, relayed(r), s.entries]).toEqual([['renewal_overdue'], [], [], []]);
    },
  );

  it('refused before, waits for the MoR after the dismissal, raises its alarm, and is tried again after the next refusal', async () => {
    const r = booked();
    await r.h.take(invoiceEvent('invoice.finalized'), aPaymentFailed({ paymentId: 'pay_a', at: r.h.clock.now() }));
    await after(r, HOUR_MS);
    await r.h.take(named(r));
    await dismiss(r);
    expect((await state(r)).invoice?.nextTryAt).toBeNull();
    await r.h.rest(25);
    expect([openKinds(await state(r)), relayed(r)]).toEqual([['renewal_overdue'], []]);
    await r.h.take(aPaymentFailed({ paymentId: 'pay_b', at: r.h.clock.now() }));
    await after(r, 3 * DAY_MS);
    expect([openKinds(await state(r)), relayed(r).length]).toEqual([[], 1]);
  });

  it('is not asked about again when the MoR names the same charge again', async () => {
    const r = await sharing();
    await dismiss(r);
    await after(r, HOUR_MS);
    await r.h.take(named(r, { eventId: 'evt_again' }));
    const s = await state(r);
    expect([openKinds(s), s.entries, s.payments.map((p) => p.mark)]).toEqual([[], [], ['closed']]);
  });

  it.each([false, true])(
    'is marked as soon as the MoR names a charge of its own (dismissed: %s)',
    async (isDismissed) => {
      const r = await sharing();
      if (isDismissed) await dismiss(r);
      await after(r, HOUR_MS);
      await r.h.take(named(r, { chargeId: 'ch_own', eventId: 'evt_own' }));
      await r.h.rest(1);
      const s = await state(r);
      expect([s.invoice?.status, openKinds(s)]).toEqual(['paid', []]);
      expect(s.entries.map((e) => [e.reason, e.processorChargeId])).toEqual([
        ['payment_collected', 'ch_own'],
        ['payment_marked', 'ch_own'],
      ]);
    },
  );

  it('is paid by another payment after the dismissal', async () => {
    const r = await sharing();
    await dismiss(r);
    await after(r, HOUR_MS);
    const at = r.h.clock.now();
    await r.h.take(aPaymentFailed({ paymentId: 'pay_a', at }));
    await after(r, HOUR_MS);
    await r.h.take(aPaymentSucceeded({ paymentId: 'pay_won', chargeId: 'ch_won', at: r.h.clock.now() }));
    await r.h.rest(24);
    const s = await state(r);
    expect([s.invoice?.status, openKinds(s)]).toEqual(['paid', []]);
    expect(r.h.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
  });
});

describe('the amount of a signup, once it is certain', () => {
  const parked = payment({ id: 'pmt_1', signupId: 'sup_1', origin: 'signup', mark: 'parked' });
  const asked = (s: LaneState, subject = 'sup_1'): LaneState =>
    openReview(s, aCtx(), { kind: 'amount_mismatch', subject, fact: FACTS.amount_mismatch });
  const known = (p: PaymentRow): LaneState => putPayment(emptyLane('in_1'), p);
  const amountSettled = (s: LaneState): LaneState =>
    decide(s, aCtx(), (l) => settleAmount(l, l.findPayment('pmt_1') ?? never(), 'said rightly'));
  const settled = (p: PaymentRow): LaneState => amountSettled(asked(asked(known(p)), 'pmt_1'));

  it('closes its own item, and the payment in wait for it goes on', () => {
    const s = settled(parked);
    expect(s.reviews).toMatchObject([
      { subject: 'sup_1', status: 'resolved', resolution: 'cleared', note: 'said rightly' },
      { subject: 'pmt_1', status: 'open' },
    ]);
    expect(s.payments).toMatchObject([{ mark: 'waiting' }]);
  });

  it('proves no charge: an unproven payment stays where it is', () => {
    const marks = (over: Partial<PaymentRow>): string | undefined => settled({ ...parked, ...over }).payments[0]?.mark;
    expect(marks({ succeededAt: null })).toBe('parked');
    expect(marks({ succeededAt: null, mark: 'proving' })).toBe('proving');
    expect(marks({ mark: 'confirmed' })).toBe('confirmed');
  });

  it('changes nothing without an item, or for a renewal', () => {
    const s = known(parked);
    expect(amountSettled(s)).toBe(s);
    const renewal = asked(known({ ...parked, signupId: null }), 'null');
    expect(amountSettled(renewal)).toBe(renewal);
  });
});
