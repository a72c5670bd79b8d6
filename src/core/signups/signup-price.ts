// What the shopper pays at a signup: the sum of the request, of the tax calculation and of Stripe's first invoice. They
// must agree before the MoR gets an intent.
import { Injectable } from '@nestjs/common';
import { money, type Money, sameMoney } from '../../shared/domain/money.js';
import { BillingPlatform } from '../../shared/domain/ports/billing-platform.js';
import { type CallFailure, type WireRequest } from '../../shared/domain/ports/call.js';
import { type SignupCall } from '../../shared/domain/ports/payment-gateway.js';
import { TaxClient } from '../../shared/domain/ports/tax.js';
import { type SignupKind } from '../../shared/domain/signup.js';
import { type Refusal } from '../../engine/commanded.js';
import { TaxTotalsRepository } from './tax-totals.repository.js';
import { dueOf, refuseDifference } from './rules/first-invoice.js';

type Unpriced<T> = T extends SignupCall ? Omit<T, 'amountMinor' | 'currency' | 'taxCalculationId'> : never;

export type SignupRequest = {
  readonly kind: SignupKind;
  readonly customerId: string;
  /** What the shopper pays, tax included, in smallest units. Null: a setup, or the sum due on the invoice. */
  readonly amount: bigint | null;
  readonly currency: string | null; // upper case; null as for the amount
  /** The first invoice, to compare with before anybody pays. Null: the caller named none. */
  readonly invoiceId: string | null;
  /** The call for the intent, without its sum and its tax calculation. */
  readonly call: Unpriced<SignupCall>;
  readonly taxCalculationId: string | null;
  /**
   * The request for a new tax calculation, to bind to the intent (Document 2). Null: no calculation, or
   * `taxCalculationId` names an existing one.
   */
  readonly calculation: WireRequest | null;
  readonly by: string;
};

/** Why there is no intent. Nobody paid, and the MoR at most calculated. */
export type NoPrice =
  | { readonly outcome: 'refused'; readonly refusal: Refusal } // the signup does not fit its first invoice
  | { readonly outcome: 'invoice_unread'; readonly failure: CallFailure } // Stripe did not show the invoice
  | { readonly outcome: 'tax_failed'; readonly failure: CallFailure } // only the calculation was sent
  | { readonly outcome: 'tax_differs'; readonly total: Money | null }; // the amount differs from the calculation's total

@Injectable()
export class SignupPrice {
  constructor(
    private readonly billing: BillingPlatform,
    private readonly tax: TaxClient,
    private readonly totals: TaxTotalsRepository,
  ) {}

  /** The sum of the payment. Null: a setup takes no money. Reads the first invoice where the request names it. */
  async sum(req: SignupRequest): Promise<{ readonly sum: Money | null } | NoPrice> {
    const { amount, currency, invoiceId } = req;
    if (invoiceId === null) return { sum: amount === null || currency === null ? null : money(amount, currency) };
    const read = await this.billing.readInvoice(invoiceId);
    if (!read.ok) return { outcome: 'invoice_unread', failure: read };
    const due = dueOf(read.value, req.customerId);
    if (!due.ok) return { outcome: 'refused', refusal: due };
    const sum = money(amount ?? due.value.minor, currency ?? due.value.currency);
    const refusal = refuseDifference(invoiceId, sum, due.value, 'amount');
    return refusal === null ? { sum } : { outcome: 'refused', refusal };
  }

  /**
   * The call for the intent, with its calculation. If the caller requested a calculation, the MoR makes it now. The
   * customer must pay exactly the calculation's total.
   * @param sum the sum of the payment; null: a trial takes no money
   */
  async bind(req: SignupRequest, sum: Money | null): Promise<{ readonly call: SignupCall } | NoPrice> {
    if (req.calculation === null) {
      const known = req.taxCalculationId === null ? null : await this.totals.find(req.taxCalculationId);
      return this.refuseTotal(req, sum, known) ?? { call: pricedCall(req, sum, req.taxCalculationId) };
    }
    const made = await this.tax.calculate(req.calculation);
    if (!made.ok) return { outcome: 'tax_failed', failure: made };
    const { taxCalculationId, total: minor, currency } = made.value;
    const total = minor === null ? null : money(minor, currency);
    if (sum === null) return { call: pricedCall(req, sum, taxCalculationId) };
    if (total === null) return { outcome: 'tax_differs', total };
    const differs = this.refuseTotal(req, sum, total);
    if (differs !== null) return differs;
    if (!sameMoney(total, sum)) return { outcome: 'tax_differs', total };
    return { call: pricedCall(req, sum, taxCalculationId) };
  }

  /** The sum already equals the invoice's. So a total unlike the sum is unlike the invoice too. */
  private refuseTotal(req: SignupRequest, sum: Money | null, total: Money | null): NoPrice | null {
    if (req.invoiceId === null || sum === null || total === null) return null;
    const field = req.calculation === null ? 'tax_calculation_id' : 'tax';
    const refusal = refuseDifference(req.invoiceId, total, sum, field);
    return refusal === null ? null : { outcome: 'refused', refusal };
  }
}

function pricedCall({ call }: SignupRequest, sum: Money | null, taxCalculationId: string | null): SignupCall {
  if (call.kind === 'create_setup_intent') return { ...call, taxCalculationId };
  if (sum === null) throw new Error('a payment has a sum');
  return { ...call, amountMinor: sum.minor, currency: sum.currency, taxCalculationId };
}
