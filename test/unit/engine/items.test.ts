// Declared review items: what holds now opens, updates and closes them, and a dismissed one stays away until its facts change.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isSameFact } from '../../../src/shared/domain/fact.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type ReviewRow } from '../../../src/shared/domain/review-row.js';
import { declareItems, type Holds, itemRule } from '../../../src/engine/items.js';
import { same } from '../../support/same.js';
import { at, ctx, lane, payment } from '../../support/builders/waiting-payment.js';
import { decide, closeReviews, openReview } from '../../support/rigs/decide.js';

type Code = 'refund-unshown' | 'unknown-capture';
type Now = readonly Holds<Code>[];

const unshown = (id: string, minor: number): Holds<Code> => ({
  kind: 'refund_gap',
  about: { id },
  fact: { code: 'refund-unshown', payment: id, amount: { minor: BigInt(minor), currency: 'EUR' } },
});
const captured = (id: string, event: number): Holds<Code> => ({
  kind: 'conflicting_event',
  about: { id },
  fact: { code: 'unknown-capture', event: `evt_${event}` },
});

const REASONS: Readonly<Record<Code, string>> = { 'refund-unshown': 'it shows', 'unknown-capture': 'it is known' };
const rule = (now: Now) => itemRule(REASONS, () => now);
const declared = (state: LaneState, now: Now, ms = 0): LaneState =>
  decide(state, ctx({}, ms), (l) => declareItems(l, rule(now)));
const open = (state: LaneState): readonly ReviewRow[] => state.reviews.filter((r) => r.status === 'open');
const dismissed = (state: LaneState, id: string, ms = 0): LaneState =>
  closeReviews(state, ctx({}, ms), (r) => r.id === id, { by: 'ada', resolution: 'dismiss', note: null });
const nameOf = (item: Holds<Code> | ReviewRow): string =>
  'topic' in item ? `${item.kind} ${item.topic} ${item.subject}` : `${item.kind} ${item.fact.code} ${item.about.id}`;

/** What holds: each of four items is absent or has one of three facts. Then a person dismisses one of the open items, or none. */
const anyFact = fc.constantFrom(0, 1, 2, 3);
const anyStep = fc.record({ facts: fc.tuple(anyFact, anyFact, anyFact, anyFact), dismiss: fc.option(fc.nat(3)) });
const holding = ([a, b, c, d]: readonly [number, number, number, number]): Now =>
  [
    a === 0 ? [] : [unshown('pmt_1', a)],
    b === 0 ? [] : [unshown('pmt_2', b)],
    c === 0 ? [] : [captured('pmt_1', c)],
    d === 0 ? [] : [captured('pmt_2', d)],
  ].flat();

it('each cause has one open review item with the current facts, unless the operator dismissed these facts', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 12 }), (steps) => {
      let s = lane({}, payment());
      const gone: ReviewRow[] = [];
      steps.forEach(({ facts, dismiss }, n) => {
        const before = open(s);
        const now = holding(facts);
        s = declared(s, now, n);
        const wanted = now.filter((x) => !gone.some((r) => nameOf(r) === nameOf(x) && isSameFact(r.fact, x.fact)));
        same(open(s).map(nameOf).sort(), wanted.map(nameOf).sort());
        for (const r of open(s)) {
          same(r.fact, wanted.find((x) => nameOf(x) === nameOf(r))?.fact);
          // Updated in place: the item that was open goes on.
          const was = before.find((x) => nameOf(x) === nameOf(r));
          if (was !== undefined) same(r.id, was.id);
        }
        for (const was of before) {
          const is = s.reviews.find((r) => r.id === was.id);
          const why = now.some((x) => nameOf(x) === nameOf(was)) ? /dismissed/ : /^it (shows|is known)$/;
          if (is?.status === 'resolved')
            expect([is.resolution, is.resolvedBy, is.note]).toEqual([
              'cleared',
              'crossbill',
              expect.stringMatching(why),
            ]);
        }
        if (declared(s, now, n) !== s) throw new Error('the same facts once more changed the lane');
        const r = open(s)[dismiss ?? -1];
        if (r === undefined) return;
        s = dismissed(s, r.id, n);
        gone.push(r);
      });
    }),
  );
});

it('a changed fact updates the open review item and adds one line to the timeline; an equal fact adds no line', () => {
  const first = declared(lane({}, payment()), [unshown('pmt_1', 1)]);
  const next = declared(first, [unshown('pmt_1', 2)], 5);
  expect(next.reviews).toEqual([{ ...first.reviews[0], fact: unshown('pmt_1', 2).fact }]);
  expect(next.journal.slice(first.journal.length).map((l) => l.text)).toEqual([
    'review item refund_gap is now: refund-unshown',
  ]);
});

it('a new deadline updates the open review item, and reopens no dismissed item', () => {
  const due = (ms: number): Now => [{ ...unshown('pmt_1', 1), dueAt: at(ms) }];
  const first = declared(lane({}, payment()), due(10));
  expect(open(declared(first, due(20))).map((r) => [r.id, r.dueAt])).toEqual([[first.reviews[0]?.id, at(20)]]);
  expect(open(declared(dismissed(first, first.reviews[0]?.id ?? ''), due(20)))).toEqual([]);
});

it('a newer event about a dismissed fact opens a new review item', () => {
  const news = (ms: number): Now => [{ ...unshown('pmt_1', 1), since: at(ms) }];
  const first = declared(lane({}, payment()), news(0));
  const gone = dismissed(first, first.reviews[0]?.id ?? '', 5);
  expect([open(declared(gone, news(5), 9)).length, open(declared(gone, news(6), 9)).length]).toEqual([0, 1]);
});

it('a rule leaves the review items of other rules unchanged', () => {
  const item = {
    kind: 'conflicting_event',
    subject: 'evt_1',
    fact: { code: 'second-body', event: 'evt_1', type: 'x' },
  } as const;
  const other = openReview(lane({}, payment()), ctx(), item);
  expect(declared(other, [])).toBe(other);
});

it('a review item names its payment, its invoice and the operator’s choices', () => {
  const s = declared(lane({}, payment()), [{ ...unshown('pmt_1', 1), about: payment() }]);
  expect(open(s)).toMatchObject([
    {
      invoiceId: 'in_1',
      paymentRowId: 'pmt_1',
      refundId: null,
      actions: ['dismiss'],
      proposed: 'dismiss',
      subject: 'pmt_1',
    },
  ]);
});
