// How a refund stands in one sentence, and the amount that a person types for one.
import { describe, expect, it } from '@jest/globals';
import { refundAnswer } from '../../src/refunds/rules/refund-words.js';
import { typedAmount } from '../../src/refunds/rules/typed-amount.js';

describe('the sentence on top of a refund', () => {
  const base = { amount: 1_250n, currency: 'GBP', failure: null, mirror: 'none', morStatus: null } as const;

  it('says that it is done, and raises no alarm while it is on its way', () => {
    expect(refundAnswer({ ...base, status: 'succeeded', mirror: 'done' })).toEqual({
      tone: 'good',
      text: 'Refunded 12.50 GBP; Stripe shows it.',
    });
    expect(refundAnswer({ ...base, status: 'succeeded', mirror: 'waiting' }).text).toContain('Stripe is being told.');
    expect(refundAnswer({ ...base, status: 'succeeded', mirror: 'not_needed' }).text).toBe('Refunded 12.50 GBP.');
    expect(refundAnswer({ ...base, status: 'succeeded', mirror: 'parked' })).toEqual({
      tone: 'bad',
      text: 'Refunded 12.50 GBP; a person must say how Stripe shows it.',
    });
    expect(refundAnswer({ ...base, status: 'joined' })).toEqual({
      tone: 'good',
      text: 'Refunded 12.50 GBP: it is a refund that was known already.',
    });
    expect(refundAnswer({ ...base, status: 'failed' }).text).toContain('refused or failed it. The amount');
    expect(refundAnswer({ ...base, amount: 129_900n, status: 'pending' }).text).toContain('1,299.00 GBP');
    for (const status of ['requested', 'unknown'] as const) {
      const { tone, text } = refundAnswer({ ...base, status });
      expect([tone, text]).toEqual(['wait', expect.stringContaining('Asked for: the MoR has not answered yet')]);
    }
    expect(refundAnswer({ ...base, status: 'pending' }).tone).toBe('wait');
    expect(refundAnswer({ ...base, status: 'pending', morStatus: 'on_hold' })).toMatchObject({
      tone: 'wait',
      text: expect.stringContaining('on_hold'),
    });
    const failure = { status: 422, code: 'x', message: 'charged back' };
    expect(refundAnswer({ ...base, status: 'failed', failure })).toMatchObject({
      tone: 'bad',
      text: expect.stringContaining('(charged back)'),
    });
  });
});

describe('an amount as a person types it', () => {
  it.each([
    ['12.50', 'GBP', 1_250n],
    ['12,50', 'GBP', 1_250n],
    ['12,5', 'EUR', 1_250n],
    ['12', 'EUR', 1_200n],
    ['1,234', 'KWD', 1_234n],
    ['500', 'JPY', 500n],
    ['1,000', 'EUR', null], // a thousand, or one: nobody can know
    ['1.000', 'EUR', null],
    ['1,000', 'JPY', null],
    ['1.000,00', 'EUR', null],
    ['1,000.00', 'EUR', null],
    ['', 'EUR', null],
    [',50', 'EUR', null],
    ['1e1', 'EUR', null],
    ['-1', 'EUR', null],
    [' 5', 'EUR', null],
  ])('%j in %s is %s', (text, currency, minor) => {
    expect(typedAmount(text, currency)).toBe(minor);
  });
});
