// Tax calculations and transactions as the MoR sends them: amounts are decimal strings, and fields without a value are
// left out.
import { decimalFromMinor } from '../kernel/money.js';
import { showRate } from './decimals.js';
import { compact } from './fields.js';
import { type Charge, type ComputedLine, type Totals, totalsOf } from './tax-computation.js';
import { type TaxLine, type TaxRequest, customerEcho, placeOf } from './tax-request.js';

/** A line with its id and its computed amounts. */
export type CalculatedLine = { readonly lineItemId: string; readonly line: TaxLine; readonly computed: ComputedLine };

/** The part that a calculation and its transaction share. */
export type CalculatedCart = { readonly request: TaxRequest; readonly lines: readonly CalculatedLine[] };

function showCharge(charge: Charge, currency: string, country: string): Record<string, unknown> {
  const { levy } = charge;
  return compact({
    kind: levy === null ? 'IMPORT_DUTY' : 'TAX',
    name: levy?.name ?? 'Import duty',
    jurisdiction: levy?.jurisdiction,
    jurisdictionLevel: levy?.level,
    country,
    taxType: levy?.taxType,
    providerTaxType: levy?.providerTaxType ?? 'IMPORT_DUTY',
    rate: showRate(charge.rate),
    amount: decimalFromMinor(charge.amount, currency),
    taxableAmount: decimalFromMinor(charge.taxable, currency),
  });
}

/** "Calculated line item" of Document 2. `refunded` is true when the whole line is refunded. */
function showLine(
  request: TaxRequest,
  { lineItemId, line, computed }: CalculatedLine,
  refunded: boolean,
): Record<string, unknown> {
  const { currency } = request;
  const amount = (minor: bigint): string => decimalFromMinor(minor, currency);
  const dutiable = computed.duty > 0n ? computed.dutyTerms : null;
  return compact({
    lineItemId,
    merchantLineItemReference: line.reference,
    productCode: line.productCode,
    title: line.title,
    description: line.description,
    images: line.images,
    unitPrice: amount(computed.unitPrice),
    quantity: Number(line.quantity),
    discountAmount: amount(computed.discount),
    itemSubTotalAmount: amount(computed.subTotal),
    itemNetAmount: amount(computed.net),
    itemTotalAmount: amount(computed.total),
    refunded,
    tax: compact({
      rate: showRate(computed.rate),
      taxAmount: amount(computed.tax),
      currency,
      dutyAmount: dutiable === null ? undefined : amount(computed.duty),
      dutyRate: dutiable === null ? undefined : showRate(dutiable.rate),
      dutyBasis: dutiable?.basis,
      appliedHsCode: dutiable?.hsCode,
      charges: computed.charges.map((charge) => showCharge(charge, currency, placeOf(request, line).country)),
    }),
  });
}

export function cartTotals(cart: CalculatedCart): Totals {
  return totalsOf(cart.lines.map(({ computed }) => computed));
}

/** The amounts, customer, lines and evidence of a calculation or transaction. */
export function showCart(cart: CalculatedCart, isRefunded: (lineItemId: string) => boolean): Record<string, unknown> {
  const { request } = cart;
  const totals = cartTotals(cart);
  const amount = (minor: bigint): string => decimalFromMinor(minor, request.currency);
  return {
    currency: request.currency,
    subTotalAmount: amount(totals.subTotal),
    discountAmount: amount(totals.discount),
    netAmount: amount(totals.net),
    taxAmount: amount(totals.tax),
    totalAmount: amount(totals.total),
    ...(totals.duty > 0n ? { totalDutyAmount: amount(totals.duty) } : {}),
    customer: customerEcho(request),
    lineItems: cart.lines.map((line) => showLine(request, line, isRefunded(line.lineItemId))),
    ...(request.evidence === undefined ? {} : { evidence: request.evidence }),
  };
}
