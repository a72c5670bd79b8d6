// The exact arithmetic of tax, over arbitrary carts: sums add up, nothing is negative, refunds never exceed a line.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { divideHalfUp, isExactIn, minorOf, parseDecimal, showRate } from '../../src/mor/decimals.js';
import { normalizeHsCode } from '../../src/mor/duty.js';
import { computeLine } from '../../src/mor/tax-computation.js';
import { takeFrom } from '../../src/mor/tax-refunds.js';
import { type TaxRequest, parseTaxRequest } from '../../src/mor/tax-request.js';
import { isCnpj, isCpf } from '../../src/mor/tax-identifiers.js';
import { address, cart, cartIn, line } from './support.js';

const carts = fc.record({
  place: fc.constantFrom('GB', 'US', 'CA', 'import'),
  inclusive: fc.boolean(),
  cents: fc.integer({ min: 0, max: 5_000_000 }),
  discount: fc.integer({ min: 0, max: 300 }),
  quantity: fc.integer({ min: 1, max: 99 }),
});
type Cart = typeof carts extends fc.Arbitrary<infer T> ? T : never;

function requestOf({ place, inclusive, cents, discount, quantity }: Cart): TaxRequest {
  const one = {
    ...line,
    unitPrice: (cents / 100).toFixed(2),
    discountAmount: (Math.min(discount, cents) / 100).toFixed(2),
    quantity,
  };
  const behavior = { taxBehavior: inclusive ? 'INCLUSIVE' : 'EXCLUSIVE' };
  if (place === 'import') {
    const goods = { ...one, productType: 'PHYSICAL', countryOfOrigin: 'CN', title: 'T-shirt' };
    return parseTaxRequest(
      cart({ ...behavior, lineItems: [goods], shipFrom: { country: 'CN' } }, { shippingAddress: address }),
    );
  }
  if (place === 'GB') return parseTaxRequest(cart({ ...behavior, lineItems: [one] }));
  const state = place === 'US' ? 'NY' : 'QC';
  return parseTaxRequest(
    cartIn(place, place === 'US' ? 'USD' : 'CAD', { ...behavior, address: { state }, lineItems: [one] }),
  );
}

it("the sandbox's tax charges of each line add up to the line's tax and duty", () => {
  fc.assert(
    fc.property(carts, (one) => {
      const request = requestOf(one);
      const [taxLine] = request.lines;
      if (taxLine === undefined) throw new Error('no line');
      const computed = computeLine(request, taxLine);
      expect(computed.subTotal - computed.discount).toBe(computed.net);
      expect(computed.net + computed.duty + computed.tax).toBe(computed.total);
      const sum = (duty: boolean): bigint =>
        computed.charges
          .filter(({ levy }) => (levy === null) === duty)
          .reduce((total, { amount }) => total + amount, 0n);
      expect([sum(false), sum(true)]).toEqual([computed.tax, computed.duty]);
      expect(computed.charges.every(({ amount }) => amount >= 0n)).toBe(true);
      const sent = BigInt((one.cents - Math.min(one.discount, one.cents)) * one.quantity);
      if (one.inclusive) expect(computed.total).toBe(sent);
      else expect(computed.net).toBe(sent);
    }),
  );
});

it("the sandbox's partial tax refunds of a line, in any order, net or gross, add up to the line's amount", () => {
  const parts = fc.array(fc.record({ share: fc.integer({ min: 1, max: 100 }), inclusive: fc.boolean() }), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(carts, parts, (one, asked) => {
      const request = requestOf({ ...one, cents: one.cents + 100 });
      const [taxLine] = request.lines;
      if (taxLine === undefined) throw new Error('no line');
      const computed = computeLine(request, taxLine);
      const whole = { lineItemId: 'x', line: taxLine, computed };
      const base = computed.total - computed.tax;
      let before = { base: 0n, tax: 0n };
      const take = (amount: bigint | null, inclusive: boolean): void => {
        const taken = takeFrom(whole, before, amount, inclusive);
        if (taken === null) return;
        expect(taken.base >= 0n && taken.tax >= 0n).toBe(true);
        if (amount !== null) expect(inclusive ? taken.base + taken.tax : taken.base).toBe(amount);
        before = { base: before.base + taken.base, tax: before.tax + taken.tax };
        expect(before.base <= base && before.tax <= computed.tax).toBe(true);
      };
      for (const { share, inclusive } of asked) take((computed.total * BigInt(share)) / 200n + 1n, inclusive);
      take(null, true);
      expect(before).toEqual({ base, tax: computed.tax });
    }),
  );
});

it('the sandbox reads decimals exactly and rounds half up', () => {
  expect(parseDecimal('1.005')).toEqual({ digits: 1005n, scale: 3 });
  for (const bad of ['', '1e2', '+1', ' 1', '1,0', '.5', '0x1', 1e21, Number.NaN, null, true])
    expect(parseDecimal(bad)).toBeNull();
  expect(minorOf({ digits: 1005n, scale: 3 }, 1n, 'EUR')).toBe(101n);
  expect(minorOf({ digits: 5n, scale: 3 }, 1000n, 'EUR')).toBe(500n);
  expect(minorOf({ digits: 5n, scale: 1 }, 1n, 'JPY')).toBe(1n);
  expect([divideHalfUp(5n, 10n), divideHalfUp(-5n, 10n), divideHalfUp(4n, 10n)]).toEqual([1n, -1n, 0n]);
  expect([isExactIn({ digits: 1005n, scale: 3 }, 'EUR'), isExactIn({ digits: 1005n, scale: 3 }, 'KWD')]).toEqual([
    false,
    true,
  ]);
  expect([200_000n, 99_750n, 1_000_000n, 0n].map(showRate)).toEqual(['0.20', '0.09975', '1.00', '0.00']);
});

it('the sandbox checks the check digits of tax identifiers and the codes of countries and currencies', () => {
  expect(['529.982.247-25', '52998224725', '11111111111', '52998224726', '5299822472'].map(isCpf)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(['11.222.333/0001-81', '11222333000181', '11222333000182', '112223330001-81'].map(isCnpj)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(['6109.10.00', '61.091', '61091000112233', 'abcdef'].map(normalizeHsCode)).toEqual([
    '61091000',
    null,
    '61091000112233',
    null,
  ]);
});
