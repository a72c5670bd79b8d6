// Money that was announced on a link of which nothing more is heard, or whose charge is in the books: nothing is held with nobody asked.
import { wordsOf } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { moneyAnnounced } from '../../src/engine/open-money.js';
import {
  away,
  byKey,
  callerReads,
  captured,
  CHARGED_NEXT,
  dismissed,
  gone,
  hours,
  notGiven,
  openItems,
  paid,
  settled,
  shows,
  topics,
  withLink,
  withLinkAsked,
} from '../support/announced-link.js';
import { INVOICE_ID } from '../support/builders.js';
import { failed } from '../support/fakes.js';
import { after, HOUR_MS, refused, relayed, rig, state } from '../support/retry-rig.js';

type Rig = ReturnType<typeof rig>;

/** A renewal that was refused, and whose link the MoR is asked for; what it answers can be changed. */
async function asked(answer: 'away' | 'refused'): Promise<Rig & { answer: 'away' | 'refused' }> {
  const said = { answer };
  const r = await withLinkAsked(() => (said.answer === 'away' ? away() : notGiven()));
  return Object.assign(said, r);
}

/** The MoR announces a payment on the link that was asked for first, by the key of its request. */
async function announced(r: Rig, id = 'evt_captured'): Promise<void> {
  await r.h.take(captured(r, id, await byKey(r)));
}

/** Nothing is held unseen: one item is open, and once it is dismissed the schedule goes on. */
async function expectAsked(r: Rig): Promise<void> {
  expect([await topics(r), relayed(r)]).toEqual([['link-lost'], []]);
  expect(wordsOf((await openItems(r))[0]).proposal).toMatch(/Ask (the MoR|it) whether the customer paid/);
  await dismissed(r);
  expect(moneyAnnounced(await state(r))).toBeNull();
}

describe('a payment on a link that the MoR never gave', () => {
  it('is asked about after two days without an answer to its request', async () => {
    const r = await asked('away');
    await announced(r);
    await hours(r, 47);
    expect(await topics(r)).toEqual([]);
    await hours(r, 3);
    await expectAsked(r);
  });

  it('is to be marked by hand with the id that the MoR has for the link, under which its money is found later', async () => {
    const r = await asked('away');
    await announced(r);
    await hours(r, 50);
    expect(wordsOf((await openItems(r))[0]).proposal).toContain(
      "with reference the link's id at the MoR (ask for it),",
    );
  });

  it('is asked about once more, announced again after its request was refused, while the MoR is away', async () => {
    const r = await asked('away');
    await announced(r);
    r.answer = 'refused';
    await hours(r, 3);
    expect(await topics(r)).toEqual(['link-lost']);
    r.answer = 'away';
    await announced(r, 'evt_captured_again');
    await hours(r, 1);
    expect(await topics(r)).toEqual([]);
    await hours(r, 60);
    await expectAsked(r);
  });

  it('is asked about where a person set the link aside since', async () => {
    const r = await asked('refused');
    await announced(r);
    await hours(r, 2);
    expect((await openItems(r)).map((x) => x.kind)).toEqual(['effect_failed', 'conflicting_event']);
    await settled(r, 'retry');
    await hours(r, 2);
    await announced(r, 'evt_captured_again');
    await hours(r, 2);
    expect((await state(r)).objects[0]?.status).toBe('REPLACED');
    expect(await topics(r)).toContain('link-lost');
  });

  it('is asked about where another link took its place, as the MoR does not collect in that country', async () => {
    const r = rig(CHARGED_NEXT);
    r.h.platform.change(INVOICE_ID, { customerCountry: 'AT' });
    r.links.notServed.add('AT');
    await refused(r, 'stolen_card');
    await r.h.drain();
    await after(r, 1_000);
    expect((await state(r)).objects.map((o) => o.status)).toEqual(['REPLACED', 'PAYABLE']);
    await announced(r);
    await expectAsked(r);
  });

  it.each(['before the refusal', 'after the item'])(
    'is asked about no more once its charge is in the books, %s',
    async (when) => {
      const r = await asked('away');
      await announced(r);
      if (when === 'before the refusal') await paid(r);
      r.answer = 'refused';
      await hours(r, 3);
      expect(await openItems(r)).toHaveLength(when === 'after the item' ? 1 : 0);
      if (when === 'after the item') await paid(r);
      await hours(r, 3);
      expect([await topics(r), (await state(r)).payments.at(-1)?.mark]).toEqual([[], 'confirmed']);
    },
  );
});

describe('a link whose charge is in the books', () => {
  /** As the MoR shows it now; the event of its charge came. */
  async function booked(read: Rig['links']['read']): Promise<Rig> {
    const r = await withLink(CHARGED_NEXT);
    r.links.read = read;
    await r.h.take(captured(r));
    await paid(r);
    await hours(r, 10);
    const s = await state(r);
    expect([await topics(r), s.objects[0]?.paymentRowId]).toEqual([[], s.payments.at(-1)?.id]);
    return r;
  }

  it.each([
    ['is paid, nobody knows how much', shows({ status: 'PAID' })],
    ['is unknown to the MoR', gone],
  ])('and that %s is asked about neither by a caller nor by the same announcement once more', async (_, read) => {
    const r = await booked(read);
    await callerReads(r, read);
    await r.h.take(captured(r, 'evt_captured_again'));
    await hours(r, 5);
    expect(await topics(r)).toEqual([]);
  });

  it('and that the MoR does not show any more is not asked about when it is announced again', async () => {
    const r = await booked(gone);
    r.links.read = async () => failed('refused', { status: 403 });
    await r.h.take(captured(r, 'evt_captured_again'));
    await hours(r, 5);
    expect([await topics(r), (await state(r)).objects[0]?.readDueAt]).toEqual([[], null]);
  });

  it.each([
    ['says PAYABLE', shows({ status: 'PAYABLE' })],
    ['may not be read', async () => failed('refused', { status: 403 })],
  ] as const)('and that %s for days is asked about by nobody', async (_, read) => {
    await hours(await booked(read), 62);
  });

  it('and that has ended is neither asked about nor read for ever where it may not be read', async () => {
    const r = await booked(gone);
    await callerReads(r, shows({ status: 'PAYABLE' }));
    r.links.read = async () => failed('refused', { status: 403 });
    for (let n = 0; n < 16; n++) await after(r, 12 * HOUR_MS);
    await hours(r, 24);
    expect([await topics(r), (await state(r)).objects[0]]).toMatchObject([[], { status: 'EXPIRED', readDueAt: null }]);
  });

  it('as a read of it brought the money is not asked about when a later read does not say how much', async () => {
    const r = await withLink(CHARGED_NEXT);
    r.links.pay('link_1');
    await hours(r, 2);
    expect((await state(r)).payments.at(-1)).toMatchObject({ origin: 'payment_link', mark: 'confirmed' });
    await callerReads(r, shows({ status: 'PAID' }));
    expect(await topics(r)).toEqual([]);
  });
});
