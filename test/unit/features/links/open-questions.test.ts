// Links whose money is not known for sure: a person hears of it once, in words that hold now, and nothing is charged meanwhile.
import { expect, it } from '@jest/globals';
import { moneyAnnounced } from '../../../../src/core/books/rules/open-money.js';
import { PaymentLinksController } from '../../../../src/features/links/payment-links.controller.js';
import { PaymentLinksService } from '../../../../src/features/links/payment-links.service.js';
import { MorObjectsService } from '../../../../src/core/mor-objects/mor-objects.service.js';
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
} from '../../../support/builders/announced-link.js';
import { aPaymentSucceeded, INVOICE_ID } from '../../../support/builders/events.js';
import { facts } from '../../../support/builders/channel-lane.js';
import { failed } from '../../../support/fakes/fake-platform.js';
import { eur } from '../../../support/builders/channel-object.js';
import { after, DAY_MS, HOUR_MS, refused, relayed, rig, state } from '../../../support/rigs/retry-rig.js';
import { asCommand, resolveReview } from '../../../support/rigs/decide.js';
import { type Lane } from '../../../../src/engine/lane.js';
import { type Result } from '../../../../src/engine/commanded.js';

type Rig = ReturnType<typeof rig>;

/** So much time, in steps of a minute or an hour. */
async function pass(rig: Rig, times: number, step: number): Promise<void> {
  for (let n = 0; n < times; n++) await after(rig, step);
}

