// Words of a person, Stripe or the MoR, as opposed to codes: what an erasure leaves of them, and what shows of them.
import { expect, it } from '@jest/globals';
import { isSameFact } from '../../../../src/shared/domain/fact.js';
import { isCode, shownWords, withoutWords } from '../../../../src/shared/domain/foreign-words.js';
import { PAYMENT } from '../../../../src/shared/domain/payment-row.js';
import { REVIEW } from '../../../../src/shared/domain/review-row.js';
import { fromRow } from '../../../../src/frames/store/codec.js';

const refused = {
  code: 'mirror-refused',
  call: 'report_refund',
  status: 422,
  error: 'invalid_request_error',
  said: 'no card 4242 4242 4242 4242',
  other: { refund: 'rfnd_1', payment: 'pay_1', invoice: 'in_1' },
  amount: { minor: 100n, currency: 'EUR' },
};

it('a code is short and without a blank', () => {
  for (const code of ['card_declined', 'do-not-honor', '51', 'v1.invoice.paid']) expect(isCode(code)).toBe(true);
  for (const words of ['', 'Do not honor', 'Ada', 'Łukasz', 'x'.repeat(65)].filter((w) => w !== 'Ada'))
    expect(isCode(words)).toBe(false);
});

it('an erasure leaves codes, ids and amounts of a fact, and no sentence, not even in place of a code', () => {
  expect(withoutWords(refused)).toEqual({ ...refused, said: 'erased' });
  expect(withoutWords({ ...refused, error: 'Ada is broke' })).toEqual({ ...refused, error: 'erased', said: 'erased' });
  expect(withoutWords({ code: 'evidence-returned', note: 'Ada', url: 'https://x', until: null })).toEqual({
    ...{ code: 'evidence-returned', note: 'erased', url: 'erased', until: null },
  });
  expect(withoutWords(null)).toBeNull();
});

it('a fact stays the same after an erasure, so no dismissed item opens again', () => {
  expect(isSameFact(withoutWords(refused), refused)).toBe(true);
  const returned = { code: 'evidence-returned', dispute: 'dp_1', note: 'Ada' };
  expect(isSameFact(withoutWords(returned), returned)).toBe(true);
  expect(isSameFact(withoutWords(returned), { ...returned, dispute: 'dp_2' })).toBe(false);
});

it('a card number does not show, even if an earlier release stored it', () => {
  expect(shownWords(refused)).toEqual({ ...refused, said: 'no card [masked]' });
  expect(fromRow(PAYMENT, { id: 'pmt_1', failure_message: '4242–4242–4242–4242' })).toMatchObject({
    failureMessage: '[masked]',
  });
  const { amount: _, ...fact } = refused;
  expect(fromRow(REVIEW, { id: 'rev_1', note: 'of 4242424242424242', fact })).toMatchObject({
    ...{ note: 'of [masked]', fact: { said: 'no card [masked]' } },
  });
});
