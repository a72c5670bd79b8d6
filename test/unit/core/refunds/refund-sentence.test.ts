// How a refund stands, in one sentence.
import { expect, it } from '@jest/globals';
import { refundSentence } from '../../../../src/core/refunds/refund-sentence.js';

const base = {
  ...({ amount: 1_250n, currency: 'GBP', failure: null, mirror: 'none', morStatus: null, beyondSale: null } as const),
};

it('the sentence of a refund names its amount, its state and the reason of a failure', () => {
  expect(refundSentence({ ...base, status: 'succeeded', mirror: 'done' })).toEqual({
    tone: 'good',
    text: 'Refunded 12.50 GBP; Stripe shows it.',
  });
  const beyond = { ...base, status: 'succeeded', mirror: 'done', beyondSale: 250n } as const;
  expect(refundSentence(beyond).text).toBe(
    'Refunded 12.50 GBP; Stripe shows it, 2.50 GBP of it without a credit note.',
  );
  expect(refundSentence({ ...base, status: 'succeeded', mirror: 'waiting' }).text).toContain('Stripe does not show it');
  expect(refundSentence({ ...base, status: 'succeeded', mirror: 'not_needed' }).text).toBe('Refunded 12.50 GBP.');
  expect(refundSentence({ ...base, status: 'succeeded', mirror: 'parked' })).toEqual({
    tone: 'bad',
    text: 'Refunded 12.50 GBP; not on Stripe: see the review item.',
  });
  expect(refundSentence({ ...base, status: 'joined' })).toEqual({
    tone: 'good',
    text: 'Refunded 12.50 GBP: Crossbill had recorded this refund before.',
  });
  expect(refundSentence({ ...base, status: 'failed' }).text).toContain('the refund failed. You can');
  expect(refundSentence({ ...base, amount: 129_900n, status: 'pending' }).text).toContain('1,299.00 GBP');
  for (const status of ['requested', 'unknown'] as const) {
    const { tone, text } = refundSentence({ ...base, status });
    expect([tone, text]).toEqual(['wait', expect.stringContaining('Requested: the MoR has not confirmed')]);
  }
  expect(refundSentence({ ...base, status: 'pending' }).tone).toBe('wait');
  expect(refundSentence({ ...base, status: 'pending', morStatus: 'on_hold' })).toMatchObject({
    tone: 'wait',
    text: expect.stringContaining('on_hold'),
  });
  const failure = { status: 422, code: 'x', message: 'charged back' };
  expect(refundSentence({ ...base, status: 'failed', failure })).toMatchObject({
    tone: 'bad',
    text: expect.stringContaining('(charged back)'),
  });
});
