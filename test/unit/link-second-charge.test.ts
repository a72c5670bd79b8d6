// The MoR announces a second charge on a link: the customer may have paid twice, and no read of the link will say so.
import { describe, expect, it } from '@jest/globals';
import { compareWithin } from '../../src/verify/rules/compare.js';
import {
  away,
  byKey,
  captured,
  CHARGED_NEXT,
  dismissed,
  givenBack,
  gone,
  hours,
  isPaid,
  notGiven,
  openItems,
  paid,
  shows,
  summaries,
  taken,
  withLink,
  withLinkAsked,
  withOneCharge,
  withTwoCharges,
} from '../support/announced-link.js';
import { type rig, state } from '../support/retry-rig.js';

type Rig = ReturnType<typeof rig>;

const TWICE = (link = 'link_1', other = 'ch_10', own = 'ch_9'): string =>
  `charge ${other} was announced on payment link ${link} beside ${own}: the customer may have paid twice`;

/** The MoR captured another charge on the same link. */
async function again(r: Rig, data: object = { paymentLinkId: 'link_1' }, id = 'evt_captured_2'): Promise<void> {
  await r.h.take(captured(r, id, { pspReference: 'ch_10', ...data }));
}

/** A link whose first charge is in the books: a read of it said that it is paid. */
async function recorded(): Promise<Rig> {
  const r = await withLink(CHARGED_NEXT);
  r.links.pay('link_1');
  await r.h.take(captured(r));
  await hours(r, 2);
  expect((await state(r)).payments.at(-1)).toMatchObject({ mark: 'confirmed', processorChargeId: 'ch_9' });
  return r;
}

/** A link that the MoR refused, and on which it announced a payment all the same, by the key of the request. */
async function neverGiven(): Promise<{ r: Rig; id: string; idempotencyKey: string }> {
  const r = await withLinkAsked(notGiven);
  const { idempotencyKey } = await byKey(r);
  await r.h.take(captured(r, 'evt_captured', { idempotencyKey }));
  return { r, id: (await state(r)).objects[0]?.id ?? '', idempotencyKey };
}

