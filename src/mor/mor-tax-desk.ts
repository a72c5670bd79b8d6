// The port of tax, joined to the MoR's client: how the bridge's own calls are written down, and what their answers mean.
import { Injectable } from '@nestjs/common';
import { decimalFromMinor, minorFromDecimal } from '../domain/money.js';
import { type CallFailure, type CallOutcome, type WireRequest } from '../domain/ports/call.js';
import { type TaxCalculationFacts, type TaxCall, TaxDesk, type TaxTransactionFacts } from '../domain/ports/tax.js';
import { encodeTaxCalculation, type TaxCalculation, TaxCalculations } from './tax-calculations.js';
import {
  encodeTaxRefund,
  encodeTaxTransaction,
  parsePaymentOf,
  type TaxTransaction,
  TaxTransactions,
} from './tax-transactions.js';
import { Fields } from './read.js';

/** The longest reference that the MoR is sent; longer titles are cut. */
const MAX_TITLE = 500;

@Injectable()
export class MorTaxDesk extends TaxDesk {
  constructor(
    private readonly calculations: TaxCalculations,
    private readonly transactions: TaxTransactions,
  ) {
    super();
  }

  async calculate(wire: WireRequest): Promise<CallOutcome<TaxCalculationFacts>> {
    const made = await this.calculations.send(wire);
    return made.ok ? { ...made, value: factsOf(made.value) } : made;
  }

  async commit(wire: WireRequest): Promise<CallOutcome<TaxTransactionFacts>> {
    const sent = await this.transactions.sendCreate(wire);
    const made = sent.ok ? sent : await this.madeBefore(wire, sent);
    if (!made.ok) return made;
    const { transactionId, lineItems, currency } = made.value;
    const lines = lineItems.map(({ lineItemId, itemTotalAmount }) => ({
      lineItemId,
      gross: itemTotalAmount === null ? null : minorFromDecimal(itemTotalAmount, currency),
    }));
    return { ...made, value: { transactionId, lines } };
  }

  /**
   * After a backup is restored the tax is calculated again, and Document 2 refuses another calculation under a reference that has its
   * transaction. The one that stands is ours when it names the same payment; else the refusal stays, for a person.
   */
  private async madeBefore(wire: WireRequest, refusal: CallFailure): Promise<CallOutcome<TaxTransaction>> {
    const isTaken = refusal.code === 'invalid_state' && refusal.errors[0]?.field === 'merchantTransactionReference';
    if (refusal.kind !== 'refused' || !isTaken) return refusal;
    const asked = new Fields(JSON.parse(wire.body ?? '{}'));
    const merchantTransactionReference = asked.text('merchantTransactionReference');
    const payment = asked.may('payment', parsePaymentOf)?.paymentReference ?? null;
    const listed = await this.transactions.list({ merchantTransactionReference });
    if (!listed.ok) return listed.kind === 'refused' ? refusal : listed;
    const standing = listed.value.transactions.find(
      (t) =>
        payment !== null &&
        t.merchantTransactionReference === merchantTransactionReference &&
        t.payment?.paymentReference === payment,
    );
    return standing === undefined ? refusal : { ...listed, value: standing };
  }

  async refund(wire: WireRequest): Promise<CallOutcome<{ readonly taxRefundId: string }>> {
    const made = await this.transactions.sendRefund(wire);
    return made.ok ? { ...made, value: { taxRefundId: made.value.refundTransactionId } } : made;
  }
}

function factsOf({ taxCalculationId, currency, totalAmount }: TaxCalculation): TaxCalculationFacts {
  return { taxCalculationId, currency, total: minorFromDecimal(totalAmount, currency) };
}

/** The bytes of a call. `processor`: the segment of the route family (`MOR_PSP`), which names the processor on a transaction. */
export function encodeTax(processor: string, call: TaxCall): WireRequest {
  switch (call.kind) {
    case 'calculate_tax': {
      const { currency, customer, lines, evidence } = call;
      const { reference, billingAddress, taxIdentifiers, ...names } = customer;
      const { line1, line2, city, state, postalCode, country } = billingAddress;
      return encodeTaxCalculation({
        currency,
        taxBehavior: 'INCLUSIVE',
        customer: {
          merchantCustomerReference: reference,
          ...present(names),
          ...(taxIdentifiers.length === 0 ? {} : { taxIdentifiers: [...taxIdentifiers] }),
          billingAddress: { line1, city, postalCode, country, ...present({ line2, state }) },
        },
        lineItems: lines.map((line) => ({
          merchantLineItemReference: line.reference,
          productCode: line.productCode,
          ...(line.title === null ? {} : { title: line.title.slice(0, MAX_TITLE) }),
          unitPrice: decimalFromMinor(line.gross, currency),
        })),
        ...(evidence === null
          ? {}
          : { evidence: { billingCountry: evidence.billingCountry, ...present({ ipAddress: evidence.ipAddress }) } }),
      });
    }
    case 'commit_tax':
      return encodeTaxTransaction({
        taxCalculationId: call.taxCalculationId,
        merchantTransactionReference: call.reference,
        payment: { processor, paymentReference: call.paymentReference },
      });
    case 'refund_tax':
      return encodeTaxRefund(call.transactionId, {
        merchantRefundReference: call.reference,
        refundDate: call.refundedAt.toISOString().replace(/\.\d+Z$/, 'Z'),
        taxBehavior: 'INCLUSIVE',
        refundLineItems: call.lines.map(({ lineItemId, gross }, index) => ({
          lineItemId,
          refundLineItemReference: `${call.reference}-${index + 1}`,
          refundReason: call.reason,
          amount: decimalFromMinor(gross, call.currency),
        })),
      });
  }
}

/** Without the members that are null. */
function present<T extends Readonly<Record<string, string | null>>>(fields: T): { readonly [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    readonly [K in keyof T]?: string;
  };
}
