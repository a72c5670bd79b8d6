// What a dispute's sum may come to that the MoR wrote in a way that can be read as two.
import { describe, expect, it } from '@jest/globals';
import { unreadSum } from '../../../src/domain/dispute-sum.js';

const AT = '2026-11-20T12:00:00.000Z';
const taken = { amount: 1000n, currency: 'EUR' };
const told = (said: string, currency: string | null = null) => ({
  ...{ amount: null, currency },
  detail: { unread: { said, at: AT } },
});
const asked = (said: string, currency?: string): boolean => unreadSum(told(said, currency), taken) !== null;

describe('a sum that can be read as two, of a payment of 10.00 EUR', () => {
  it('is all of the payment where each reading takes that much', () => {
    for (const said of ['1000', '1000 EUR', '10.00', '10.00 EUR', '10.00 eur', '10.00 EUR or 12.00 EUR'])
      expect([said, asked(said)]).toEqual([said, false]);
  });

  it('is asked about where one reading is a part', () => {
    for (const said of ['300 EUR', '999', '9.99 EUR or 10.00 EUR', '10.00 EUR or 9.99 EUR'])
      expect([said, unreadSum(told(said), taken)]).toEqual([said, said]);
  });

  it('is asked about where it is not made of sums alone', () => {
    for (const said of [
      'about 10.00 EUR',
      '10.00 EUR!',
      'all of it',
      '{"value":10}',
      '10.00 EUR or more',
      '10.00 euros',
    ])
      expect([said, asked(said)]).toEqual([said, true]);
  });

  it('is in the currency that stands beside it, else in the dispute’s, else in the payment’s', () => {
    expect(asked('10.00 USD', 'JPY')).toBe(false);
    expect(asked('10.00', 'JPY')).toBe(true); // yen have no decimals
    expect(unreadSum({ ...told('10.00', 'EUR'), amount: 1000n }, null)).toBeNull();
    expect(unreadSum({ ...told('10.00'), amount: 1000n }, null)).toBe('10.00');
  });

  it('is asked about where nobody knows how much the payment was', () => {
    expect(unreadSum(told('1000 EUR'), { amount: null, currency: 'EUR' })).toBe('1000 EUR');
    expect(unreadSum(told('1000 EUR'), undefined)).toBe('1000 EUR');
  });
});

describe('a sum that can be read as two, after one that was sure', () => {
  const after = (said: string, amountAt: string) => ({
    ...{ amount: 300n, currency: 'EUR' },
    detail: { unread: { said, at: AT }, amountAt },
  });
  const before = '2026-11-20T11:00:00.000Z';

  it('is that one where a reading is', () => {
    expect(unreadSum(after('300 EUR', before), taken)).toBeNull();
    expect(unreadSum(after('400 EUR', before), taken)).toBe('400 EUR');
    expect(unreadSum(after('1000 EUR', before), taken)).toBe('1000 EUR');
  });

  it('counts no more once a sure one came at that time or later', () => {
    expect(unreadSum(after('400 EUR', AT), taken)).toBeNull();
    expect(unreadSum(after('400 EUR', '2026-11-20T13:00:00.000Z'), taken)).toBeNull();
    const none = { ...told('400 EUR'), detail: { unread: { said: '400 EUR', at: AT }, amountAt: AT } };
    expect(unreadSum(none, taken)).toBe('400 EUR');
  });

  it('is none where the MoR named none', () => {
    expect(unreadSum({ amount: null, currency: null, detail: {} }, taken)).toBeNull();
  });
});
