// The sentences of a review item.
import { expect, it } from '@jest/globals';
import { eur } from '../../../../support/builders/channel-object.js';
import { sentencesOf } from '../../../../../src/core/reviews/rules/words.js';
import { FACTS } from '../../../../support/builders/item-facts.js';

const asked = { dispute: 'dp_1', afterOutcome: null, url: null };
const disputed = { amount: eur(45000n), unread: null };

it('the sentence of a dispute item names the amount, the dispute and the deadline', () => {
  const fact = { code: 'evidence-due', ...asked, ...disputed, until: '2026-11-29T01:28:00.000Z' } as const;
  const { summary } = sentencesOf({ fact });
  for (const part of ['450.00 EUR', 'dp_1', '2026-11-29 01:28 UTC']) expect(summary).toContain(part);
  expect(sentencesOf({ fact: { ...fact, until: null } }).summary).not.toContain('null');
});

it.each(Object.values(FACTS))(
  'the sentences of a review item with the fact $code contain no undefined, null or unformatted value',
  (fact) => {
    const { summary, proposal } = sentencesOf({ fact });
    expect([summary === '', proposal === '']).toEqual([false, false]);
    expect(`${summary} ${proposal}`).not.toMatch(/undefined|null|NaN|\[object|\$\{/);
  },
);
