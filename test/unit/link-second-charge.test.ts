// The MoR announces a second charge on a link: the customer may have paid twice, and no read of the link will say so.
import { describe, expect, it } from '@jest/globals';
import { messageKey } from '../../src/domain/lane/change.js';
import {
  captured,
  CHARGED_NEXT,
  dismissed,
  gone,
  openItems,
  shows,
  summaries,
  withLink,
} from '../support/announced-link.js';
import { aPaymentSucceeded, delivery, INVOICE_ID } from '../support/builders.js';
import { failed } from '../support/fakes.js';
import { after, HOUR_MS, refused, rig, state } from '../support/retry-rig.js';

type Rig = ReturnType<typeof rig>;

const TWICE = (link = 'link_1'): string =>
  `charge ch_10 was announced on payment link ${link}, whose payment is charge ch_9: the customer may have paid twice`;

async function hours(r: Rig, times: number): Promise<void> {
  for (let n = 0; n < times; n++) await after(r, HOUR_MS);
}

/** The MoR captured another charge on the same link. */
async function again(r: Rig, data: object = { paymentLinkId: 'link_1' }, id = 'evt_captured_2'): Promise<void> {
  const [type, created] = ['payment.captured', r.h.clock.now().toISOString()];
  const body = { id, type, created, data: { pspReference: 'ch_10', ...data } };
  await r.h.take(delivery('mor_events', id, type, INVOICE_ID, body));
}

const paid = (r: Rig, paymentId: string, chargeId: string): Promise<unknown> =>
  r.h.take(aPaymentSucceeded({ paymentId, chargeId, at: r.h.clock.now() }));

/** A link whose first charge is in the books: a read of it said that it is paid. */
async function recorded(): Promise<Rig> {
  const r = await withLink(CHARGED_NEXT);
  r.links.pay('link_1');
  await r.h.take(captured(r));
  await hours(r, 2);
  expect((await state(r)).payments.at(-1)).toMatchObject({ mark: 'confirmed', processorChargeId: 'ch_9' });
  return r;
}

describe('a second charge on a link', () => {
  it('whose first one a read brought is told to a person once, and no payment is renamed by it', async () => {
    const r = await recorded();
    await again(r, { paymentLinkId: 'link_1', paymentId: 'pay_10' });
    await hours(r, 3);
    expect(await summaries(r)).toEqual([TWICE()]);
    expect((await openItems(r))[0]?.proposal).toBe(
      "Ask the MoR whether it took both. If so, have one given back in the MoR's portal; if both name one payment, nothing is to be done. Dismiss this after that: the books have one of them.",
    );
    const s = await state(r);
    const taken = s.payments.filter((p) => p.succeededAt !== null);
    expect(taken.map((p) => [p.processorChargeId, p.paymentId])).toEqual([['ch_9', null]]);
    expect(s.objects[0]?.detail.pspReference).toBe('ch_9');
    await dismissed(r);
    await again(r, { paymentLinkId: 'link_1' }, 'evt_captured_3');
    await hours(r, 3);
    expect(await summaries(r)).toEqual([]);
  });

  it('is told where both are announced before the link is read as paid, and the first is booked', async () => {
    const r = await withLink(CHARGED_NEXT);
    const read = r.links.read.bind(r.links);
    r.links.read = async () => failed('unknown', { status: 503 });
    await r.h.take(captured(r));
    await again(r);
    r.links.read = read;
    r.links.pay('link_1');
    await hours(r, 72);
    const taken = (await state(r)).payments.filter((p) => p.succeededAt !== null);
    expect(taken.map((p) => [p.processorChargeId, p.mark])).toEqual([['ch_9', 'confirmed']]);
    expect(await summaries(r)).toEqual([TWICE()]);
  });

  it.each([
    ['the MoR does not know', gone],
    ['says PAYABLE', shows({ status: 'PAYABLE' })],
    ['has expired', shows({ status: 'EXPIRED' })],
  ])('is told of a link that %s, whose first one is in the books by its own event', async (_, read) => {
    const r = await withLink(CHARGED_NEXT);
    r.links.read = gone;
    await r.h.take(captured(r));
    await paid(r, 'pay_9', 'ch_9');
    await hours(r, 12);
    r.links.read = read;
    await again(r);
    await hours(r, 72);
    expect(await summaries(r)).toEqual([TWICE()]);
  });

  it('is told of a link that the MoR never gave', async () => {
    const r = rig(CHARGED_NEXT);
    r.links.createLink = async () => failed('refused', { status: 409, code: 'no_active_arrangement', message: 'none' });
    await refused(r, 'stolen_card');
    await r.h.drain();
    await after(r, 1_000);
    const id = (await state(r)).objects[0]?.id ?? '';
    const idempotencyKey = messageKey('create_payment_link', id, 1);
    await r.h.take(captured(r, 'evt_captured', { idempotencyKey }));
    await paid(r, 'pay_9', 'ch_9');
    await hours(r, 12);
    await again(r, { idempotencyKey });
    await hours(r, 3);
    expect(await summaries(r)).toContainEqual(TWICE(id));
  });

  it.each(['before', 'after'])('whose own event came %s its announcement is a payment of its own', async (when) => {
    const r = await recorded();
    if (when === 'before') await paid(r, 'pay_10', 'ch_10');
    await again(r);
    if (when === 'after') await paid(r, 'pay_10', 'ch_10');
    await hours(r, 2);
    const s = await state(r);
    expect(s.payments.filter((p) => p.succeededAt !== null).map((p) => [p.processorChargeId, p.mark])).toEqual([
      ['ch_9', 'confirmed'],
      ['ch_10', 'parked'],
    ]);
    expect((await openItems(r)).map((x) => x.kind)).toEqual(['double_payment']);
  });
});
