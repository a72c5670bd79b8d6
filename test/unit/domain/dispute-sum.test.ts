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
  it('an ambiguous dispute sum needs no person if each reading takes the whole payment', () => {
    for (const said of ['1000', '1000 EUR', '10.00', '10.00 EUR', '10.00 eur', '10.00 EUR or 12.00 EUR'])
      expect([said, asked(said)]).toEqual([said, false]);
  });

  it('a person decides about an ambiguous dispute sum with a reading below the payment', () => {
    for (const said of ['300 EUR', '999', '9.99 EUR or 10.00 EUR', '10.00 EUR or 9.99 EUR'])
      expect([said, unreadSum(told(said), taken)]).toEqual([said, said]);
  });

  it('a person decides about a dispute sum with other words in it', () => {
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

  it('an ambiguous dispute sum takes the currency next to it, then the dispute’s, then the payment’s', () => {
    expect(asked('10.00 USD', 'JPY')).toBe(false);
    expect(asked('10.00', 'JPY')).toBe(true); // yen have no decimals
    expect(unreadSum({ ...told('10.00', 'EUR'), amount: 1000n }, null)).toBeNull();
    expect(unreadSum({ ...told('10.00'), amount: 1000n }, null)).toBe('10.00');
  });

  it('a person decides about an ambiguous dispute sum of a payment without an amount', () => {
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

  it('an ambiguous dispute sum needs no person if one reading is the sum of before', () => {
    expect(unreadSum(after('300 EUR', before), taken)).toBeNull();
    expect(unreadSum(after('400 EUR', before), taken)).toBe('400 EUR');
    expect(unreadSum(after('1000 EUR', before), taken)).toBe('1000 EUR');
  });

  it('a later clear sum settles an ambiguous one', () => {
    expect(unreadSum(after('400 EUR', AT), taken)).toBeNull();
    expect(unreadSum(after('400 EUR', '2026-11-20T13:00:00.000Z'), taken)).toBeNull();
    const none = { ...told('400 EUR'), detail: { unread: { said: '400 EUR', at: AT }, amountAt: AT } };
    expect(unreadSum(none, taken)).toBe('400 EUR');
  });

  it('a dispute without any sum asks no person about it', () => {
    expect(unreadSum({ amount: null, currency: null, detail: {} }, taken)).toBeNull();
  });
});
