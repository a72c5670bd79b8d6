// Links whose money is not known for sure: a person hears of it once, in words that hold now, and nothing is charged meanwhile.
import { describe, expect, it } from '@jest/globals';
import { resolveReview } from '../../../src/decisions/decide.js';
import { moneyAnnounced } from '../../../src/engine/open-money.js';
import { PaymentLinksController } from '../../../src/links/payment-links.controller.js';
import { PaymentLinksFlow } from '../../../src/links/payment-links.flow.js';
import { MorObjectsFlow } from '../../../src/mor-objects/mor-objects.flow.js';
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
  shows,
  topics,
  withLink,
  withLinkAsked,
} from '../../support/announced-link.js';
import { aPaymentSucceeded, INVOICE_ID } from '../../support/builders.js';
import { facts } from '../../support/channel-lane.js';
import { failed } from '../../support/fakes.js';
import { wordsOf } from '../../support/item-words.js';
import { openKinds } from '../../support/lane-harness.js';
import { after, DAY_MS, declined, HOUR_MS, refused, relayed, rig, SCHEDULE, state } from '../../support/retry-rig.js';

type Rig = ReturnType<typeof rig>;

/** So much time, in steps of a minute or an hour. */
async function pass(r: Rig, times: number, step: number): Promise<void> {
  for (let n = 0; n < times; n++) await after(r, step);
}

describe('a person who dismissed the item of a link', () => {
  it('before a second announcement on it is asked again, and nobody is charged beside that', async () => {
    const r = await withLink(CHARGED_NEXT);
    r.links.read = gone;
    await r.h.take(captured(r));
    await pass(r, 10, 60_000);
    await dismissed(r);
    await after(r, HOUR_MS);
    expect([await topics(r), moneyAnnounced(await state(r))]).toEqual([[], null]);
    await r.h.take(captured(r, 'evt_captured_again'));
    await pass(r, 10, 60_000);
    expect(await topics(r)).toEqual(['link-lost']);
    await pass(r, 30, DAY_MS);
    expect(relayed(r)).toEqual([]);
    await dismissed(r);
    await pass(r, 2, DAY_MS);
    expect(relayed(r)).toHaveLength(1);
  });
});

describe('a link that the MoR does not know although a payment was announced on it', () => {
  it('is not given up because a caller asks about it often: the MoR may know it a moment later', async () => {
    const r = await withLink();
    const read = r.links.read.bind(r.links);
    r.links.read = gone;
    await r.h.take(captured(r));
    for (let n = 0; n < 8; n++) {
      r.h.clock.advance(100);
      await callerReads(r, gone); // as GET /v1/invoices/{in}/payment-link takes it in
    }
    expect((await state(r)).objects.map((o) => [o.status, o.readAttempts])).toEqual([['PAYABLE', 1]]);
    r.links.read = read;
    r.links.pay('link_1');
    await pass(r, 10, 60_000);
    expect([await topics(r), (await state(r)).payments.at(-1)?.origin]).toEqual([[], 'payment_link']);
  });

  it('is a 404 to who asks for it, and a 409 to who asks for a link: neither gets a page on which nobody can pay', async () => {
    const r = await withLink();
    r.links.read = gone;
    await r.h.deliver(captured(r));
    await r.h.drain();
    const lanes = { change: (lane: string, act: never) => r.h.command(lane, act) } as never;
    const books = { objects: async () => (await state(r)).objects } as never;
    const invoice = facts({ invoiceId: INVOICE_ID, amountRemaining: 1000n });
    const reader = { readInvoiceForProforma: async () => ({ ok: true, value: { invoice } }) } as never;
    const flow = new MorObjectsFlow(r.h.store, lanes, books, reader, r.links, r.h.context);
    const links = new PaymentLinksFlow(flow, {} as never, { next: () => 'lnk_2' });
    const controller = new PaymentLinksController(flow, {} as never, books, links);
    await expect(controller.read(INVOICE_ID)).rejects.toMatchObject({ status: 404 });
    const wish = { jurisdiction: 'DE', return_url: 'https://shop.example' };
    await expect(links.create(INVOICE_ID, wish, 'ops', null)).rejects.toMatchObject({
      ...{ status: 409, code: 'invoice_not_payable' },
      message: expect.stringContaining('the MoR does not know the link yet'),
    });
    expect((await state(r)).objects).toHaveLength(1);
  });

  it.each(['before the announcement', 'before the item', 'after the item'])(
    'is asked about no more once a payment event of its very charge comes, %s: nobody is told to give it back',
    async (when) => {
      const r = await withLink();
      r.links.read = gone;
      const paid = (): Promise<unknown> =>
        r.h.take(aPaymentSucceeded({ paymentId: 'pay_nine', chargeId: 'ch_9', at: r.h.clock.now() }));
      if (when === 'before the announcement') await paid();
      await after(r, 1_000);
      await r.h.take(captured(r));
      if (when === 'before the item') await paid();
      await pass(r, 10, HOUR_MS);
      expect(await openItems(r)).toHaveLength(when === 'after the item' ? 1 : 0);
      if (when === 'after the item') await paid();
      await pass(r, 10, HOUR_MS);
      const s = await state(r);
      const marked = s.payments.find((p) => p.paymentId === 'pay_nine');
      expect([await topics(r), marked?.mark, s.objects.map((o) => [o.status, o.paymentRowId])]).toEqual([
        [],
        'confirmed',
        [['DELETED', marked?.id]],
      ]);
    },
  );
});

