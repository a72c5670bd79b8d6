import {
  type LineTax,
  type TaxCalculation,
  type TaxCharge,
  type TaxLine,
  type TaxRefund,
  type TaxRefundLine,
  type TaxTransaction,
} from '@crossbill/mor';
// A tax calculation or transaction in Document 2's form, without empty members.

export type Shown = Readonly<Record<string, unknown>>;

function present(fields: Readonly<Record<string, unknown>>): Shown {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value]),
  );
}

export function calculationView(taxCalculation: TaxCalculation): Shown {
  const { lineItems, entityCompanyName, ...rest } = taxCalculation;
  return present({
    ...rest,
    lineItems: lineItems.map(lineView),
    entity: entityCompanyName === null ? null : { companyName: entityCompanyName },
  });
}

export function transactionView(transaction: TaxTransaction): Shown {
  const { refunds, lineItems, payment, ...rest } = transaction;
  return present({
    ...rest,
    payment: payment === null ? null : present(payment),
    lineItems: lineItems.map(lineView),
    refundsOnTransaction: refunds.map(taxRefundView),
  });
}

export function taxRefundView(refund: TaxRefund): Shown {
  const { lines, ...rest } = refund;
  return present({ ...rest, refundLineItems: lines.map(refundLineView) });
}

function refundLineView(taxRefund: TaxRefundLine): Shown {
  const { refundTax, ...rest } = taxRefund;
  return present({ ...rest, refundTax: refundTax === null ? null : present(refundTax) });
}

function lineView(taxOf: TaxLine): Shown {
  const { tax, quantity, images, ...rest } = taxOf;
  return present({
    ...rest,
    images: images.length === 0 ? null : images,
    quantity: quantity !== null && Number.isSafeInteger(Number(quantity)) ? Number(quantity) : quantity,
    tax: tax === null ? null : lineTaxView(tax),
  });
}

function lineTaxView({ charges, ...rest }: LineTax): Shown {
  return present({ ...rest, charges: charges.map((charge: TaxCharge) => present(charge)) });
}
