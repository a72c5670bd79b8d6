// The proforma invoice of an invoice: exact decimals, lines that sum to what is due, and what is known of the recipient.
import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { proformaWire } from '../../../../src/features/transfers/proforma-request.js';
import { type CreateProformaDto } from '../../../../src/core/mor-objects/mor-object.dto.js';
import { Problem } from '../../../../src/frames/api/http/problem.js';
import { minorFromDecimal } from '../../../../src/shared/domain/money.js';
import { type BilledInvoice, type BilledLine } from '../../../../src/shared/domain/ports/billing-reader.js';
import { anInvoice } from '../../../support/builders/events.js';

type Sent = {
  total: { amount: string; currency: string };
  lineItems: { description: string; quantity: string; unitPrice: { amount: string; currency: string } }[];
  recipient: Record<string, unknown>;
  provider: Record<string, unknown>;
  [name: string]: unknown;
};

const DTO: CreateProformaDto = { jurisdiction: 'GB', due_date: '2026-12-31' };
const TODAY = '2026-11-20';

function billed(
  lines: readonly BilledLine[],
  due: bigint,
  over: Partial<BilledInvoice> = {},
  currency = 'EUR',
): BilledInvoice {
  return {
    invoice: anInvoice({ invoiceId: 'in_1', amountDue: due, currency }),
    number: 'INV-7',
    seller: { name: 'Larch Ltd', country: 'GB' },
    customer: {
      name: 'Ada Example',
      email: 'ada@example.com',
      address: {
        line1: '1 High Street',
        line2: null,
        city: 'London',
        state: null,
        postalCode: 'N1 1AA',
        country: 'GB',
      },
      taxIds: [{ type: 'eu_vat', value: 'EL123456789' }],
    },
    lines,
    ...over,
  };
}

const line = (amount: bigint, quantity: bigint | null = 1n, description: string | null = 'Larch Pro'): BilledLine => ({
  amount,
  quantity,
  description,
});
const sent = (invoice: BilledInvoice, dto: CreateProformaDto = DTO): Sent =>
  JSON.parse(proformaWire(dto, invoice, TODAY).body ?? '') as Sent;

/** What the lines of a request come to, in smallest units. */
function sumOf({ lineItems, total }: Sent): bigint {
  return lineItems.reduce(
    (sum, l) => sum + BigInt(l.quantity) * (minorFromDecimal(l.unitPrice.amount, total.currency) ?? -1n),
    0n,
  );
}

it('a proforma request has the invoice id as its reference, and "in_1:2" after one settled proforma invoice', () => {
  const of = (settled?: number) => proformaWire(DTO, billed([line(2990n)], 2990n), TODAY, settled).body;
  expect(of()).toContain('"merchantReference":"in_1"');
  expect(of(1)).toContain('"merchantReference":"in_1:2"');
});

it("a proforma request takes the invoice's lines with an exact unit price", () => {
  const s = sent(billed([line(2000n, 2n), line(990n)], 2990n));
  expect(s.total).toEqual({ amount: '29.90', currency: 'EUR' });
  expect(s.lineItems).toEqual([
    { description: 'Larch Pro', quantity: '2', unitPrice: { amount: '10.00', currency: 'EUR' } },
    { description: 'Larch Pro', quantity: '1', unitPrice: { amount: '9.90', currency: 'EUR' } },
  ]);
});

it("a proforma request has one line if the invoice's lines do not sum to the amount due", () => {
  for (const b of [billed([line(3500n)], 2990n), billed([line(3500n), line(-510n)], 2990n), billed([], 2990n)]) {
    expect(sent(b).lineItems).toEqual([
      { description: 'Invoice INV-7', quantity: '1', unitPrice: { amount: '29.90', currency: 'EUR' } },
    ]);
  }
});

it('a proforma request bills a line as one piece if its unit price is not exact, and names a blank line "Item"', () => {
  expect(sent(billed([line(1000n, 3n, ' ')], 1000n)).lineItems).toEqual([
    { description: 'Item', quantity: '1', unitPrice: { amount: '10.00', currency: 'EUR' } },
  ]);
});

