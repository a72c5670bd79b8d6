// A person was asked about two charges on a link, and answered: what becomes of the money, and what is asked after that.
import { describe, expect, it } from '@jest/globals';
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
  markedByHand,
  openItems,
  paid,
  summaries,
  taken,
  withLink,
  withLinkAsked,
  withOneCharge,
  withTwoCharges,
} from '../support/announced-link.js';
import { retry, type rig, state } from '../support/retry-rig.js';

type Rig = ReturnType<typeof rig>;

const FIRST_OF_TWO = 'charge ch_9 was announced on payment link link_1 beside ch_10: the customer may have paid twice';

const announced = (r: Rig, id: string, pspReference: string): Promise<unknown> =>
  r.h.take(captured(r, id, { paymentLinkId: 'link_1', pspReference }));

describe('of two charges on a link', () => {
  it('the second is booked and the first asked about, where somebody marked the invoice by hand for the first', async () => {
    const r = await withOneCharge(gone);
    await hours(r, 12);
    expect((await openItems(r))[0]?.proposal).toContain(
      'by hand, with a payment record of that amount with reference link_1',
    );
    await markedByHand(r);
    await dismissed(r);
    await hours(r, 2);
    isPaid(r);
    await announced(r, 'evt_captured_2', 'ch_10');
    await hours(r, 12);
    expect([await taken(r), await summaries(r)]).toEqual([['ch_10 confirmed'], [FIRST_OF_TWO]]);
  });

  it('the one that a person marked the invoice for pays it once its event comes, and what a read shows is not simply given back', async () => {
    const r = await withTwoCharges(gone);
    await hours(r, 1);
    expect((await openItems(r))[0]?.proposal).toContain(
      'Only ch_9: if the books have a payment of payment link link_1 that has not gone back, or somebody has marked the invoice by hand for it, dismiss this; else mark the invoice on Stripe by hand',
    );
    expect((await openItems(r))[0]?.proposal).toContain('a payment record of that amount with reference ch_9,');
    await markedByHand(r, 'ch_9');
    await dismissed(r);
    isPaid(r);
    await announced(r, 'evt_captured_3', 'ch_10');
    await hours(r, 12);
    await paid(r, 'pay_9', 'ch_9');
    await hours(r, 3);
    expect(await taken(r)).toEqual(['ch_10 parked', 'ch_9 confirmed']);
    expect((await openItems(r)).map((x) => x.proposal)).toEqual([
      expect.stringMatching(
        /^If somebody marked the invoice by hand for this money, dismiss this: a refund would give the only money back\. If they marked it for another charge on payment link link_1, ask the MoR whether it took ch_10 as well, and dismiss this if not\. If it was paid twice, refund 10\.00 EUR\./,
      ),
    ]);
  });

  it('one whose event comes after a read brought the other waits for a person, who hears that it is the only money', async () => {
    const r = await withTwoCharges(away);
    isPaid(r);
    await hours(r, 12);
    await paid(r, 'pay_9', 'ch_9');
    await hours(r, 1);
    expect([await taken(r), (await openItems(r)).map((x) => x.proposal)]).toEqual([
      ['ch_10 confirmed', 'ch_9 parked'],
      [
        'Ask the MoR which charges it took on payment link link_1 and has not given back. If it is ch_9 and another one, refund 10.00 EUR. If it is one alone, a refund would give the only money back: leave this open while the event of a refund of the other one may still come. If none was made, dismiss it and leave 10.00 EUR out of your accounts: it stays in `unmarked_payments`.',
      ],
    ]);
    await givenBack(r, 'pay_10', 'ch_10');
    await hours(r, 3);
    const [item] = await openItems(r);
    expect(item?.summary).toMatch(/that money has gone back to the customer, so this is the only money there is$/);
    expect(item?.proposal).toMatch(/^The customer has paid once\. Bill that with a new invoice/);
  });

  it('the own one of the link is not simply to be given back where the event of the other came first', async () => {
    const r = await withTwoCharges(away);
    await paid(r, 'pay_9', 'ch_9');
    isPaid(r);
    await hours(r, 12);
    expect(await taken(r)).toEqual(['ch_9 confirmed', 'ch_10 parked']);
    expect((await openItems(r)).map((x) => x.proposal)).toEqual([
      expect.stringMatching(
        /^Ask the MoR which charges it took on payment link link_1 .* If it is ch_10 and another one, refund 10\.00 EUR\. .* To refund it from here, name it first/,
      ),
    ]);
  });

  it('one that comes after a card of no link has paid the invoice is to be given back', async () => {
    const r = await withTwoCharges(gone);
    await hours(r, 12);
    await dismissed(r, 1);
    await dismissed(r);
    expect(await retry(r)).toMatchObject({ ok: true });
    await r.h.drain();
    await paid(r, 'pay_oak', 'ch_oak');
    await hours(r, 3);
    await paid(r, 'pay_9', 'ch_9');
    await hours(r, 3);
    expect(await taken(r)).toEqual(['ch_oak confirmed', 'ch_9 parked']);
    expect((await openItems(r)).map((x) => x.proposal)).toEqual(['Refund 10.00 EUR.']);
  });

  it('the other is the only money where the MoR gave one back, before a read showed the link as paid', async () => {
    const r = await withTwoCharges(away);
    await givenBack(r, 'pay_10', 'ch_10');
    isPaid(r);
    await hours(r, 12);
    await paid(r, 'pay_9', 'ch_9');
    await hours(r, 3);
    expect([await taken(r), (await state(r)).refunds.map((x) => x.mirror)]).toEqual([
      ['ch_10 confirmed', 'ch_9 parked'],
      ['done'],
    ]);
    const [item] = await openItems(r);
    expect(item?.summary).toMatch(/that money has gone back to the customer, so this is the only money there is$/);
    expect(item?.proposal).toMatch(/^The customer has paid once\. Bill that with a new invoice/);
  });

  it('a refund of the one that a person found to be taken is credited once the link is read', async () => {
    const r = await withTwoCharges(away);
    await hours(r, 1);
    await dismissed(r);
    await givenBack(r, 'pay_10', 'ch_10');
    isPaid(r);
    await hours(r, 12);
    await paid(r, 'pay_10', 'ch_10');
    await hours(r, 12);
    const s = await state(r);
    expect([s.entries.map((e) => e.reason), s.refunds.map((x) => x.mirror), await summaries(r)]).toEqual([
      ['payment_collected', 'refund_paid', 'payment_marked', 'refund_mirrored'],
      ['done'],
      [],
    ]);
  });

  it.each(['before', 'after'])(
    'a refund %s the read that shows one is not credited on an invoice that somebody marked for the other',
    async (when) => {
      const r = await withTwoCharges(away);
      await hours(r, 1);
      if (when === 'before') await givenBack(r, 'pay_10', 'ch_10');
      await markedByHand(r, 'ch_9');
      await dismissed(r);
      isPaid(r);
      await hours(r, 12);
      if (when === 'after') await givenBack(r, 'pay_10', 'ch_10');
      await hours(r, 72);
      const s = await state(r);
      expect([await taken(r), s.refunds.map((x) => x.mirror), await summaries(r)]).toEqual([
        ['ch_10 closed'],
        ['not_needed'],
        [],
      ]);
      expect(s.entries.map((e) => e.reason)).toEqual(['payment_collected', 'refund_paid', 'refund_of_unmarked']);
    },
  );

  it('only the refund of the one that the read brings is credited, where both were given back before it', async () => {
    const r = await withTwoCharges(away);
    await givenBack(r, 'pay_9', 'ch_9');
    await givenBack(r, 'pay_10', 'ch_10');
    isPaid(r);
    await hours(r, 12);
    const s = await state(r);
    expect([await taken(r), s.refunds.map((x) => x.mirror)]).toEqual([['ch_10 confirmed'], ['none', 'done']]);
  });

  it('each is to be looked into before anything else is charged', async () => {
    const r = await withTwoCharges(gone);
    await hours(r, 12);
    expect((await openItems(r))[1]?.summary).toMatch(/^a payment on payment link link_1 was announced/);
    await dismissed(r, 1);
    expect(await retry(r)).toMatchObject({ ok: false });
    await dismissed(r);
    expect(await retry(r)).toMatchObject({ ok: true });
  });

  it('the one that a person answered for is not asked about again under the name that the link got since', async () => {
    const r = await withLinkAsked(away);
    const { idempotencyKey } = await byKey(r);
    await r.h.take(captured(r, 'evt_captured_1', { idempotencyKey }));
    await r.h.take(captured(r, 'evt_captured_2', { idempotencyKey, pspReference: 'ch_10' }));
    await dismissed(r);
    Reflect.deleteProperty(r.links, 'createLink');
    r.links.read = gone;
    await hours(r, 3);
    await r.h.take(captured(r, 'evt_captured_3', { idempotencyKey }));
    expect(await summaries(r)).toEqual([]);
  });

  it('the one that a person answered for is not asked about again because a third one came', async () => {
    const r = await withTwoCharges(gone);
    await dismissed(r);
    await announced(r, 'evt_captured_3', 'ch_11');
    await announced(r, 'evt_captured_4', 'ch_9');
    expect(await summaries(r)).toEqual([
      'charge ch_10 was announced on payment link link_1 beside ch_11: the customer may have paid twice',
    ]);
  });
});

it.each(['after', 'before'])(
  'a refund that is told %s the announcement and before a read shows the link as paid is in the books, and credited',
  async (when) => {
    const r = await withLink(CHARGED_NEXT);
    r.links.read = away;
    if (when === 'before') await givenBack(r, 'pay_9', 'ch_9');
    await r.h.take(captured(r));
    if (when === 'after') await givenBack(r, 'pay_9', 'ch_9');
    isPaid(r);
    await hours(r, 12);
    const s = await state(r);
    expect([await taken(r), s.refunds.map((x) => x.mirror), await summaries(r)]).toEqual([
      ['ch_9 confirmed'],
      ['done'],
      [],
    ]);
    expect(s.entries.map((e) => [e.reason, e.amount.minor])).toEqual([
      ['payment_collected', 1000n],
      ['refund_paid', 1000n],
      ['payment_marked', 1000n],
      ['refund_mirrored', 1000n],
    ]);
    await paid(r, 'pay_9', 'ch_9');
    await hours(r, 2);
    expect([await taken(r), await summaries(r)]).toEqual([['ch_9 confirmed'], []]);
  },
);
