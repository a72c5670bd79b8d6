// A link that the MoR does not show: a person hears of its money all the same.
import { expect, it } from '@jest/globals';
import { captured, dismissed, gone } from '../../../support/builders/announced-link.js';
import { failed } from '../../../support/fakes/fake-platform.js';
import { openKinds } from '../../../support/rigs/lane-harness.js';
import {
  after,
  DAY_MS,
  declined,
  HOUR_MS,
  refused,
  relayed,
  rig,
  SCHEDULE,
  state,
} from '../../../support/rigs/retry-rig.js';

/** So many hours, one by one. */
async function hours(harness: ReturnType<typeof rig>['h'], count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    harness.clock.advance(HOUR_MS);
    await harness.drain();
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
  await h.idle(1);
  const read = links.read.bind(links);
  links.read = async () => failed(status === 403 ? 'refused' : 'unknown', { status });
  await h.take(captured(r));
  return { h, kinds: async () => openKinds(await state(r)), back: () => void (links.read = read) };
}

it('refused reads of a captured link open a review item; reads without an answer open none', async () => {
  const shut = await announced(403);
  expect(await shut.kinds()).toEqual([]);
  await shut.h.idle(1);
  expect(await shut.kinds()).toEqual(['conflicting_event']);
  shut.back();
  await shut.h.idle(2);
  expect(await shut.kinds()).toEqual(['conflicting_event']); // it can be read, and does not say PAID: still a person's
  const away = await announced(503);
  await away.h.idle(2);
  expect(await away.kinds()).toEqual([]);
});

it.each([
  ['with', SCHEDULE],
  ['without', null],
] as const)(
  'a capture on a link unknown to the MoR opens a review item, %s a retry schedule',
  async (_, retrySchedule) => {
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

it('if only a later read finds a link with a captured payment, Crossbill still books the payment', async () => {
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

it("refused reads of a captured link open one review item, even if the MoR's error message changes", async () => {
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

it.each([
  ['readable', true],
  ['unreadable', false],
] as const)(
  'after a capture on a %s link, the retry schedule stops until the link expires and an operator then dismisses the item',
  async (_, isReadable) => {
    const then = { do: 'charge', afterMs: DAY_MS } as const;
    const r = rig({ retrySchedule: { ...SCHEDULE, hard: [{ do: 'link' }, then] } });
    const { h, links } = r;
    await refused(r, 'stolen_card');
    await h.idle(1);
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
  'if every read of an expired link fails (%s, status %i), a review item stays open until the MoR shows the link',
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
    expect(item?.resolution).toBe('cleared');
  },
);

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

it('the review item of an unpaid link closes as soon as the MoR shows the link, and the retry schedule goes on', async () => {
  const { r, back } = await unshown();
  back();
  for (let d = 0; d < 30; d++) await after(r, DAY_MS);
  const s = await state(r);
  expect([openKinds(s).includes('conflicting_event'), relayed(r).length]).toEqual([false, 1]);
});

it('if the MoR deletes an expired link, its review item stays open and Crossbill requests no charge', async () => {
  const { r } = await unshown();
  r.links.read = gone;
  for (let d = 0; d < 5; d++) await after(r, DAY_MS);
  expect([openKinds(await state(r)), relayed(r)]).toEqual([['conflicting_event'], []]);
  const [item] = (await state(r)).reviews.filter((x) => x.status === 'open');
  expect(item?.topic).toBe('link-lost');
});

it.each([503, 403])(
  'a late capture on an expired link leads to no second link, while the MoR answers %i to reads of the link',
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
