// What the MoR names a payment on a link by.
import { describe, expect, it } from '@jest/globals';
import {
  away,
  captured,
  CHARGED_NEXT,
  givenBack,
  hours,
  isPaid,
  mirrors,
  openItems,
  paid,
  summaries,
  taken,
  withLink,
} from '../../support/announced-link.js';
import { wordsOf } from '../../support/item-words.js';
import { MemoryLaneStore } from '../../support/lane-harness.js';
import { type rig, state } from '../../support/retry-rig.js';

describe('the name of a payment on a link', () => {
  type Rig = ReturnType<typeof rig>;

  const NO_CHARGE = { paymentLinkId: 'link_1', pspReference: undefined };

  const NEITHER = { pspReference: undefined };
  const NAMED = [
    ['a charge', { pspReference: 'ch_9' }],
    ['the MoR’s id', { pspReference: undefined, paymentId: 'pay_nine' }],
    ['both', { pspReference: 'ch_9', paymentId: 'pay_nine' }],
  ] as const;

  /** One payment, announced so; a read shows the link as paid before that, or after it. */
  async function paidOnce(names: object, when: string): Promise<Rig> {
    const r = await withLink(CHARGED_NEXT);
    if (when === 'after') r.links.read = away;
    else r.links.pay('link_1');
    await hours(r, 1);
    await r.h.take(captured(r, 'evt_captured', { paymentLinkId: 'link_1', ...names }));
    await hours(r, 1);
    if (when === 'after') isPaid(r);
    await hours(r, 12);
    return r;
  }

  describe.each(['before', 'after'])('one payment on a link that a read shows %s its capture', (when) => {
    it.each([...NAMED, ['neither', NEITHER] as const])('is one payment where that names %s', async (_, names) => {
      const r = await paidOnce(names, when);
      expect([(await taken(r)).length, await summaries(r)]).toEqual([1, []]);
    });

    it.each(NAMED)(
      'is that of its event and of its refund where it names %s, and nobody is asked',
      async (_, names) => {
        const r = await paidOnce(names, when);
        await paid(r, 'pay_nine', 'ch_9');
        await givenBack(r, 'pay_nine', 'ch_9');
        await hours(r, 2);
        expect([await taken(r), await mirrors(r), await summaries(r)]).toEqual([
          ['ch_9 confirmed'],
          [['done', 'pay_nine']],
          [],
        ]);
      },
    );
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
  });

  it('a link’s payment of which a card’s event tells too is asked about when that is given back in the portal', async () => {
    const r = await withLink(CHARGED_NEXT);
    r.links.pay('link_1');
    await r.h.take(captured(r, 'evt_captured', NO_CHARGE));
    await hours(r, 2);
    await paid(r, 'pay_nine');
    await hours(r, 1);
    expect((await openItems(r)).map((x) => wordsOf(x).proposal)).toEqual([
      expect.stringMatching(/^Ask the MoR whether the customer was charged twice/),
    ]);
    await givenBack(r, 'pay_nine', 'ch_9');
    await hours(r, 3);
    expect((await openItems(r)).map((x) => x.kind)).toEqual(['refund_gap']);
  });
});