describe('a second charge on a link', () => {
  it('whose first one a read brought is told to a person once, and no payment is renamed by it', async () => {
    const r = await recorded();
    await again(r, { paymentLinkId: 'link_1', paymentId: 'pay_10' });
    await hours(r, 3);
    expect(await summaries(r)).toEqual([TWICE()]);
    expect((await openItems(r))[0]?.proposal).toBe(
      "Ask the MoR which charges it took on payment link link_1 and has not given back. More than one, and together more than was due: have all but one given back in the MoR's portal, and keep ch_9 if it is among them, as it counts as the payment of the link; `verify` names such a refund until you acknowledge it. Only ch_9, or none: dismiss this. Only ch_10: if the books have a payment of payment link link_1 that has not gone back, or somebody has marked the invoice by hand for it, dismiss this; else mark the invoice on Stripe by hand, with a payment record of that amount with reference ch_10, unless other money that has not gone back has paid it, or it is void: then have charge ch_10 given back in the MoR's portal. If what paid it has gone back, bill charge ch_10 with a new invoice. Dismiss this after that: the books do not have the money until the MoR tells of it.",
    );
    const s = await state(r);
    expect(s.payments.filter((p) => p.succeededAt !== null).map((p) => [p.processorChargeId, p.paymentId])).toEqual([
      ['ch_9', null],
    ]);
    expect(s.objects[0]?.detail.pspReference).toBe('ch_9');
    await dismissed(r);
    await again(r, { paymentLinkId: 'link_1' }, 'evt_captured_3');
    await hours(r, 3);
    expect(await summaries(r)).toEqual([]);
  });

  it('is told where both are announced before the link is read as paid: the last is booked, the other asked about', async () => {
    const r = await withTwoCharges(away);
    isPaid(r);
    await hours(r, 72);
    expect([await taken(r), await summaries(r)]).toEqual([['ch_10 confirmed'], [TWICE('link_1', 'ch_9', 'ch_10')]]);
  });

  it('that is announced in turn with the first has one item, of the one that does not count', async () => {
    const r = await withTwoCharges(gone);
    await r.h.take(captured(r, 'evt_captured_3'));
    expect((await openItems(r)).map((x) => x.summary)).toEqual([TWICE()]);
  });

  it.each([
    ['is unknown to the MoR', gone],
    ['says PAYABLE', shows({ status: 'PAYABLE' })],
    ['has expired', shows({ status: 'EXPIRED' })],
  ])('is told although the link %s, once the first one was booked by its payment event', async (_, read) => {
    const r = await withOneCharge(gone);
    await paid(r, 'pay_9', 'ch_9');
    await hours(r, 12);
    r.links.read = read;
    await again(r);
    await hours(r, 72);
    expect(await summaries(r)).toEqual([TWICE()]);
  });

  it('is told, where the MoR never gave the link at all', async () => {
    const { r, id, idempotencyKey } = await neverGiven();
    await paid(r, 'pay_9', 'ch_9');
    await hours(r, 12);
    await again(r, { idempotencyKey });
    await hours(r, 3);
    expect(await summaries(r)).toContainEqual(TWICE(id));
  });

  it.each(['before', 'after'])('whose payment event came %s its announcement is a second payment', async (when) => {
    const r = await recorded();
    if (when === 'before') await paid(r, 'pay_10', 'ch_10');
    await again(r);
    if (when === 'after') await paid(r, 'pay_10', 'ch_10');
    await hours(r, 2);
    expect([await taken(r), (await openItems(r)).map((x) => x.kind)]).toEqual([
      ['ch_9 confirmed', 'ch_10 parked'],
      ['double_payment'],
    ]);
  });

  it('is asked about in no item once its payment event came, nor is a first one that only its payment event told of', async () => {
    const r = await recorded();
    await paid(r, 'pay_10', 'ch_10');
    await again(r);
    expect((await state(r)).reviews.map((x) => x.kind)).toEqual(['double_payment']);
    const other = await withLink(CHARGED_NEXT);
    await other.h.take(captured(other));
    await paid(other, 'pay_9', 'ch_9');
    await again(other);
    isPaid(other);
    await hours(other, 12);
    expect([await taken(other), await summaries(other)]).toEqual([['ch_9 confirmed'], [TWICE()]]);
  });

  it('does not give the MoR’s uuid of it to the payment of the first', async () => {
    const r = await recorded();
    const uuid = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`;
    await again(r, { paymentLinkId: 'link_1', paymentId: uuid(2) });
    await again(r, { paymentLinkId: 'link_1', pspReference: 'ch_9', paymentId: uuid(1) }, 'evt_captured_3');
    const s = await state(r);
    const captures = s.objects.filter((o) => o.kind === 'capture').map((o) => [o.morId, o.paymentRowId]);
    expect(captures).toEqual([
      [uuid(2), null],
      [uuid(1), s.payments.at(-1)?.id],
    ]);
  });

  it('that is given back as the item says leaves the payment of the link as it is, and verify names the refund', async () => {
    const r = await recorded();
    await again(r);
    await givenBack(r, 'pay_10', 'ch_10');
    await hours(r, 3);
    await dismissed(r);
    await hours(r, 72);
    const s = await state(r);
    expect([await taken(r), s.entries.map((e) => e.reason)]).toEqual([
      ['ch_9 confirmed'],
      ['payment_collected', 'payment_marked'],
    ]);
    const { invoice } = s;
    if (invoice === null) throw new Error('the lane has no invoice');
    expect(compareWithin({ ...s, invoice, openReviews: [] }, r.h.clock.now()).map((d) => d.kind)).toEqual([
      'refund_not_mirrored',
    ]);
  });
});

describe('a charge that took nothing, after which the customer pays the link', () => {
  /** The MoR does not know the link; a person found that nobody had paid. */
  async function foundUnpaid(): Promise<Rig> {
    const r = await withOneCharge(gone);
    await hours(r, 12);
    await dismissed(r);
    return r;
  }

  it('is asked about and not what the payment is booked as: a refund of that is found and mirrored', async () => {
    const r = await foundUnpaid();
    isPaid(r);
    await again(r, { paymentLinkId: 'link_1', paymentId: 'pay_10' });
    await hours(r, 3);
    expect([await taken(r), await summaries(r)]).toEqual([['ch_10 confirmed'], [TWICE('link_1', 'ch_9', 'ch_10')]]);
    await givenBack(r, 'pay_10', 'ch_10');
    await hours(r, 3);
    expect((await state(r)).refunds.map((x) => x.mirror)).toEqual(['done']);
  });

  it.each(['before', 'after'])(
    'is asked about and not booked beside it where the payment event comes %s the announcement',
    async (when) => {
      const r = await foundUnpaid();
      if (when === 'before') await paid(r, 'pay_10', 'ch_10');
      await again(r);
      if (when === 'after') await paid(r, 'pay_10', 'ch_10');
      isPaid(r);
      await hours(r, 12);
      expect([await taken(r), await summaries(r)]).toEqual([['ch_10 confirmed'], [TWICE('link_1', 'ch_9', 'ch_10')]]);
    },
  );

  it('is asked about and not booked, where the payment event of the other came', async () => {
    const r = await withTwoCharges(gone);
    await paid(r, 'pay_10', 'ch_10');
    await hours(r, 1);
    isPaid(r);
    await hours(r, 12);
    expect([await taken(r), await summaries(r)]).toEqual([['ch_10 confirmed'], [TWICE('link_1', 'ch_9', 'ch_10')]]);
  });
});

describe('a charge on a link that is announced once more', () => {
  it('after a person has answered for it does not become the payment of the link', async () => {
    const r = await withTwoCharges(gone);
    await dismissed(r);
    await r.h.take(captured(r, 'evt_captured_3'));
    isPaid(r);
    await hours(r, 12);
    expect([await taken(r), await summaries(r)]).toEqual([['ch_10 confirmed'], []]);
  });

  it('while it is asked about turns the question round, though the link was looked into', async () => {
    const r = await withTwoCharges(gone);
    await hours(r, 12);
    const [, ofLink] = await openItems(r);
    expect(ofLink?.summary).toMatch(/^a payment on payment link link_1 was announced/);
    await dismissed(r, 1);
    await r.h.take(captured(r, 'evt_captured_3'));
    isPaid(r);
    await hours(r, 12);
    expect([await taken(r), await summaries(r)]).toEqual([['ch_9 confirmed'], [TWICE()]]);
  });

  it('under another of its names is the same charge', async () => {
    const r = await withLink(CHARGED_NEXT);
    await again(r, { paymentLinkId: 'link_1', pspReference: undefined, chargeId: 'ch_9' });
    r.links.pay('link_1');
    await hours(r, 2);
    await again(r, { paymentLinkId: 'link_1', pspReference: 'psp_9', chargeId: 'ch_9' }, 'evt_captured_3');
    await hours(r, 2);
    expect([await taken(r), await summaries(r)]).toEqual([['ch_9 confirmed'], []]);
  });
});

it('of two charges on a link the second is not to be given back once the first was, though that one is in the books', async () => {
  const r = await withTwoCharges(gone);
  await paid(r, 'pay_9', 'ch_9');
  await hours(r, 1);
  await givenBack(r, 'pay_9', 'ch_9');
  isPaid(r);
  await again(r, { paymentLinkId: 'link_1' }, 'evt_captured_3');
  await hours(r, 12);
  const [item, other] = await openItems(r);
  expect([await taken(r), item?.kind, other]).toEqual([
    ['ch_9 confirmed', 'ch_10 parked'],
    'double_payment',
    undefined,
  ]);
  expect(item?.summary).toMatch(/that money has gone back to the customer, so this may be the only money there is$/);
  expect(item?.proposal).toMatch(
    /^Ask the MoR whether it took charge ch_10 and has not given it back\. If not, dismiss this and leave 10\.00 EUR out of your accounts: .* If so, the customer has paid once: bill/,
  );
});

it('a link that was never given and whose charge is in the books is not asked for once more', async () => {
  const { r, idempotencyKey } = await neverGiven();
  await paid(r, 'pay_9', 'ch_9');
  await hours(r, 12);
  let asked = 0;
  r.links.createLink = () => {
    asked++;
    return notGiven();
  };
  await r.h.take(captured(r, 'evt_captured_again', { idempotencyKey }));
  await hours(r, 12);
  expect([asked, (await state(r)).objects[0]?.status]).toEqual([0, 'REFUSED']);
});
