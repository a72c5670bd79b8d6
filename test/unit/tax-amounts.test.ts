// Exact shares of an amount over lines, and the calculation that a paid invoice asks for.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { calculationFor, shares } from '../../src/tax/rules/amounts.js';
import { type TaxBasis } from '../../src/domain/ports/tax.js';
import { encodeTax } from '../../src/mor/mor-tax-desk.js';
import { checkTaxCalculation } from '../../src/mor/requests/check-tax-calculation.js';
import { checkTaxRefund, checkTaxTransaction } from '../../src/mor/requests/tax-transaction.js';

describe('shares of an amount', () => {
  it('add up to the amount, whatever the weights', () => {
    const weights = fc.array(fc.bigInt(-1_000n, 10n ** 12n), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(weights, fc.bigInt(0n, 10n ** 13n), (w, total) => {
        const parts = shares(total, w);
        if (!w.some((x) => x > 0n)) return parts === null;
        return parts !== null && parts.every((p) => p >= 0n) && parts.reduce((a, b) => a + b, 0n) === total;
      }),
    );
  });

  it('never take more of a line than it has, as long as there is enough', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt(0n, 10_000n), { minLength: 1 }), fc.nat(1_000), (w, permille) => {
        const sum = w.reduce((a, b) => a + b, 0n);
        const parts = shares((sum * BigInt(permille)) / 1_000n, w);
        return sum === 0n ? parts === null : parts?.every((p, i) => p <= (w[i] ?? 0n)) === true;
      }),
    );
  });

  it('of 1.00 over three equal lines are 0.34, 0.33 and 0.33', () => {
    expect(shares(100n, [500n, 500n, 500n])).toEqual([34n, 33n, 33n]);
  });
});

describe('a share', () => {
  it('of units that are left goes to the largest remainder, of equal ones to the first', () => {
    expect(shares(2n, [1n, 1n, 1n])).toEqual([1n, 1n, 0n]);
    expect(shares(10n, [1n, 2n, 4n])).toEqual([1n, 3n, 6n]);
    expect(shares(1n, [1n, 3n, 3n])).toEqual([0n, 1n, 0n]);
    expect(shares(1n, [-5n, 0n, 1n])).toEqual([0n, 0n, 1n]);
  });

  it('of less than nothing is none', () => {
    expect(shares(-1n, [1n])).toBeNull();
    expect(shares(0n, [1n])).toEqual([0n]);
  });
});

const basis = (over: Partial<TaxBasis> = {}): TaxBasis => ({
  invoiceId: 'in_1',
  customerId: 'cus_1',
  currency: 'EUR',
  total: 2990n,
  customer: {
    name: 'Ada Example',
    email: 'ada@example.com',
    address: { line1: '1 Weg', line2: null, city: 'Berlin', state: null, postalCode: '10115', country: 'DE' },
    taxIds: [],
  },
  ipAddress: '203.0.113.7',
  lines: [
    { reference: 'il_1', productCode: 'prod_1', description: 'Larch Pro', amount: 2990n },
    { reference: 'il_2', productCode: null, description: null, amount: 0n },
  ],
  ...over,
});
const inCountry = (country: string, over: Partial<NonNullable<TaxBasis['customer']['address']>> = {}): TaxBasis => {
  const { customer } = basis();
  const address = { line1: '1 Road', line2: null, city: 'X', state: null, postalCode: '1', country, ...over };
  return basis({ customer: { ...customer, address } });
};