describe('an open item of a link', () => {
  async function partOfIt(): Promise<Rig> {
    const r = await withLink(CHARGED_NEXT);
    await pass(r, 7 * 24 - 1, HOUR_MS);
    r.links.read = shows({ status: 'EXPIRED', due: { minor: 600n, currency: 'EUR' } });
    await pass(r, 3, HOUR_MS);
    expect(await topics(r)).toEqual(['link-part-paid']);
    return r;
  }

  it('is closed by an announcement and asked afresh after the read: a page of before releases no charge', async () => {
    const r = await partOfIt();
    const [before] = await openItems(r);
    r.links.read = away;
    await r.h.take(captured(r));
    const s = await state(r);
    expect(s.reviews.map((x) => [x.id, x.resolution, x.note])).toEqual([
      [before?.id, 'cleared', 'the MoR is asked again'],
    ]);
    const choice = { resolution: 'dismiss', by: 'ops', note: null } as const;
    const late = await r.h.command(INVOICE_ID, (x, ctx) => resolveReview(x, before?.id ?? '', choice, ctx));
    expect(late).toMatchObject({ ok: false, code: 'review_already_resolved' });
    await pass(r, 60, HOUR_MS);
    expect([await topics(r), relayed(r)]).toEqual([['link-unread'], []]);
  });

  it('about two sums of one payment stays, however often that is announced', async () => {
    const r = await withLink();
    await r.h.take(aPaymentSucceeded({ paymentId: 'pay_nine', chargeId: 'ch_9', amount: 900, at: r.h.clock.now() }));
    await r.h.take(captured(r));
    r.links.pay('link_1');
    await pass(r, 3, HOUR_MS);
    const asked = async (): Promise<readonly string[]> =>
      (await openItems(r)).filter((x) => x.kind === 'conflicting_event').map((x) => wordsOf(x).summary);
    const sums = ['10.00 EUR was announced for link_1; the record says 9.00 EUR'];
    expect(await asked()).toEqual(sums);
    await r.h.take(captured(r, 'evt_captured_again'));
    expect(await asked()).toEqual(sums);
    await pass(r, 60, HOUR_MS);
    expect(await asked()).toEqual(sums);
  });

  it('closes once the link is paid, also where the money came by a payment event first', async () => {
    const r = await withLink();
    await r.h.take(captured(r));
    await pass(r, 10, HOUR_MS);
    expect(await topics(r)).toHaveLength(1);
    await r.h.take(aPaymentSucceeded({ paymentId: 'pay_nine', chargeId: 'ch_9', at: r.h.clock.now() }));
    r.links.pay('link_1');
    await pass(r, 3, HOUR_MS);
    const s = await state(r);
    expect(s.objects.map((o) => o.status)).toEqual(['PAID']);
    expect([await topics(r), s.payments.filter((p) => p.succeededAt !== null).length]).toEqual([[], 1]);
  });
});

describe('the item of a link', () => {
  async function unreadable(): Promise<Rig> {
    const r = await withLink();
    r.links.read = async () => failed('refused', { status: 403 });
    await r.h.take(captured(r));
    await pass(r, 60, 60_000);
    expect(await topics(r)).toEqual(['link-unread']);
    return r;
  }

  it('that is paid, nobody knows how much, promises no other read', async () => {
    const r = await unreadable();
    r.links.read = shows({ status: 'PAID' });
    await pass(r, 3, HOUR_MS);
    expect((await state(r)).objects.map((o) => [o.status, o.readDueAt])).toEqual([['PAID', null]]);
    const [item] = await openItems(r);
    expect(wordsOf(item).summary).toBe('link link_1 is paid, but the MoR does not say how much');
    expect(wordsOf(item).proposal).toMatch(/^Ask the MoR for the amount and mark the invoice on Stripe by hand/);
    await callerReads(r, gone);
    expect([(await state(r)).objects[0]?.status, await topics(r)]).toEqual(['PAID', [item?.topic]]);
  });
});

