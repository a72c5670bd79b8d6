// The responses of the tax routes for the OpenAPI document. They have Document 2's fields and field names, and no empty
// field.
import { ApiPropertyOptional } from '@nestjs/swagger';
import {
  Example,
  Flag,
  Many,
  ManyIfAny,
  MorPartIfAny,
  Part,
  PartIfAny,
  Text,
  TextIfAny,
  Time,
  TimeIfAny,
} from '../../frames/api/http/docs.js';
import { echoedCustomer, echoedEvidence } from '../../frames/api/http/mor-shapes.js';

const DECIMAL = 'A decimal as text, for example `29.90`.';
const Decimal = (description = ''): PropertyDecorator => Text(`${DECIMAL} ${description}`.trim());
const DecimalIfAny = (description = ''): PropertyDecorator => TextIfAny(`${DECIMAL} ${description}`.trim());

class TaxChargeView {
  @Text("`TAX`, `IMPORT_DUTY`, `IMPORT_FEE`, or another word of the MoR's.") kind!: string;
  @TextIfAny() name?: string;
  @TextIfAny('Left out for duty and fees.') jurisdiction?: string;
  @TextIfAny('`COUNTRY`, `STATE`, `COUNTY`, `CITY`, `DISTRICT`, or another word. Left out for duty and fees.')
  jurisdictionLevel?: string;
  @TextIfAny('ISO 3166-1 alpha-2.') country?: string;
  @TextIfAny('`VAT`, `GST`, `SALES_TAX`, `IMPORT_VAT`, `OTHER`, or another word. Left out for duty and fees.')
  taxType?: string;
  @TextIfAny("In the tax provider's own words.") providerTaxType?: string;
  @DecimalIfAny() rate?: string;
  @DecimalIfAny() amount?: string;
  @DecimalIfAny() taxableAmount?: string;
}

class LineTaxView {
  @DecimalIfAny('The effective rate.') rate?: string;
  @Decimal() taxAmount!: string;
  @TextIfAny() currency?: string;
  @DecimalIfAny('Left out: no duty.') dutyAmount?: string;
  @DecimalIfAny() dutyRate?: string;
  @TextIfAny(
    '`CLASSIFIED`: by an HS code, given or predicted; `FALLBACK_ESTIMATE`: a conservative rate for the destination; or another word of the MoR.',
  )
  dutyBasis?: string;
  @TextIfAny('Left out for `FALLBACK_ESTIMATE`.') appliedHsCode?: string;
  @Many(TaxChargeView, 'For display and reconciliation only: derive no amount from it.')
  charges!: readonly TaxChargeView[];
}

class TaxLineView {
  @Example('0c9b1c8e-51c6-4e0f-8f0b-6a1d2e3f4a5b') @Text() lineItemId!: string;
  @TextIfAny() merchantLineItemReference?: string;
  @TextIfAny() productCode?: string;
  @TextIfAny() title?: string;
  @TextIfAny() description?: string;
  @ManyIfAny(String) images?: readonly string[];
  @DecimalIfAny() unitPrice?: string;
  @ApiPropertyOptional({
    oneOf: [{ type: 'integer' }, { type: 'string' }],
    description: 'A decimal as text when it is not whole.',
  })
  quantity?: number | string;
  @DecimalIfAny('Per unit.') discountAmount?: string;
  @DecimalIfAny() itemSubTotalAmount?: string;
  @DecimalIfAny() itemNetAmount?: string;
  @DecimalIfAny() itemTotalAmount?: string;
  @Flag() refunded!: boolean;
  @PartIfAny(LineTaxView) tax?: LineTaxView;
}

class TaxEntityView {
  @Text() companyName!: string;
}

class TaxAmounts {
  @Example('EUR') @Text('ISO 4217.') currency!: string;
  @DecimalIfAny('Before discounts.') subTotalAmount?: string;
  @DecimalIfAny() discountAmount?: string;
  @DecimalIfAny('After discounts, before tax.') netAmount?: string;
  @Example('4.77') @Decimal() taxAmount!: string;
  @Example('29.90') @Decimal('With tax and duty.') totalAmount!: string;
  @Many(TaxLineView) lineItems!: readonly TaxLineView[];
  @MorPartIfAny(echoedCustomer, 'The customer as it was sent.') customer?: object;
  @MorPartIfAny(echoedEvidence, 'Evidence of where the customer is.') evidence?: object;
}

export class TaxCalculationView extends TaxAmounts {
  @Example('4e6f4a6e-0a5b-4c0e-9d4b-2d7c8f1a3b5c') @Text() taxCalculationId!: string;
  @TimeIfAny() createdAt?: string;
  @Time('7 days after it was made.') expiresAt!: string;
  @DecimalIfAny('Left out when no line carries duty; never part of `taxAmount`.') totalDutyAmount?: string;
  @PartIfAny(TaxEntityView, 'The company that records it, where the MoR is liable.') entity?: TaxEntityView;
}

class RefundLineTaxView {
  @DecimalIfAny() rate?: string;
  @DecimalIfAny() taxAmount?: string;
  @TextIfAny() currency?: string;
}

class TaxRefundLineView {
  @Example('0c9b1c8e-51c6-4e0f-8f0b-6a1d2e3f4a5b') @Text() lineItemId!: string;
  @TextIfAny() refundLineItemReference?: string;
  @TextIfAny() refundReason?: string;
  @DecimalIfAny() refundItemSubTotalAmount?: string;
  @DecimalIfAny() refundItemTotalAmount?: string;
  @PartIfAny(RefundLineTaxView) refundTax?: RefundLineTaxView;
}

export class TaxRefundView {
  @Example('6a8b6c8a-2c7d-4e2a-9f6d-4f9e1b3c5d7e') @Text() refundTransactionId!: string;
  @Example('refund-1001') @Text('Yours; the key of the refund.') merchantRefundReference!: string;
  @TextIfAny() refundDate?: string;
  @TimeIfAny() createdAt?: string;
  @TextIfAny('ISO 4217.') currency?: string;
  @DecimalIfAny() subTotalAmount?: string;
  @DecimalIfAny() taxAmount?: string;
  @DecimalIfAny() totalAmount?: string;
  @Many(TaxRefundLineView) refundLineItems!: readonly TaxRefundLineView[];
}

class TransactionPaymentView {
  @TextIfAny() processor?: string;
  @TextIfAny() paymentReference?: string;
}

export class TaxTransactionView extends TaxAmounts {
  @Example('5f7a5b7f-1b6c-4d1f-8e5c-3e8d9a2b4c6d') @Text() transactionId!: string;
  @Example('order-1001') @Text('Yours; the key of the transaction.') merchantTransactionReference!: string;
  @Flag() refunded!: boolean;
  @TimeIfAny() createdAt?: string;
  @TimeIfAny() confirmedAt?: string;
  @TextIfAny() transactionDate?: string;
  @PartIfAny(TransactionPaymentView) payment?: TransactionPaymentView;
  @Many(TaxRefundView, 'Empty when nothing was refunded.') refundsOnTransaction!: readonly TaxRefundView[];
}

export class TaxTransactionsView {
  @Many(TaxTransactionView) transactions!: readonly TaxTransactionView[];
  @TextIfAny('Left out on the last page.') nextCursor?: string;
}

class TaxInvoiceFileView {
  @TextIfAny() fileName?: string;
  @Example('https://files.example/123') @Text('Signed: anybody with it gets the file, for an hour.') url!: string;
  @TimeIfAny() expiresAt?: string;
}

export class TaxInvoiceView {
  @Part(TaxInvoiceFileView) b2cInvoice!: TaxInvoiceFileView;
}