it('a second capture on an unreadable link opens a dismissed item again, and Crossbill requests no charge meanwhile', async () => {
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

it("reads by API callers do not count towards Crossbill's limit of reads for a link unknown to the MoR", async () => {
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

it('while the MoR does not know a payment link, the API answers 404 to a read of the link and 409 to a request for a new link', async () => {
  const r = await withLink();
  r.links.read = gone;
  await r.h.deliver(captured(r));
  await r.h.drain();
  const lanes = {
    change: (lane: string, act: (of: Lane) => Result<never>) => r.h.command(lane, asCommand(act)),
  } as never;
  const books = { objects: async () => (await state(r)).objects } as never;
  const invoice = facts({ invoiceId: INVOICE_ID, amountRemaining: 1000n });
  const reader = { readInvoiceForProforma: async () => ({ ok: true, value: { invoice } }) } as never;
  const service = new MorObjectsService(r.h.repository, lanes, books, reader, r.links, r.h.context);
  const links = new PaymentLinksService(service, {} as never, { next: () => 'lnk_2' });
  const controller = new PaymentLinksController(service, {} as never, books, links);
  await expect(controller.read(INVOICE_ID)).rejects.toMatchObject({ status: 404 });
  const wish = { jurisdiction: 'DE', return_url: 'https://shop.example' };
  await expect(links.create(INVOICE_ID, wish, 'ops', null)).rejects.toMatchObject({
    ...{ status: 409, code: 'invoice_not_payable' },
    message: expect.stringContaining('does not show the link yet'),
  });
  expect((await state(r)).objects).toHaveLength(1);
});

it.each(['before the capture', 'before the item', 'after the item'])(
  'a payment.succeeded event %s leaves no open item for a link unknown to the MoR, and the invoice is marked paid',
  async (when) => {
    const r = await withLink();
    r.links.read = gone;
    const paid = (): Promise<unknown> =>
      r.h.take(aPaymentSucceeded({ paymentId: 'pay_nine', chargeId: 'ch_9', at: r.h.clock.now() }));
    if (when === 'before the capture') await paid();
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

async function partOfIt(): Promise<Rig> {
  const r = await withLink(CHARGED_NEXT);
  await pass(r, 7 * 24 - 1, HOUR_MS);
  r.links.read = shows({ status: 'EXPIRED', due: eur(600n) });
  await pass(r, 3, HOUR_MS);
  expect(await topics(r)).toEqual(['link-part-paid']);
  return r;
}

it("a capture on a partly paid link closes the link's review item, and Crossbill requests no charge before it reads the link again", async () => {
  const r = await partOfIt();
  const [before] = await openItems(r);
  r.links.read = away;
  await r.h.take(captured(r));
  const s = await state(r);
  expect(s.reviews.map((x) => [x.id, x.resolution])).toEqual([[before?.id, 'cleared']]);
  const choice = { resolution: 'dismiss', by: 'ops', note: null } as const;
  const late = await r.h.command(INVOICE_ID, (x, ctx) => resolveReview(x, before?.id ?? '', choice, ctx));
  expect(late).toMatchObject({ ok: false, code: 'review_already_resolved' });
  await pass(r, 60, HOUR_MS);
  expect([await topics(r), relayed(r)]).toEqual([['link-unread'], []]);
});

it('the review item about two amounts of one payment stays open after repeated captures', async () => {
  const r = await withLink();
  await r.h.take(aPaymentSucceeded({ paymentId: 'pay_nine', chargeId: 'ch_9', amount: 900, at: r.h.clock.now() }));
  await r.h.take(captured(r));
  r.links.pay('link_1');
  await pass(r, 3, HOUR_MS);
  const asked = async (): Promise<readonly unknown[]> =>
    (await openItems(r)).filter((x) => x.kind === 'conflicting_event').map((x) => x.fact);
  const [announced, recorded] = [eur(1000n), eur(900n)];
  const sums = [{ code: 'announced-otherwise', object: 'link_1', announced, recorded }];
  expect(await asked()).toMatchObject(sums);
  await r.h.take(captured(r, 'evt_captured_again'));
  expect(await asked()).toMatchObject(sums);
  await pass(r, 60, HOUR_MS);
  expect(await asked()).toMatchObject(sums);
});

it('if `payment.succeeded` comes before the link is PAID, Crossbill records one payment, and closes its review item later', async () => {
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

async function unreadable(): Promise<Rig> {
  const r = await withLink();
  r.links.read = async () => failed('refused', { status: 403 });
  await r.h.take(captured(r));
  await pass(r, 60, 60_000);
  expect(await topics(r)).toEqual(['link-unread']);
  return r;
}

it('the review item of a paid link without an amount says to ask the MoR, and Crossbill reads the link no more', async () => {
  const r = await unreadable();
  r.links.read = shows({ status: 'PAID' });
  await pass(r, 3, HOUR_MS);
  expect((await state(r)).objects.map((o) => [o.status, o.readDueAt])).toEqual([['PAID', null]]);
  const [item] = await openItems(r);
  expect(item?.fact).toMatchObject({ code: 'link-paid', reference: 'link_1' });
  await callerReads(r, gone);
  expect([(await state(r)).objects[0]?.status, await topics(r)]).toEqual(['PAID', [item?.topic]]);
});

it('if all reads of a captured payment link fail for two days, a review item opens', async () => {
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

it('a link that ended during an outage of Crossbill opens no review item in the first fifteen minutes', async () => {
  const r = await withLink();
  r.links.read = away;
  await after(r, 10 * DAY_MS);
  await pass(r, 15, 60_000);
  expect(await topics(r)).toEqual([]);
});

/** A renewal that was refused, and whose link the MoR is asked for; what it answers can be changed. */
async function asked(reply: 'away' | 'refused'): Promise<Rig & { answer: 'away' | 'refused' }> {
  const said = { answer: reply };
  const r = await withLinkAsked(() => (said.answer === 'away' ? away() : notGiven()));
  return Object.assign(said, r);
}

/** The MoR announces a payment on the link that was asked for first, by the key of its request. */
async function announced(rig: Rig, id = 'evt_captured'): Promise<void> {
  await rig.h.take(captured(rig, id, await byKey(rig)));
}

/** Nothing is held unseen: one item is open, and once it is dismissed the schedule goes on. */
async function expectAsked(rig: Rig): Promise<void> {
  expect([await topics(rig), relayed(rig)]).toEqual([['link-lost'], []]);
  expect((await openItems(rig))[0]?.fact).toMatchObject({ code: 'link-lost', why: 'not-given', announced: true });
  await dismissed(rig);
  expect(moneyAnnounced(await state(rig))).toBeNull();
}

it('if the MoR leaves a link request unanswered for two days after a capture, a review item opens', async () => {
  const r = await asked('away');
  await announced(r);
  await hours(r, 47);
  expect(await topics(r)).toEqual([]);
  await hours(r, 3);
  await expectAsked(r);
});

it('if Crossbill replaced a link by a link for another country, a capture on the old link opens a review item', async () => {
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
  'a capture on a refused link leaves no open review item if its payment.succeeded event comes %s',
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
  ['is PAID without an amount', shows({ status: 'PAID' })],
  ['is unknown to the MoR', gone],
])(
  "if the link of a booked payment %s, neither a caller's read nor a second capture opens a review item",
  async (_, read) => {
    const r = await booked(read);
    await callerReads(r, read);
    await r.h.take(captured(r, 'evt_captured_again'));
    await hours(r, 5);
    expect(await topics(r)).toEqual([]);
  },
);

it.each([
  ['stays PAYABLE', shows({ status: 'PAYABLE' })],
  ['cannot be read', async () => failed('refused', { status: 403 })],
] as const)('if the link of a booked payment %s for 62 days, no review item opens', async (_, read) => {
  await hours(await booked(read), 62);
});
