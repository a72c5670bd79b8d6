// Two payments on a link whose captures name no charge, and two charges of which only one was taken: whose money went back, and what is said of it.
import { describe, expect, it } from '@jest/globals';
import {
  away,
  captured,
  CHARGED_NEXT,
  dismissed,
  givenBack,
  gone,
  hours,
  isPaid,
  markedByHand,
  openItems,
  paid,
  settled,
  summaries,
  taken,
  withLink,
  withOneCharge,
  withTwoCharges,
} from '../support/announced-link.js';
import { type rig, state } from '../support/retry-rig.js';

type Rig = ReturnType<typeof rig>;

const NO_CHARGE = { paymentLinkId: 'link_1', pspReference: undefined };

/** The link is paid, announced by the MoR's id of the payment alone, and paid once more. */
async function paidTwice(first: object = { ...NO_CHARGE, paymentId: 'pay_9' }): Promise<Rig> {
  const r = await withLink(CHARGED_NEXT);
  r.links.pay('link_1');
  await r.h.take(captured(r, 'evt_captured', first));
  await hours(r, 2);
  await r.h.take(captured(r, 'evt_captured_2', { ...NO_CHARGE, paymentId: 'pay_10' }));
  return r;
}

/** Of each refund: what became of its twin on Stripe, and the name of its payment. */
async function mirrors(r: Rig): Promise<readonly unknown[]> {
  const s = await state(r);
  return s.refunds.map((x) => [x.mirror, s.payments.find((p) => p.id === x.paymentRowId)?.paymentId]);
}

describe('a second payment on a link whose capture names no charge', () => {
  it.each([
    ['no charge either', { ...NO_CHARGE, paymentId: 'pay_9' }],
    ['a charge', { paymentLinkId: 'link_1', pspReference: 'ch_9' }],
  ])('does not name the first, whose capture named %s: what is given back of it is not credited', async (_, first) => {
    const r = await paidTwice(first);
    await givenBack(r, 'pay_10', 'ch_10');
    await hours(r, 3);
    const [payment] = (await state(r)).payments.filter((p) => p.succeededAt !== null);
    expect([payment?.mark, payment?.paymentId, payment?.amountRefunded]).toEqual(['confirmed', null, 0n]);
    expect(await mirrors(r)).toEqual([['none', 'pay_10']]);
  });

  it('is a double payment once its own event comes', async () => {
    const r = await paidTwice();
    await paid(r, 'pay_10', 'ch_10');
    await hours(r, 2);
    expect([await taken(r), (await openItems(r)).map((x) => x.kind)]).toEqual([
      [' confirmed', 'ch_10 parked'],
      ['double_payment'],
    ]);
  });

  it('is none, where the capture of the first is told once more: then that names it, and its refund is credited', async () => {
    const r = await withLink(CHARGED_NEXT);
    r.links.pay('link_1');
    for (const id of ['evt_captured', 'evt_captured_2']) {
      await r.h.take(captured(r, id, { ...NO_CHARGE, paymentId: 'pay_9' }));
      await hours(r, 2);
    }
    await givenBack(r, 'pay_9', 'ch_9');
    await hours(r, 3);
    expect(await mirrors(r)).toEqual([['done', 'pay_9']]);
  });
});

describe('of two charges on a link of which the MoR took one', () => {
  /** A read shows the money, booked as ch_10; the payment event says that it was ch_9. */
  async function bookedAsOther(): Promise<Rig> {
    const r = await withTwoCharges(away);
    isPaid(r);
    await hours(r, 12);
    await paid(r, 'pay_9', 'ch_9');
    await hours(r, 1);
    expect(await taken(r)).toEqual(['ch_10 confirmed', 'ch_9 parked']);
    return r;
  }

  it.each(['dismissed', 'open'])(
    'a refund of that is told while the item of it is %s: Stripe shows the invoice as paid, and nobody else would say it',
    async (item) => {
      const r = await bookedAsOther();
      if (item === 'dismissed') await dismissed(r);
      await hours(r, 72);
      await givenBack(r, 'pay_9', 'ch_9');
      await hours(r, 3);
      const open = await openItems(r);
      expect(open.map((x) => [x.kind, x.summary])).toEqual([
        [
          'refund_gap',
          '10.00 EUR of payment pay_9 was refunded, and Stripe shows nothing of it: no invoice was marked for that money from here',
        ],
      ]);
      expect(open[0]?.proposal).toMatch(
        /credit it on Stripe by hand.* If it was paid twice, there is nothing to credit/,
      );
      expect(await mirrors(r)).toEqual([['not_needed', 'pay_9']]);
    },
  );

  it('no item says so of two payments that are on no link, of which one was given back', async () => {
    const r = await withLink(CHARGED_NEXT);
    await paid(r, 'pay_9', 'ch_9');
    await hours(r, 1);
    await paid(r, 'pay_10', 'ch_10');
    await hours(r, 1);
    await givenBack(r, 'pay_10', 'ch_10');
    await hours(r, 3);
    expect([await taken(r), await summaries(r)]).toEqual([
      ['ch_9 confirmed', 'ch_10 closed'],
      [expect.stringMatching(/^the invoice is paid, and payment link link_1 can still be paid/)],
    ]);
  });

  it('nor one of a refund that a person asked for in its item, as the MoR took both', async () => {
    const r = await bookedAsOther();
    r.h.gateway.payments.set('pay_9', { minor: 1000n, currency: 'EUR', refunded: 0n });
    await settled(r, 'refund');
    await hours(r, 3);
    expect([await mirrors(r), await summaries(r)]).toEqual([[['not_needed', 'pay_9']], []]);
  });

  it('the one that somebody marked the invoice for may be the only one: what a read shows beside it says so', async () => {
    const r = await withTwoCharges(away);
    await markedByHand(r, 'ch_9');
    await dismissed(r);
    isPaid(r);
    await hours(r, 12);
    expect([await taken(r), (await openItems(r)).map((x) => x.proposal)]).toEqual([
      ['ch_10 parked'],
      [
        expect.stringMatching(
          /^If somebody marked the invoice by hand for this money, or for another charge on payment link link_1 of which this one was not taken, dismiss this: /,
        ),
      ],
    ]);
  });
});

it('an item of a link says to settle the item of its other charge first: by both at once all the money could go back', async () => {
  const r = await withTwoCharges(gone);
  await hours(r, 12);
  const first = 'Settle the item of each other charge on this link first. Ask the MoR whether the customer paid.';
  const [other, link] = await openItems(r);
  expect([other?.proposal.startsWith('Ask the MoR which charges it took'), link?.proposal.startsWith(first)]).toEqual([
    true,
    true,
  ]);
  const alone = await withOneCharge(gone);
  await hours(alone, 12);
  expect((await openItems(alone))[0]?.proposal).toMatch(/^Ask the MoR whether the customer paid\./);
});

it('of three charges on a link both others are asked about beside the last, which is to be kept', async () => {
  const r = await withTwoCharges(gone);
  await r.h.take(captured(r, 'evt_captured_3', { paymentLinkId: 'link_1', pspReference: 'ch_11' }));
  const items = await openItems(r);
  expect(items.map((x) => [x.summary, x.proposal.includes('keep ch_11 if it is among them')])).toEqual([
    ['charge ch_9 was announced on payment link link_1 beside ch_11: the customer may have paid twice', true],
    ['charge ch_10 was announced on payment link link_1 beside ch_11: the customer may have paid twice', true],
  ]);
});
