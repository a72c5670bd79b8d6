// What a dispute's sum may come to that the MoR wrote in a way that can be read as two.
import { expect, it } from '@jest/globals';
import { unreadSum } from '../../../../src/shared/domain/dispute-sum.js';

const AT = '2026-11-20T12:00:00.000Z';
const notified = (said: string) => ({ amount: null, detail: { unread: { said, at: AT } } });

it('Crossbill reads a sum of "1000 EUR" (1000 euros or 1000 cents) as the whole payment only if the payment is at most 1000 cents', () => {
  for (const said of ['1000', '1000 EUR']) expect(unreadSum(notified(said), { amount: 1000n })).toBeNull();
  for (const said of ['999', '300 EUR', '10.00', '1000 EUR or 12.00 EUR', 'about 1000', '{"value":1000}', '1000 euros'])
    expect(unreadSum(notified(said), { amount: 1000n })).toBe(said);
  for (const p of [{ amount: null }, undefined]) expect(unreadSum(notified('1000 EUR'), p)).toBe('1000 EUR');
});

it('if the MoR sends an ambiguous sum and a clear sum of one dispute, Crossbill uses the later sum', () => {
  const after = (amountAt: string) => ({ amount: 300n, detail: { unread: { said: '1000 EUR', at: AT }, amountAt } });
  expect(unreadSum(after('2026-11-20T11:00:00.000Z'), { amount: 1000n })).toBe('1000 EUR');
  expect(unreadSum(after(AT), { amount: 1000n })).toBeNull();
  expect(unreadSum({ amount: null, detail: {} }, { amount: 1000n })).toBeNull();
});