it('the lines of a proforma request sum to the amount due in every currency', () => {
  const amounts = fc.array(fc.tuple(fc.bigInt(-500n, 5_000_000n), fc.bigInt(0n, 7n)), { maxLength: 8 });
  fc.assert(
    fc.property(amounts, fc.bigInt(1n, 10_000_000n), fc.constantFrom('EUR', 'JPY', 'KWD'), (rows, other, currency) => {
      const lines = rows.map(([amount, quantity]) => line(amount, quantity));
      const sum = lines.reduce((n, l) => n + l.amount, 0n);
      for (const due of [other, ...(sum > 0n ? [sum] : [])]) {
        const s = sent(billed(lines, due, {}, currency));
        expect(sumOf(s)).toBe(due);
        expect(minorFromDecimal(s.total.amount, currency)).toBe(due);
      }
    }),
  );
});

it('a proforma request takes seller, customer, address and tax ids from Stripe', () => {
  expect(sent(billed([line(2990n)], 2990n))).toMatchObject({
    merchantReference: 'in_1',
    issueDate: TODAY,
    dueDate: '2026-12-31',
    provider: { providerName: 'Larch Ltd', providerCountry: 'GB' },
    recipient: {
      legalName: 'Ada Example',
      address: { line1: '1 High Street', locality: 'London', postalCode: 'N1 1AA', country: 'GB' },
      taxIdentifiers: [{ type: 'EU_VAT', code: 'EL123456789', country: 'GR' }],
      contact: { email: 'ada@example.com' },
    },
  });
});

it('a proforma request gives a VAT number of Northern Ireland the country GB', () => {
  const customer = { ...billed([], 1n).customer, taxIds: [{ type: 'eu_vat', value: 'XI123456789' }] };
  expect(sent(billed([line(2990n)], 2990n, { customer }))).toMatchObject({
    recipient: { taxIdentifiers: [{ type: 'EU_VAT', code: 'XI123456789', country: 'GB' }] },
  });
});

it('a proforma request leaves out tax ids of no country, and keeps the others', () => {
  const taxIds = [
    { type: 'unknown', value: '123' },
    { type: 'eu_oss_vat', value: 'EU123456789' },
    { type: 'eu_vat', value: '123456789' },
    { type: 'ch_vat', value: 'CHE-123.456.789 MWST' },
  ];
  const { recipient } = sent(billed([line(2990n)], 2990n, { customer: { ...billed([], 1n).customer, taxIds } }));
  expect(recipient.taxIdentifiers).toEqual([{ type: 'CH_VAT', code: 'CHE-123.456.789 MWST', country: 'CH' }]);
});

it("a proforma request prefers the caller's values to Stripe's values", () => {
  const dto = { ...DTO, recipient: { legalName: 'Ada Ltd', taxIdentifiers: [] }, issue_date: '2026-11-01' };
  expect(sent(billed([line(2990n)], 2990n), dto)).toMatchObject({
    issueDate: '2026-11-01',
    recipient: { legalName: 'Ada Ltd', taxIdentifiers: [], contact: { email: 'ada@example.com' } },
  });
});

it('Crossbill refuses a proforma request with missing parts and names each missing field', () => {
  const customer = { name: null, email: null, address: null, taxIds: [] };
  const fields = (dto: CreateProformaDto, invoice: BilledInvoice): string[] => {
    try {
      proformaWire(dto, invoice, TODAY);
    } catch (e) {
      if (e instanceof Problem) return (e.getResponse() as { errors: { field: string }[] }).errors.map((x) => x.field);
      throw e;
    }
    return [];
  };
  expect(fields(DTO, billed([], 2990n, { customer }))).toEqual([
    'recipient.legalName',
    'recipient.address.line1',
    'recipient.address.locality',
    'recipient.address.postalCode',
    'recipient.address.country',
    'recipient.contact.email',
  ]);
  expect(fields({ ...DTO, provider: { name: 'x' } }, billed([], 2990n))).toEqual(['provider.name']);
});

it('a proforma request from a tax calculation carries no lines', () => {
  const id = '00000000-0000-4000-8000-000000000000';
  const wire = proformaWire({ ...DTO, tax_calculation_id: id }, billed([], 2990n), TODAY);
  expect(wire.path).toBe('/api/proforma-invoices/from-tax-calculation');
  expect(JSON.parse(wire.body ?? '')).toEqual({
    taxCalculationId: id,
    jurisdiction: 'GB',
    issueDate: TODAY,
    dueDate: '2026-12-31',
    merchantReference: 'in_1',
  });
});
