// The sentences of a review item.
import { expect, it } from '@jest/globals';
import { sentencesOf } from '../../../../src/reviews/rules/words.js';

const asked = { dispute: 'dp_1', afterOutcome: null, url: null };
const disputed = { amount: { minor: 45000n, currency: 'EUR' }, unread: null };

it('the sentence of a dispute item names the amount and the dispute, and the deadline or "no deadline given"', () => {
  const fact = { code: 'evidence-due', ...asked, ...disputed } as const;
  expect(sentencesOf({ fact: { ...fact, until: '2026-11-29T01:28:00.000Z' } }).summary).toBe(
    "the customer's bank disputes 450.00 EUR: dispute dp_1, evidence is needed by 2026-11-29 01:28 UTC",
  );
  expect(sentencesOf({ fact: { ...fact, until: null } }).summary).toBe(
    "the customer's bank disputes 450.00 EUR: dispute dp_1, evidence is needed (no deadline given)",
  );
});