describe('two days without a usable answer about a link', () => {
  it('count from the first read that failed: a single one is no item', async () => {
    const r = await withLink();
    await r.h.take(captured(r));
    await pass(r, 60, HOUR_MS);
    expect(await topics(r)).toEqual(['link-not-paid']);
    await dismissed(r);
    const read = r.links.read.bind(r.links);
    let reads = 0;
    r.links.read = async (kind, id) => (reads++ === 0 ? failed('unknown', { status: 503 }) : read(kind, id));
    await pass(r, 2, HOUR_MS);
    expect([reads > 1, await topics(r)]).toEqual([true, []]);
    r.links.read = away;
    await pass(r, 47, HOUR_MS);
    expect(await topics(r)).toEqual([]);
    await pass(r, 3, HOUR_MS);
    expect(await topics(r)).toEqual(['link-unread']);
  });

  it('are not over at once where the link ended while we were down', async () => {
    const r = await withLink();
    r.links.read = away;
    await after(r, 10 * DAY_MS);
    await pass(r, 15, 60_000);
    expect(await topics(r)).toEqual([]);
  });
});

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

  it.each([
    ['says PAYABLE', shows({ status: 'PAYABLE' })],
    ['may not be read', async () => failed('refused', { status: 403 })],
  ] as const)('and that %s for days is asked about by nobody', async (_, read) => {
    await hours(await booked(read), 62);
  });
});