describe('the calculation of a paid invoice', () => {
  it('passes the checks of Document 2 and comes to the invoice’s total, tax included', () => {
    const asked = calculationFor(basis());
    if (!asked.ok) throw new Error(asked.missing.join());
    const body: unknown = JSON.parse(encodeTax('cardpsp', asked.call).body ?? '');
    expect(checkTaxCalculation(body)).toMatchObject({ ok: true });
    expect(body).toMatchObject({
      currency: 'EUR',
      taxBehavior: 'INCLUSIVE',
      customer: { merchantCustomerReference: 'cus_1', firstName: 'Ada', lastName: 'Example' },
      lineItems: [{ merchantLineItemReference: 'il_1', productCode: 'prod_1', unitPrice: '29.90' }],
      evidence: { billingCountry: 'DE', ipAddress: '203.0.113.7' },
    });
  });

  it('spreads credits over the lines that cost something', () => {
    const line = (reference: string, amount: bigint) => ({ reference, productCode: 'p', description: null, amount });
    const asked = calculationFor(
      basis({ total: 2000n, lines: [line('a', 2000n), line('b', 1000n), line('c', -1000n)] }),
    );
    expect(asked).toMatchObject({ ok: true, call: { lines: [{ gross: 1333n }, { gross: 667n }] } });
  });

  it('has one line when no line of the invoice costs anything', () => {
    expect(calculationFor(basis({ lines: [] }))).toMatchObject({
      ok: true,
      call: { lines: [{ reference: 'in_1', gross: 2990n }] },
    });
  });

  it('names a company by its legal name', () => {
    const { customer } = basis();
    const taxIds = [
      { type: 'eu_vat', value: 'DE123456789' },
      { type: 'jp_cn', value: '1' },
    ];
    const asked = calculationFor(basis({ customer: { ...customer, name: 'Larch GmbH', taxIds } }));
    expect(asked).toMatchObject({
      ok: true,
      call: {
        customer: {
          legalName: 'Larch GmbH',
          firstName: null,
          taxIdentifiers: [{ type: 'EU_VAT', code: 'DE123456789' }],
        },
      },
    });
  });

  it.each([
    ['no address', basis({ customer: { ...basis().customer, address: null } }), /country/],
    ['no evidence', basis({ ipAddress: null }), /IP address/],
    ['no state in the US', inCountry('US'), /state/],
    ['no CPF in Brazil', inCountry('BR'), /CPF or CNPJ/],
    ['nothing to pay', basis({ total: 0n }), /above zero/],
  ])('says what is missing: %s', (_what, given, named) => {
    const asked = calculationFor(given);
    expect(asked.ok ? '' : asked.missing.join('; ')).toMatch(named);
  });

  const asked = (
    given: TaxBasis,
  ): readonly string[] | Extract<ReturnType<typeof calculationFor>, { ok: true }>['call'] => {
    const made = calculationFor(given);
    return made.ok ? made.call : made.missing;
  };
  const person = (name: string | null, taxIds: TaxBasis['customer']['taxIds'], country = 'BR'): TaxBasis => {
    const given = inCountry(country);
    return { ...given, customer: { ...given.customer, name, taxIds } };
  };
  const [CPF, CNPJ, VAT] = [
    { type: 'br_cpf', value: '1' },
    { type: 'br_cnpj', value: '2' },
    { type: 'eu_vat', value: '3' },
  ] as const;

  it('in Brazil needs one CPF with both names, or one CNPJ with what only the merchant knows', () => {
    const one = ['exactly one CPF or CNPJ of the customer'];
    const regime = ['the buyerTaxRegime of the company, which only a calculation made by you can name'];
    const names = ['first and last name of the customer'];
    const of = (name: string, ...ids: TaxBasis['customer']['taxIds']) => asked(person(name, ids));
    expect(of('Ada Lovelace', CPF)).toMatchObject({
      customer: { firstName: 'Ada', lastName: 'Lovelace' },
      evidence: null,
    });
    expect(of('Ada', CPF)).toEqual(names);
    expect(of('Ada Lovelace', CNPJ)).toEqual(regime);
    expect(of('Ada Lovelace')).toEqual(one);
    expect(of('Ada', VAT)).toEqual(one);
    expect(of('Ada Lovelace', CPF, CPF)).toEqual(one);
    expect(of('Ada Lovelace', VAT, CPF)).toEqual(names); // as a company it has no names of its own
    expect(asked(person('Ada', [CPF], 'DE'))).toMatchObject({
      customer: { firstName: 'Ada', lastName: null },
    });
  });

  it('splits a name at its first blank, however many there are; one word is a first name, none is none', () => {
    const names = (name: string | null): unknown => {
      const made = asked(person(name, [], 'DE'));
      return 'customer' in made ? [made.customer.firstName, made.customer.lastName] : made;
    };
    expect(names('  Ada   King  Lovelace ')).toEqual(['Ada', 'King Lovelace']);
    expect([names('Ada'), names(' '), names(null)]).toEqual([
      ['Ada', null],
      [null, null],
      [null, null],
    ]);
  });

  it('takes the address as it is, with what is not there left empty, and names each part that it needs', () => {
    const full = inCountry('DE', { line2: 'Floor 2', state: 'BE' });
    expect(asked(full)).toMatchObject({ customer: { billingAddress: { line2: 'Floor 2', state: 'BE' } } });
    expect(asked(inCountry('DE'))).toMatchObject({ customer: { billingAddress: { line2: null, state: null } } });
    const blank = asked(inCountry('CA', { line1: ' ', city: '', postalCode: '\t', state: '' }));
    const parts = ['line1', 'the city', 'the state', 'the postal code'].map(
      (part) => `${part} of the customer's address`,
    );
    expect(blank).toEqual(parts);
    const nowhere = basis({ customer: { ...basis().customer, address: null }, ipAddress: null });
    expect(asked(nowhere)).toEqual(
      ['the country', 'line1', 'the city', 'the postal code'].map((part) => `${part} of the customer's address`),
    );
  });

  it('needs no evidence in the US', () => {
    const asked = calculationFor({ ...inCountry('US', { state: 'NY' }), ipAddress: null });
    expect(asked).toMatchObject({ ok: true, call: { evidence: null } });
  });
});

describe('the bytes of a commit and of a refund', () => {
  it('pass the checks of Document 2 and stay the same', () => {
    const commit = {
      kind: 'commit_tax',
      taxCalculationId: '3f2c1a7e-0000-4000-8000-000000000001',
      reference: 'in_1',
      paymentReference: 'ch_1',
    } as const;
    const body: unknown = JSON.parse(encodeTax('cardpsp', commit).body ?? '');
    expect(checkTaxTransaction(body)).toMatchObject({ ok: true });
    expect(body).toMatchObject({ payment: { processor: 'cardpsp', paymentReference: 'ch_1' } });
    expect(encodeTax('cardpsp', commit)).toEqual(encodeTax('cardpsp', commit));
    const now = new Date('2026-11-20T12:00:00.250Z');
    const refund = encodeTax('cardpsp', {
      kind: 'refund_tax',
      transactionId: 'tx_1',
      reference: 'ref_1',
      refundedAt: now,
      reason: 'duplicate',
      currency: 'JPY',
      lines: [{ lineItemId: 'l_1', gross: 500n }],
    });
    const refundBody: unknown = JSON.parse(refund.body ?? '');
    expect(checkTaxRefund(refundBody, now)).toMatchObject({ ok: true });
    expect(refundBody).toMatchObject({ refundDate: '2026-11-20T12:00:00Z', refundLineItems: [{ amount: '500' }] });
  });
});
