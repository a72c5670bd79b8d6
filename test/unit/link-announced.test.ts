// What is known of a link on which a payment was announced: asked about once, in words that are so now, and by a person who knew of the payment.
import { failureWithoutAnswer } from '@crossbill/mor/failure.js';
import { wordsOf } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { MorObjectsFlow } from '../../src/mor-objects/mor-objects.flow.js';
import { moneyAnnounced } from '../../src/engine/open-money.js';
import { resolveReview } from '../../src/decisions/decide.js';
import { PaymentLinksController } from '../../src/links/payment-links.controller.js';
import { PaymentLinksFlow } from '../../src/links/payment-links.flow.js';
import {
  away,
  callerReads,
  captured,
  CHARGED_NEXT,
  dismissed,
  gone,
  openItems,
  shows,
  topics,
  withLink,
} from '../support/announced-link.js';
import { aPaymentSucceeded, INVOICE_ID } from '../support/builders.js';
import { facts } from '../support/channel-lane.js';
import { failed } from '../support/fakes.js';
import { after, DAY_MS, HOUR_MS, relayed, type rig, state } from '../support/retry-rig.js';

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

  it('before the announcement could not know of it: nobody is charged beside it', async () => {
    const r = await withLink(CHARGED_NEXT);
    await pass(r, 7 * 24 - 1, HOUR_MS);
    r.links.read = shows({ status: 'EXPIRED', due: { minor: 600n, currency: 'EUR' } });
    await pass(r, 3, HOUR_MS);
    expect(await topics(r)).toEqual(['link-part-paid']);
    await dismissed(r);
    await after(r, HOUR_MS);
    r.links.read = away;
    await r.h.take(captured(r));
    expect(moneyAnnounced(await state(r))).toBe(
      'a payment on payment link link_1 was announced, and is not confirmed yet',
    );
    await pass(r, 40, HOUR_MS);
    expect(relayed(r)).toEqual([]);
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

  it('is to be marked by hand, and given back where other money has paid the invoice', async () => {
    const r = await withLink();
    r.links.read = gone;
    await r.h.take(captured(r));
    await pass(r, 10, 60_000);
    expect((await openItems(r)).map((x) => wordsOf(x).proposal)).toEqual([
      "Ask the MoR whether the customer paid. If not, dismiss this. If so, mark the invoice on Stripe by hand, with a payment record of that amount with reference link_1, unless other money that has not gone back has paid it, or it is void: then have charge ch_9 given back in the MoR's portal. If what paid it has gone back, bill charge ch_9 with a new invoice. Dismiss this after that: the books do not have the money until the MoR tells of it.",
    ]);
  });

  it.each(['before the announcement', 'before the item', 'after the item'])(
    'is asked about no more once a payment event of its very charge comes, %s: nobody is told to give it back',
    async (when) => {
      const r = await withLink();
      r.links.read = gone;
      const paid = (): Promise<unknown> =>
        r.h.take(aPaymentSucceeded({ paymentId: 'pay_9', chargeId: 'ch_9', at: r.h.clock.now() }));
      if (when === 'before the announcement') await paid();
      await after(r, 1_000);
      await r.h.take(captured(r));
      if (when === 'before the item') await paid();
      await pass(r, 10, HOUR_MS);
      expect(await openItems(r)).toHaveLength(when === 'after the item' ? 1 : 0);
      if (when === 'after the item') await paid();
      await pass(r, 10, HOUR_MS);
      const s = await state(r);
      const marked = s.payments.find((p) => p.paymentId === 'pay_9');
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
    await r.h.take(aPaymentSucceeded({ paymentId: 'pay_9', chargeId: 'ch_9', amount: 900, at: r.h.clock.now() }));
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

  it('comes in the end where a caller asks about the link all the time', async () => {
    const r = await withLink();
    await r.h.take(captured(r));
    for (let n = 0; n < 120; n++) {
      await after(r, 10_000);
      await callerReads(r, (kind, morId) => r.links.read(kind, morId));
    }
    expect(await topics(r)).toEqual(['link-not-paid']);
  });

  it('closes once the link is paid, also where the money came by a payment event first', async () => {
    const r = await withLink();
    await r.h.take(captured(r));
    await pass(r, 10, HOUR_MS);
    expect(await topics(r)).toHaveLength(1);
    await r.h.take(aPaymentSucceeded({ paymentId: 'pay_9', chargeId: 'ch_9', at: r.h.clock.now() }));
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

  it('that was not shown says so no more once it is shown', async () => {
    const r = await unreadable();
    r.links.read = shows({});
    await pass(r, 3, HOUR_MS);
    expect(await topics(r)).toEqual(['link-not-paid']);
  });

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

  it.each([
    ['before a read shows that', false, true],
    ['only after that', false, false],
    ['again, after a person dismissed that', true, true],
  ])('that is paid, nobody knows how much, asks so, announced %s and then unknown', async (_, isSettled, isFirst) => {
    const r = await withLink(CHARGED_NEXT);
    const asked = ['link-paid'];
    r.links.read = shows({ status: 'PAID' });
    if (isFirst) await r.h.take(captured(r));
    await pass(r, 2, HOUR_MS);
    expect(await topics(r)).toEqual(asked);
    if (isSettled) await dismissed(r);
    await after(r, 1_000);
    r.links.read = gone;
    await r.h.take(captured(r, 'evt_captured_last'));
    await pass(r, 60, HOUR_MS);
    expect([await topics(r), relayed(r)]).toEqual([asked, []]);
    expect(wordsOf((await openItems(r))[0]).proposal).toMatch(/^Ask the MoR for the amount and mark the invoice/);
  });

  it('is the only one, where it was not shown after its end, was announced, and is unknown now', async () => {
    const r = await withLink();
    await pass(r, 7 * 24, HOUR_MS);
    r.links.read = async () => failed('refused', { status: 403 });
    await pass(r, 60, 60_000);
    expect(await topics(r)).toEqual(['link-unread']);
    await r.h.take(captured(r));
    await pass(r, 60, 60_000);
    expect(await topics(r)).toEqual(['link-unread']);
    r.links.read = gone;
    await pass(r, 4, HOUR_MS);
    expect(await topics(r)).toEqual(['link-lost']);
  });

  it('says once why the last read failed', async () => {
    const r = await withLink();
    r.links.read = async () =>
      failureWithoutAnswer('the MoR', { answered: false, sent: 'maybe', why: 'timeout', timedOut: true });
    await r.h.take(captured(r));
    await pass(r, 50, HOUR_MS);
    expect((await openItems(r)).map((x) => wordsOf(x).proposal)).toEqual([
      'The last read: no answer from the MoR (timeout). Find out why, and ask whether the customer paid. The link is read again; the payment is recorded once it says PAID.',
    ]);
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