describe('a link that the MoR does not show', () => {
  /** So many hours, one by one. */
  async function hours(h: ReturnType<typeof rig>['h'], n: number): Promise<void> {
    for (let i = 0; i < n; i++) {
      h.clock.advance(HOUR_MS);
      await h.drain();
    }
  }

  async function announced(status: 403 | 503): Promise<{
    readonly kinds: () => Promise<string[]>;
    readonly h: ReturnType<typeof rig>['h'];
    readonly back: () => void;
  }> {
    const r = rig();
    const { h, links } = r;
    await refused(r, 'stolen_card');
    await h.rest(1);
    const read = links.read.bind(links);
    links.read = async () => failed(status === 403 ? 'refused' : 'unknown', { status });
    await h.take(captured(r));
    return { h, kinds: async () => openKinds(await state(r)), back: () => void (links.read = read) };
  }

  it('is told after some refused reads, and not while the MoR is merely away', async () => {
    const shut = await announced(403);
    expect(await shut.kinds()).toEqual([]);
    await shut.h.rest(1);
    expect(await shut.kinds()).toEqual(['conflicting_event']);
    shut.back();
    await shut.h.rest(2);
    expect(await shut.kinds()).toEqual(['conflicting_event']); // it can be read, and does not say PAID: still a person's
    const away = await announced(503);
    await away.h.rest(2);
    expect(await away.kinds()).toEqual([]);
  });

  it.each([SCHEDULE, null])(
    'asks a person about a payment announced on a link that the MoR never knew (schedule: %o)',
    async (retrySchedule) => {
      const r = rig({ retrySchedule });
      await refused(r, 'stolen_card');
      await r.h.drain();
      r.links.read = gone;
      await after(r, DAY_MS);
      expect((await state(r)).objects.map((o) => o.status)).toEqual(['DELETED']);
      await r.h.take(captured(r));
      for (let m = 0; m < 10; m++) await after(r, 60_000);
      const open = (await state(r)).reviews.filter((x) => x.status === 'open').map((x) => x.topic);
      expect(open).toEqual(['link-lost']);
    },
  );

  it('is recorded where the MoR knows the link a moment later: one read may be behind', async () => {
    const r = rig();
    await refused(r, 'stolen_card');
    await r.h.drain();
    const read = r.links.read.bind(r.links);
    r.links.read = gone;
    await r.h.take(captured(r));
    await after(r, 1_000);
    r.links.read = read;
    r.links.pay('link_1');
    for (let m = 0; m < 10; m++) await after(r, 60_000);
    const s = await state(r);
    expect([openKinds(s), s.payments.map((p) => [p.origin, p.status]).at(-1)]).toEqual([
      [],
      ['payment_link', 'succeeded'],
    ]);
  });

  it('is told once, whatever words the MoR finds for each refusal', async () => {
    const r = rig();
    await refused(r, 'stolen_card');
    await r.h.drain();
    let n = 0;
    r.links.read = async () => failed('refused', { status: 403, message: `request ${++n} is refused` });
    await r.h.take(captured(r));
    for (let m = 0; m < 60; m++) await after(r, 60_000);
    await dismissed(r);
    for (let m = 0; m < 60; m++) await after(r, 60_000);
    const s = await state(r);
    expect([openKinds(s), s.reviews.filter((x) => x.kind === 'conflicting_event').length]).toEqual([[], 1]);
  });

  it.each([true, false])(
    'keeps the schedule of retries back until a person has looked into it after the link has ended, and not for good (it can be read: %s)',
    async (isReadable) => {
      const then = { do: 'charge', afterMs: DAY_MS } as const;
      const r = rig({ retrySchedule: { ...SCHEDULE, hard: [{ do: 'link' }, then] } });
      const { h, links } = r;
      await refused(r, 'stolen_card');
      await h.rest(1);
      if (!isReadable) links.read = async () => failed('refused', { status: 403 });
      await h.take(captured(r));
      const seen: unknown[] = [];
      for (const wait of [2, 9]) {
        await hours(h, wait * 24);
        const item = (await state(r)).reviews.find((x) => x.status === 'open');
        seen.push([item?.kind, relayed(r).length]);
        await dismissed(r);
      }
      await hours(h, 24);
      expect([...seen, relayed(r).length]).toEqual([['conflicting_event', 0], ['conflicting_event', 0], 1]);
    },
  );

  const ending = { retrySchedule: { ...SCHEDULE, end: 'uncollectible' as const } };

  it.each([
    ['refused', 403, ending],
    ['stopped', 403, ending],
    ['refused', 400, { retrySchedule: null }],
  ] as const)(
    'a link on which nothing was announced, and that the MoR does not show (%s %i): a person is asked once it has ended',
    async (kind, status, over) => {
      const r = rig(over);
      await refused(r, 'stolen_card');
      await r.h.drain();
      expect(r.links.links.size).toBe(1);
      const read = r.links.read.bind(r.links);
      r.links.read = async () => failed(kind, { status });
      for (let d = 0; d < 90; d++) await after(r, DAY_MS); // the link ended on day 7
      const s = await state(r);
      expect(s.objects.map((o) => o.status)).toEqual(['EXPIRED']);
      expect(s.reviews.filter((x) => x.status === 'open').map((x) => x.topic)).toEqual(['link-unread']);
      r.links.read = read; // the MoR shows it again, and it was not paid
      for (let d = 0; d < 3; d++) await after(r, DAY_MS);
      const item = (await state(r)).reviews.find((x) => x.kind === 'conflicting_event');
      expect([item?.resolution, item?.note]).toEqual(['cleared', 'the link is EXPIRED']);
    },
  );

  describe('a link that ended while the MoR did not show it', () => {
    const HARD = { ...SCHEDULE, hard: [{ do: 'link' }, { do: 'charge', afterMs: DAY_MS }] } as const;

    async function unshown(
      retrySchedule: typeof HARD | null = HARD,
    ): Promise<{ readonly r: ReturnType<typeof rig>; readonly back: () => void }> {
      const r = rig({ retrySchedule });
      await refused(r, 'stolen_card');
      await r.h.drain();
      const read = r.links.read.bind(r.links);
      for (let h = 0; h < 7 * 24; h++) await after(r, HOUR_MS);
      r.links.read = async () => failed('refused', { status: 403 });
      for (let m = 0; m < 60; m++) await after(r, 60_000);
      expect(openKinds(await state(r))).toEqual(['conflicting_event']);
      return { r, back: () => void (r.links.read = read) };
    }

    it('and that was not paid: the item closes once it is shown, and the schedule goes on', async () => {
      const { r, back } = await unshown();
      back();
      for (let d = 0; d < 30; d++) await after(r, DAY_MS);
      const s = await state(r);
      expect([openKinds(s).includes('conflicting_event'), relayed(r).length]).toEqual([false, 1]);
    });

    it('and that is unknown after that: whether it was paid stays a person’s question, and nobody is charged', async () => {
      const { r } = await unshown();
      r.links.read = gone;
      for (let d = 0; d < 5; d++) await after(r, DAY_MS);
      expect([openKinds(await state(r)), relayed(r)]).toEqual([['conflicting_event'], []]);
      const [item] = (await state(r)).reviews.filter((x) => x.status === 'open');
      expect(item?.topic).toBe('link-lost');
      expect(wordsOf(item).proposal).not.toContain('is read again');
    });

    it.each([503, 403])(
      'and on which a payment is announced later: no second link is made where no schedule is set (%i)',
      async (status) => {
        const { r } = await unshown(null);
        await dismissed(r);
        await after(r, HOUR_MS);
        r.links.read = async () => failed(status === 403 ? 'refused' : 'unknown', { status });
        await r.h.take(captured(r));
        await after(r, 1_000);
        await r.h.take(declined(r));
        for (let m = 0; m < 60; m++) await after(r, 60_000);
        expect(r.links.links.size).toBe(1);
      },
    );
  });
});
