// Document 2: the tax of an order before payment. A calculation lives 7 days, for one use only.
import { type Outcome, type WireRequest } from './outcome.js';
import { Fields } from './read.js';
import { type TaxCalculationRequest } from './requests/tax.js';
import { parseTaxLine, type TaxLine } from './tax-lines.js';
import { type MorTransport } from './transport.js';
import { wireWith } from './wire.js';

/** Amounts are decimal strings in `currency`, exactly as the MoR sent them. */
export type TaxCalculation = {
  readonly taxCalculationId: string;
  readonly createdAt: Date | null;
  readonly expiresAt: Date;
  readonly currency: string;
  readonly subTotalAmount: string | null;
  readonly discountAmount: string | null;
  readonly netAmount: string | null;
  readonly taxAmount: string;
  readonly totalAmount: string;
  /** The duty of all lines, never a part of `taxAmount`. Null: no line has duty. */
  readonly totalDutyAmount: string | null;
  readonly lineItems: readonly TaxLine[];
  /** The company with the tax liability. Null unless the MoR takes the liability. */
  readonly entityCompanyName: string | null;
  /** The MoR repeats these fields from the request, and the parser does not change them. */
  readonly customer: unknown;
  readonly evidence: unknown;
};

export function parseTaxCalculation(value: unknown): TaxCalculation {
  const fields = new Fields(value);
  const entity = fields.may('entity', (inner, at) => new Fields(inner, at));
  return {
    taxCalculationId: fields.id('taxCalculationId'),
    createdAt: fields.timeOrNull('createdAt'),
    expiresAt: fields.time('expiresAt'),
    currency: fields.currency(),
    subTotalAmount: fields.decimalOrNull('subTotalAmount'),
    discountAmount: fields.decimalOrNull('discountAmount'),
    netAmount: fields.decimalOrNull('netAmount'),
    taxAmount: fields.decimal('taxAmount'),
    totalAmount: fields.decimal('totalAmount'),
    totalDutyAmount: fields.decimalOrNull('totalDutyAmount'),
    lineItems: fields.listOrEmpty('lineItems', parseTaxLine),
    entityCompanyName: entity?.textOrNull('companyName') ?? null,
    customer: fields.raw('customer'),
    evidence: fields.raw('evidence'),
  };
}

export function encodeTaxCalculation(request: TaxCalculationRequest): WireRequest {
  return wireWith('POST', '/api/tax/calculations', request);
}

export class TaxCalculations {
  constructor(private readonly transport: MorTransport) {}

  create(request: TaxCalculationRequest): Promise<Outcome<TaxCalculation>> {
    return this.send(encodeTaxCalculation(request));
  }

  /** The request has no key: a second try makes a second calculation. A calculation costs nothing and binds nobody. */
  send(wire: WireRequest): Promise<Outcome<TaxCalculation>> {
    return this.transport.call(wire, { name: 'tax.calculate', accept: ({ body }) => parseTaxCalculation(body) });
  }
}
