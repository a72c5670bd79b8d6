// Two payments on a link whose captures name no charge, and two charges of which only one was taken: whose money went back, and what is said of it.
import { describe, expect, it } from '@jest/globals';
import {
  away,
  callerReads,
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
import { MemoryLaneStore } from '../support/lane-harness.js';
import { type rig, state } from '../support/retry-rig.js';

type Rig = ReturnType<typeof rig>;

const NO_CHARGE = { paymentLinkId: 'link_1', pspReference: undefined };

/** The link is paid, announced by the MoR's id of the payment alone, and paid once more. */
async function paidTwice(first: object = { ...NO_CHARGE, paymentId: 'pay_nine' }): Promise<Rig> {
  const r = await withLink(CHARGED_NEXT);
  r.links.pay('link_1');
  await r.h.take(captured(r, 'evt_captured', first));
  await hours(r, 2);
  await r.h.take(captured(r, 'evt_captured_2', { ...NO_CHARGE, paymentId: 'pay_ten' }));
  return r;
}

/** Of each refund: what became of its twin on Stripe, and the name of its payment. */
async function mirrors(r: Rig): Promise<readonly unknown[]> {
  const s = await state(r);
  return s.refunds.map((x) => [x.mirror, s.payments.find((p) => p.id === x.paymentRowId)?.paymentId]);
}

describe('a second payment on a link whose capture names no charge', () => {
  it.each([
    ['no charge either', { ...NO_CHARGE, paymentId: 'pay_nine' }, 'pay_nine'],
    ['a charge', { paymentLinkId: 'link_1', pspReference: 'ch_9' }, null],
  ])('does not name the first, whose capture named %s: its refund is not credited', async (_, first, name) => {
    const r = await paidTwice(first);
    await givenBack(r, 'pay_ten', 'ch_10');
    await hours(r, 3);
    const [payment] = (await state(r)).payments.filter((p) => p.succeededAt !== null);
    expect([payment?.mark, payment?.paymentId, payment?.amountRefunded]).toEqual(['confirmed', name, 0n]);
    expect(await mirrors(r)).toEqual([['none', 'pay_ten']]);
  });

  it('is a double payment once its own event comes', async () => {
    const r = await paidTwice();
    await paid(r, 'pay_ten', 'ch_10');
    await hours(r, 2);
    expect([await taken(r), (await openItems(r)).map((x) => x.kind)]).toEqual([
      [' confirmed', 'ch_10 parked'],
      ['double_payment'],
    ]);
  });

  it('is none, where it is the first that is told of as a card payment too', async () => {
    const r = await paidTwice();
    await paid(r, 'pay_nine', 'ch_9');
    await hours(r, 2);
    expect([await taken(r), await summaries(r)]).toEqual([['ch_9 confirmed'], []]);
  });
});

describe('a payment on a link whose capture names the MoR’s id of it and no charge', () => {
  const ofPayNine = (r: Rig, id = 'evt_captured'): Promise<unknown> =>
    r.h.take(captured(r, id, { ...NO_CHARGE, paymentId: 'pay_nine' }));

  it.each(['before', 'after'])(
    'has that name: what is given back of it is credited, told %s the read',
    async (when) => {
      const r = await withLink(CHARGED_NEXT);
      r.links.read = away;
      await ofPayNine(r);
      if (when === 'before') await givenBack(r, 'pay_nine', 'ch_9');
      isPaid(r);
      await hours(r, 12);
      if (when === 'after') await givenBack(r, 'pay_nine', 'ch_9');
      await hours(r, 3);
      const s = await state(r);
      expect([await taken(r), await mirrors(r), await summaries(r)]).toEqual([
        ['ch_9 confirmed'],
        [['done', 'pay_nine']],
        [],
      ]);
      expect(s.entries.map((e) => [e.reason, e.amount.minor]).toSorted()).toEqual([
        ['payment_collected', 1000n],
        ['payment_marked', 1000n],
        ['refund_mirrored', 1000n],
        ['refund_paid', 1000n],
      ]);
    },
  );

  it('is booked without a name where that is of a payment of another invoice', async () => {
    const r = await withLink(CHARGED_NEXT);
    if (!(r.h.backend.store instanceof MemoryLaneStore)) throw new Error('not in memory');
    r.h.backend.store.namedElsewhere.set('pay_nine', 'in_other');
    r.links.pay('link_1');
    await ofPayNine(r);
    await hours(r, 3);
    expect((await state(r)).payments.filter((p) => p.succeededAt !== null)).toMatchObject([
      { paymentId: null, mark: 'confirmed', amount: 1000n },
    ]);
  });

  it('has that name also where a caller’s read brought it', async () => {
    const r = await withLink(CHARGED_NEXT);
    r.links.read = away;
    await ofPayNine(r);
    r.links.pay('link_1');
    Reflect.deleteProperty(r.links, 'read');
    await callerReads(r, (kind, id) => r.links.read(kind, id));
    await hours(r, 3);
    expect((await state(r)).payments.filter((p) => p.succeededAt !== null)).toMatchObject([
      { paymentId: 'pay_nine', origin: 'payment_link', mark: 'confirmed' },
    ]);
  });

  it.each(['before', 'after'])('is the payment that a card’s event tells of %s the capture', async (when) => {
    const r = await withLink(CHARGED_NEXT);
    r.links.read = away;
    if (when === 'before') await paid(r, 'pay_nine', 'ch_9');
    await ofPayNine(r);
    if (when === 'after') await paid(r, 'pay_nine', 'ch_9');
    isPaid(r);
    await hours(r, 12);
    const s = await state(r);
    expect([await taken(r), await summaries(r), s.entries.map((e) => e.reason)]).toEqual([
      ['ch_9 confirmed'],
      [],
      ['payment_collected', 'payment_marked'],
    ]);
  });

  it('has that name where a person marked the invoice for it and a read shows it later: its refund is told', async () => {
    const r = await withLink(CHARGED_NEXT);
    r.links.read = gone;
    await ofPayNine(r);
    await hours(r, 12);
    await markedByHand(r);
    await dismissed(r);
    isPaid(r);
    await callerReads(r, (kind, id) => r.links.read(kind, id));
    await hours(r, 3);
    await givenBack(r, 'pay_nine', 'ch_9');
    await hours(r, 3);
    expect([await taken(r), await mirrors(r)]).toEqual([['ch_9 confirmed'], [['done', 'pay_nine']]]);
  });

  it.each([
    ['gave back the first, and none of its own', { ...NO_CHARGE, paymentId: 'pay_ten' }],
    ['gave back the first, and its charge', { paymentLinkId: 'link_1', pspReference: 'ch_10', paymentId: 'pay_ten' }],
  ])('has no part in a second payment, of which the MoR says that it %s', async (_, second) => {
    const r = await withLink(CHARGED_NEXT);
    r.links.read = away;
    await ofPayNine(r);
    await givenBack(r, 'pay_nine', 'ch_9');
    await r.h.take(captured(r, 'evt_captured_2', second));
    isPaid(r);
    await hours(r, 12);
    const [payment] = (await state(r)).payments.filter((p) => p.succeededAt !== null);
    expect([payment?.mark, payment?.paymentId, payment?.amountRefunded]).toEqual(['confirmed', null, 0n]);
    expect(await mirrors(r)).toEqual([['none', 'pay_nine']]);
  });
});

it('a link’s payment of which a card’s event tells too is asked about when that is given back in the portal', async () => {
  const r = await withLink(CHARGED_NEXT);
  r.links.pay('link_1');
  await r.h.take(captured(r, 'evt_captured', NO_CHARGE));
  await hours(r, 2);
  await paid(r, 'pay_nine');
  await hours(r, 1);
  expect((await openItems(r)).map((x) => x.proposal)).toEqual([
    expect.stringMatching(/^Ask the MoR whether charge ch_9 paid link link_1: then it is one payment, told twice/),
  ]);
  await givenBack(r, 'pay_nine', 'ch_9');
  await hours(r, 3);
  expect((await openItems(r)).map((x) => x.kind)).toEqual(['refund_gap']);
});

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
