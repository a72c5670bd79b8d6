// Two charges on a link of which only one may have been taken: whose money went back, and what is said of it.
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
  mirrors,
  openItems,
  paid,
  settled,
  summaries,
  taken,
  withLink,
  withOneCharge,
  withTwoCharges,
} from '../support/announced-link.js';
import { putObject } from '../../src/domain/lane/change.js';
import { INVOICE_ID } from '../support/builders.js';
import { type rig } from '../support/retry-rig.js';

type Rig = ReturnType<typeof rig>;

describe('of two charges on a link of which the MoR took one', () => {
  /** A read shows the money, booked as ch_10; the payment event says that it was ch_9. */
  async function bookedAsOther(): Promise<Rig> {
    const r = await withTwoCharges(away);
    isPaid(r);
    await hours(r, 12);
    await paid(r, 'pay_nine', 'ch_9');
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
      await givenBack(r, 'pay_nine', 'ch_9');
      await hours(r, 3);
      const open = await openItems(r);
      expect(open.map((x) => [x.kind, x.summary])).toEqual([
        [
          'refund_gap',
          '10.00 EUR of payment pay_nine was refunded, and Stripe shows nothing of it: no invoice was marked for that money from here',
        ],
      ]);
      expect(open[0]?.proposal).toMatch(
        /credit it on Stripe by hand.* If it was paid twice, there is nothing to credit/,
      );
      expect(await mirrors(r)).toEqual([['not_needed', 'pay_nine']]);
    },
  );

  it('a link whose first charge was kept before there was a list of them is looked at all the same', async () => {
    const r = await withOneCharge(away);
    await r.h.command(INVOICE_ID, (s) => {
      const [o] = s.objects;
      if (o === undefined) throw new Error('there is no link');
      const { captures: _captures, ...detail } = o.detail;
      return { ok: true, state: putObject(s, { ...o, detail }), value: null };
    });
    await r.h.take(captured(r, 'evt_captured_2', { paymentLinkId: 'link_1', pspReference: 'ch_10' }));
    isPaid(r);
    await hours(r, 12);
    await paid(r, 'pay_nine', 'ch_9');
    await hours(r, 1);
    expect((await openItems(r)).map((x) => x.proposal)).toEqual([
      expect.stringMatching(/^Ask the MoR which charges it took on payment link link_1/),
    ]);
  });

  it('no item says so where the MoR names both: they are two, and one is to be given back', async () => {
    const r = await withTwoCharges(away);
    isPaid(r);
    await hours(r, 12);
    await paid(r, 'pay_ten', 'ch_10');
    await paid(r, 'pay_nine', 'ch_9');
    await hours(r, 1);
    expect((await openItems(r)).map((x) => x.proposal)).toEqual(['Refund 10.00 EUR.']);
    await givenBack(r, 'pay_nine', 'ch_9');
    await hours(r, 3);
    expect([await taken(r), await summaries(r)]).toEqual([['ch_10 confirmed', 'ch_9 closed'], []]);
  });

  it('no item says so of two payments that are on no link, of which one was given back', async () => {
    const r = await withLink(CHARGED_NEXT);
    await paid(r, 'pay_nine', 'ch_9');
    await hours(r, 1);
    await paid(r, 'pay_ten', 'ch_10');
    await hours(r, 1);
    await givenBack(r, 'pay_ten', 'ch_10');
    await hours(r, 3);
    expect([await taken(r), await summaries(r)]).toEqual([
      ['ch_9 confirmed', 'ch_10 closed'],
      [expect.stringMatching(/^the invoice is paid, and payment link link_1 can still be paid/)],
    ]);
  });

  it('nor one of a refund that a person asked for in its item, as the MoR took both', async () => {
    const r = await bookedAsOther();
    r.h.gateway.payments.set('pay_nine', { minor: 1000n, currency: 'EUR', refunded: 0n });
    await settled(r, 'refund');
    await hours(r, 3);
    expect([await mirrors(r), await summaries(r)]).toEqual([[['not_needed', 'pay_nine']], []]);
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
          / If they marked it for another charge on payment link link_1, ask the MoR whether it took ch_10 as well, and dismiss this if not\. /,
        ),
      ],
    ]);
  });
});

it('the item of a second payment says to ask first once its charge is announced on the link of the first as well', async () => {
  const r = await withOneCharge(away);
  isPaid(r);
  await hours(r, 3);
  await paid(r, 'pay_ten', 'ch_10');
  await hours(r, 1);
  expect((await openItems(r)).map((x) => x.proposal)).toEqual(['Refund 10.00 EUR.']);
  await r.h.take(captured(r, 'evt_captured_2', { paymentLinkId: 'link_1', pspReference: 'ch_10' }));
  await hours(r, 1);
  expect((await openItems(r)).map((x) => x.proposal)).toEqual([
    expect.stringMatching(
      /^Ask the MoR which charges it took on payment link link_1 .* If it is ch_10 and another one, refund 10\.00 EUR\./,
    ),
  ]);
  await givenBack(r, 'pay_ten', 'ch_10');
  await hours(r, 3);
  expect((await openItems(r)).map((x) => x.kind)).toEqual(['refund_gap']);
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
