// The overview's list of work: refused renewals that nobody tries again, headings with customer and amount, and "All
// well" only without work.
import { expect, it } from '@jest/globals';
import { customersOf, needsYou, type Waiting } from '../../../../src/features/overview/needs.js';
import { deadNeeds } from '../../../../src/features/notifications/dead.needs.js';
import { REFUSED_SHOWN, refusedNeeds } from '../../../../src/features/retries/refused.needs.js';
import { type UnplannedInvoice } from '../../../../src/features/retries/retries.repository.js';
import { verifyNeeds } from '../../../../src/features/verify/verify.needs.js';
import { FACTS } from '../../../support/builders/item-facts.js';
import { openReview } from '../../../support/rigs/decide.js';
import { aCtx, anOpenInvoice, NOW } from '../../../support/builders/channel-lane.js';
import { never } from '../../../support/never.js';

const nothing: Waiting = {
  reviews: [],
  abouts: new Map(),
  openReviews: 0,
  ofFeatures: [verifyNeeds(null, NOW)],
  parkedEvents: 0,
  replies: [],
  stuck: [],
};
const refused: UnplannedInvoice = {
  invoiceId: 'in_1',
  customerId: 'cus_1',
  minor: 2990n,
  currency: 'EUR',
  refusal: { at: NOW.toISOString(), outcome: 'failed', code: 'expired_card' },
};
const refusals = (count: number): Pick<Waiting, 'ofFeatures'> => ({
  ofFeatures: [refusedNeeds(Array<UnplannedInvoice>(count).fill(refused), NOW)],
});
const names = new Map([['cus_1', 'Ada <Example>']]);
const shown = (over: Partial<Waiting>, known: ReadonlyMap<string, string> = names): string =>
  needsYou({ ...nothing, ...over }, known, NOW)
    .toString()
    .replace(/\s+/g, ' ');
const headings = (page: string): string[] =>
  [...page.matchAll(/<a href="\/console\/(?:reviews|invoices)\/[^"]*">(.*?)<\/a>/g)].map(([, inner = '']) =>
    inner.replace(/<[^>]*>/g, '').trim(),
  );

it('the overview says that all is well only without refused renewals, review items and other work', () => {
  expect(shown({})).toContain('All well');
  for (const over of [refusals(1), { parkedEvents: 1 }, { ofFeatures: [deadNeeds(1)] }])
    expect(shown(over)).not.toContain('All well');
});

it('a refused renewal has a heading with the name of its customer and the amount, and its reason', () => {
  const page = shown(refusals(1));
  expect(headings(page)).toEqual(['Refused renewal: Ada &lt;Example&gt;, 29.90 EUR']);
  expect(page).toContain('The card has expired');
  expect(page).toContain('/console/invoices/in_1');
  expect(page).not.toContain('More refused renewals');
  expect(shown(refusals(REFUSED_SHOWN + 1))).toContain('/console/retries');
});

it('the heading of a review item has customer and amount instead of ids, as far as they are known', () => {
  const lane = openReview(anOpenInvoice(), aCtx(), { kind: 'dispute', subject: 'dp_1', fact: FACTS.dispute });
  const item = lane.reviews[0] ?? never();
  const about = { customerId: 'cus_1', minor: 500n, currency: 'EUR' };
  const heading = (of: typeof about | null, known = names): string[] =>
    headings(shown({ reviews: [item], openReviews: 1, abouts: new Map(of === null ? [] : [[item.id, of]]) }, known));
  expect(heading(about)).toEqual(['Dispute: Ada &lt;Example&gt;, 5.00 EUR']);
  expect(heading(about, new Map())).toEqual(['Dispute: cus_1, 5.00 EUR']);
  expect(heading(null)).toEqual(['Dispute']);
});

it('the overview looks up the names of the customers of its items, each once', () => {
  const about = { customerId: 'cus_2', minor: null, currency: null };
  expect(customersOf({ ...nothing, ...refusals(2), abouts: new Map([['rev_1', about]]) })).toEqual(['cus_2', 'cus_1']);
});
