// The pure parts of `npm run bench -- --only day`: what the day brings and when, and how its percentiles are read.
import { expect, it } from '@jest/globals';
import { Replies } from '../../packages/bench/src/day/replies.js';
import { Listing } from '../../packages/bench/src/day/listing.js';
import { budgetFor, dueMs, fateOf, isCharged, type Stream, totalsOf } from '../../packages/bench/src/day/plan.js';
import { StripeSide } from '../../packages/bench/src/day/stripe-side.js';
import { verifiedOf } from '../../packages/bench/src/day/verified.js';

const plan = { renewals: 1_000, dayMs: 120_000 };

it('the benchmark’s simulated day has three disputes, two refunds and six declines in a hundred renewals', () => {
  const declined = Array.from({ length: 1_000 }, (_, k) => fateOf(k)).filter((fate) => fate !== 'paid').length;
  expect(declined).toBe(60);
  expect(totalsOf(1_200)).toEqual({
    paid: 1_176,
    uncollectible: 24,
    retries: 84,
    disputes: 36,
    lost: 12,
    refunds: 24,
    refunded: 12 * (2_990 + 1_000),
  });
  expect([0, 1, 2].map((tries) => isCharged(1, tries))).toEqual([false, false, true]);
});

it('on the benchmark’s simulated day, each invoice is created, then finalized, and then gets its payment result', () => {
  const [created = [], finalized = [], verdicts = []] = (['created', 'finalized', 'verdict'] satisfies Stream[]).map(
    (stream) => Array.from({ length: plan.renewals }, (_, k) => dueMs(plan, stream, k)),
  );
  for (const times of [created, finalized, verdicts]) expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(Math.min(...created)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...verdicts)).toBeLessThanOrEqual(0.2 * plan.dayMs);
  expect(finalized.every((at, k) => at > (created[k] ?? at))).toBe(true);
  expect(verdicts.every((at, k) => at > (finalized[k] ?? at))).toBe(true);
});

it('the benchmark keeps to the request limit of a live Stripe account, unless its simulated day needs more requests', () => {
  expect(budgetFor(plan)).toBe(100);
  expect(budgetFor({ renewals: 100_000, dayMs: 30 * 60_000 })).toBe(334);
});

it('the benchmark computes response times by route, by minute and by group (API, webhook endpoints), and counts HTTP statuses', () => {
  const replies = new Replies();
  for (let n = 1; n <= 100; n++) replies.note('api', 'GET /a', n, 200, 30_000);
  replies.note('api', 'GET /b', 1_000, 503, 61_000);
  const [a, b] = replies.all();
  expect(a).toMatchObject({ kind: 'GET /a', n: 100, statuses: { 200: 100 } });
  expect(a?.p50Ms).toBeCloseTo(50, 0);
  expect(a?.p99Ms).toBeCloseTo(99, 0);
  expect(b?.statuses).toEqual({ 503: 1 });
  expect(replies.ofMinute('api', 0).n).toBe(100);
  expect(replies.ofMinute('api', 1).n).toBe(1);
  expect(replies.ofMinute('endpoints', 0)).toEqual({ n: 0, p50Ms: 0, p99Ms: 0, mostMs: 0 });
  expect(replies.whole('api')).toMatchObject({ n: 101 });
});

it('the benchmark counts the differences reported by `crossbill verify`, but shows no count for an incomplete run', () => {
  const difference = { kind: 'overpaid', detail: '1.00 EUR more than was due is paid' };
  const found = (problem: string | null): string =>
    JSON.stringify({ differences: [difference, difference], more: { no_verdict: 3 }, problem });
  expect(verifiedOf(found(null), 3, 1)).toMatchObject({
    differences: 5,
    kinds: { overpaid: '2: 1.00 EUR more than was due is paid', no_verdict: '3: ' },
    problem: null,
  });
  expect(verifiedOf(JSON.stringify({ differences: [], more: {}, problem: null }), 0, 1).differences).toBe(0);
  expect(verifiedOf(found('events could not be listed'), 4, 1)).toMatchObject({
    differences: null,
    problem: 'events could not be listed',
  });
  const failed = verifiedOf('{"error":{"code":"database_unavailable","message":"It does not answer."}}', 4, 1);
  expect(failed).toMatchObject({ differences: null, problem: 'It does not answer.' });
  expect(verifiedOf('', null, 1)).toMatchObject({ differences: null, problem: '' });
});

it('in the benchmark’s simulated Stripe, a refund of renewal 20 does not change the payment record of old invoice 20', () => {
  const stripe = new StripeSide(plan, () => undefined);
  const record = (id: string): unknown => JSON.parse(stripe.reply('GET', `/v1/payment_records/${id}`, '', ''));
  stripe.reply('POST', '/v1/payment_records/report_payment', 'a', 'metadata[invoice_id]=in_day20');
  stripe.reply('POST', '/v1/payment_records/pr_in_day20/report_refund', 'b', 'amount[value]=1000');
  expect(record('pr_in_day20')).toMatchObject({ id: 'pr_in_day20', amount_refunded: { value: 1_000 } });
  expect(record('pr_old20')).toMatchObject({ id: 'pr_old20', amount_refunded: { value: 0 } });
});

it('the benchmark’s simulated Stripe lists objects newest first, a hundred at a time, within the requested times', () => {
  const listing = new Listing();
  for (let n = 0; n < 150; n++) listing.add({ id: `in_${n}`, atSec: n, text: () => String(n) });
  const ask = (query: string): { data: number[]; has_more: boolean } =>
    JSON.parse(listing.page(new URLSearchParams(query))) as { data: number[]; has_more: boolean };
  const first = ask('created[gte]=20');
  expect([first.data[0], first.data.at(-1), first.has_more]).toEqual([149, 50, true]);
  const second = ask('created[gte]=20&starting_after=in_50');
  expect([second.data[0], second.data.at(-1), second.has_more]).toEqual([49, 20, false]);
  expect(ask('created_after=20&created_before=22').data).toEqual([21, 20]);
});
