// The lines of a tax calculation or transaction, in the form of Document 2.
import { Fields, parseText, Unreadable } from './read.js';

/**
 * One tax or duty of a line, for display and reconciliation only: calculate no amounts from it. The parser accepts any
 * word of the MoR, because a word outside Document 2 must not stop a signup or a tax transaction.
 */
export type TaxCharge = {
  readonly kind: string;
  readonly name: string | null;
  readonly jurisdiction: string | null;
  readonly jurisdictionLevel: string | null;
  readonly country: string | null;
  readonly taxType: string | null;
  readonly providerTaxType: string | null;
  readonly rate: string | null;
  readonly amount: string | null;
  readonly taxableAmount: string | null;
};

export type LineTax = {
  readonly rate: string | null;
  readonly taxAmount: string;
  readonly currency: string | null;
  /** The duty on this line. Null: there is none. */
  readonly dutyAmount: string | null;
  readonly dutyRate: string | null;
  /** For display, unchanged. */
  readonly dutyBasis: string | null;
  readonly appliedHsCode: string | null;
  readonly charges: readonly TaxCharge[];
};

/** Amounts are decimal strings, exactly as the MoR sent them. Null: the answer had none. */
export type TaxLine = {
  readonly lineItemId: string;
  readonly merchantLineItemReference: string | null;
  readonly productCode: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly images: readonly string[];
  readonly unitPrice: string | null;
  readonly quantity: string | null;
  readonly discountAmount: string | null;
  readonly itemSubTotalAmount: string | null;
  readonly itemNetAmount: string | null;
  readonly itemTotalAmount: string | null;
  readonly refunded: boolean;
  readonly tax: LineTax | null;
};

function parseCharge(value: unknown, path: string): TaxCharge {
  const fields = new Fields(value, path);
  return {
    kind: fields.text('kind'),
    name: fields.textOrNull('name'),
    jurisdiction: fields.textOrNull('jurisdiction'),
    jurisdictionLevel: fields.textOrNull('jurisdictionLevel'),
    country: fields.textOrNull('country'),
    taxType: fields.textOrNull('taxType'),
    providerTaxType: fields.textOrNull('providerTaxType'),
    rate: fields.decimalOrNull('rate'),
    amount: fields.decimalOrNull('amount'),
    taxableAmount: fields.decimalOrNull('taxableAmount'),
  };
}

function parseLineTax(value: unknown, path: string): LineTax {
  const fields = new Fields(value, path);
  return {
    rate: fields.decimalOrNull('rate'),
    taxAmount: fields.decimal('taxAmount'),
    currency: fields.textOrNull('currency'),
    dutyAmount: fields.decimalOrNull('dutyAmount'),
    dutyRate: fields.decimalOrNull('dutyRate'),
    dutyBasis: fields.textOrNull('dutyBasis'),
    appliedHsCode: fields.textOrNull('appliedHsCode'),
    charges: fields.listOrEmpty('charges', parseCharge),
  };
}

/** The document does not say whether a quantity is a number or a text. Accepts a whole number or a decimal string. */
function parseQuantity(value: unknown, path: string): string {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'string' && /^\d{1,16}(\.\d{1,12})?$/.test(value)) return value;
  throw new Unreadable(path);
}

export function parseTaxLine(value: unknown, path: string): TaxLine {
  const fields = new Fields(value, path);
  return {
    lineItemId: fields.id('lineItemId'),
    merchantLineItemReference: fields.textOrNull('merchantLineItemReference'),
    productCode: fields.textOrNull('productCode'),
    title: fields.textOrNull('title'),
    description: fields.textOrNull('description'),
    images: fields.listOrEmpty('images', parseText),
    unitPrice: fields.decimalOrNull('unitPrice'),
    quantity: fields.may('quantity', parseQuantity),
    discountAmount: fields.decimalOrNull('discountAmount'),
    itemSubTotalAmount: fields.decimalOrNull('itemSubTotalAmount'),
    itemNetAmount: fields.decimalOrNull('itemNetAmount'),
    itemTotalAmount: fields.decimalOrNull('itemTotalAmount'),
    refunded: fields.flag('refunded'),
    tax: fields.may('tax', parseLineTax),
  };
}
