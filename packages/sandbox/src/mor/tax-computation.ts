// The arithmetic of one tax calculation, line by line and exact: discounts, duty, taxes.
import { RATE_ONE, divideHalfUp, minorOf, shareOf } from './decimals.js';
import { type Duty, dutyFor } from './duty.js';
import { type Levy, leviesAt } from './jurisdictions.js';
import { type TaxLine, type TaxRequest, isBrazilianConsumer, isCrossBorder, placeOf } from './tax-request.js';

/** One part of a line's tax or duty, in smallest units. A null `levy` means import duty. */
export type Charge = {
  readonly levy: Levy | null;
  readonly rate: bigint;
  readonly amount: bigint;
  readonly taxable: bigint;
};

/** Amounts are in smallest units, rates in millionths. `subTotal - discount = net`; the buyer pays `total`. */
export type ComputedLine = {
  readonly unitPrice: bigint;
  readonly subTotal: bigint;
  readonly discount: bigint;
  readonly net: bigint;
  readonly tax: bigint;
  readonly duty: bigint;
  readonly total: bigint;
  readonly rate: bigint;
  readonly dutyTerms: Duty | null;
  readonly charges: readonly Charge[];
};

/** Splits `tax` over the levies by their rates. The parts add up to `tax` exactly, and none is negative. */
function splitTax(levies: readonly Levy[], tax: bigint, taxable: bigint): Charge[] {
  const whole = levies.reduce((sum, levy) => sum + levy.rate, 0n);
  let soFar = 0n;
  let given = 0n;
  return levies.map((levy) => {
    soFar += levy.rate;
    const upToHere = whole === 0n ? 0n : divideHalfUp(tax * soFar, whole);
    const amount = upToHere - given;
    given = upToHere;
    return { levy, rate: levy.rate, amount, taxable };
  });
}

/**
 * Computes one line (Document 2, "Calculation rules"). The discount is per unit and comes off before tax. VAT applies
 * to the customs value plus duty. Inclusive prices contain duty and tax already, so the total equals the amount sent.
 * For a Brazilian consumer this amount is also the net amount, and the tax is only reported.
 */
export function computeLine(request: TaxRequest, line: TaxLine): ComputedLine {
  const { currency } = request;
  const place = placeOf(request, line);
  const dutiable = line.physical && isCrossBorder(request);
  const levies = leviesAt({ country: place.country, state: place['state'], city: place['city'] ?? '' }, dutiable);
  const rate = levies.reduce((sum, levy) => sum + levy.rate, 0n);
  const text = `${line.title ?? ''} ${line.description ?? ''} ${line.category ?? ''}`;
  const dutyTerms = dutiable ? dutyFor(place.country, line.hsCode, text) : null;
  const dutyRate = dutyTerms?.rate ?? 0n;

  const sentUnit = minorOf(line.unitPrice, 1n, currency);
  const sentSubTotal = minorOf(line.unitPrice, line.quantity, currency);
  const sentDiscount = minorOf(line.discount, line.quantity, currency);
  const sent = sentSubTotal - sentDiscount;

  if (request.inclusive && isBrazilianConsumer(request)) {
    const tax = shareOf(sent, rate);
    const charges = splitTax(levies, tax, sent);
    return {
      unitPrice: sentUnit,
      subTotal: sentSubTotal,
      discount: sentDiscount,
      net: sent,
      tax,
      duty: 0n,
      total: sent,
      rate,
      dutyTerms,
      charges,
    };
  }
  const whole = (RATE_ONE + rate) * (RATE_ONE + dutyRate);
  const withoutTaxes = (gross: bigint): bigint =>
    request.inclusive ? divideHalfUp(gross * RATE_ONE * RATE_ONE, whole) : gross;
  const net = withoutTaxes(sent);
  const discount = withoutTaxes(sentDiscount);
  const exactDuty = shareOf(net, dutyRate);
  // An inclusive price contains the duty, so the duty cannot exceed the difference between the price and its net part.
  const duty = request.inclusive && exactDuty > sent - net ? sent - net : exactDuty;
  const tax = request.inclusive ? sent - net - duty : shareOf(net + duty, rate);
  const dutyCharges: Charge[] = duty > 0n ? [{ levy: null, rate: dutyRate, amount: duty, taxable: net }] : [];
  return {
    unitPrice: withoutTaxes(sentUnit),
    subTotal: net + discount,
    discount,
    net,
    tax,
    duty,
    total: net + duty + tax,
    rate,
    dutyTerms,
    charges: [...splitTax(levies, tax, net + duty), ...dutyCharges],
  };
}

export type Totals = { subTotal: bigint; discount: bigint; net: bigint; tax: bigint; duty: bigint; total: bigint };

/** Adds up the amounts of all lines. */
export function totalsOf(lines: readonly Totals[]): Totals {
  const sum = { subTotal: 0n, discount: 0n, net: 0n, tax: 0n, duty: 0n, total: 0n };
  for (const line of lines) {
    sum.subTotal += line.subTotal;
    sum.discount += line.discount;
    sum.net += line.net;
    sum.tax += line.tax;
    sum.duty += line.duty;
    sum.total += line.total;
  }
  return sum;
}
