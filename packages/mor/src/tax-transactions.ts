// Document 2: tax committed after a payment succeeded, and returned with a refund.
import { type Outcome, type WireRequest } from './outcome.js';
import { type FileLink, parseFileLink, parseWhenReady, type WhenReady } from './file-link.js';
import { Fields, parseListOf } from './read.js';
import { type TaxRefundRequest, type TaxTransactionRequest } from './requests/tax.js';
import { parseTaxLine, type TaxLine } from './tax-lines.js';
import { type MorTransport } from './transport.js';
import { query, segment, wireGet, wireWith } from './wire.js';

const PATH = '/api/tax/transactions';

/** Amounts are decimal strings in `currency`, exactly as the MoR sent them. */
export type TaxTransaction = {
  readonly transactionId: string;
  readonly merchantTransactionReference: string;
  readonly refunded: boolean;
  readonly createdAt: Date | null;
  readonly confirmedAt: Date | null;
  readonly transactionDate: string | null;
  readonly currency: string;
  readonly subTotalAmount: string | null;
  readonly discountAmount: string | null;
  readonly netAmount: string | null;
  readonly taxAmount: string;
  readonly totalAmount: string;
  readonly payment: { readonly processor: string | null; readonly paymentReference: string | null } | null;
  readonly refunds: readonly TaxRefund[];
  readonly lineItems: readonly TaxLine[];
  /** The MoR repeats these fields from the request, and the parser does not change them. */
  readonly customer: unknown;
  readonly evidence: unknown;
};

export type TaxRefundLine = {
  readonly lineItemId: string;
  readonly refundLineItemReference: string | null;
  readonly refundReason: string | null;
  readonly refundItemSubTotalAmount: string | null;
  readonly refundItemTotalAmount: string | null;
  readonly refundTax: {
    readonly rate: string | null;
    readonly taxAmount: string | null;
    readonly currency: string | null;
  } | null;
};

export type TaxRefund = {
  readonly refundTransactionId: string;
  readonly merchantRefundReference: string;
  readonly refundDate: string | null;
  readonly createdAt: Date | null;
  readonly currency: string | null;
  readonly subTotalAmount: string | null;
  readonly taxAmount: string | null;
  readonly totalAmount: string | null;
  readonly lines: readonly TaxRefundLine[];
};

/** A page of transactions. `nextCursor` null: this was the last page, even if it is full. */
export type TaxTransactionPage = {
  readonly transactions: readonly TaxTransaction[];
  readonly nextCursor: string | null;
};

function parseRefundTax(value: unknown, path: string): TaxRefundLine['refundTax'] {
  const fields = new Fields(value, path);
  return {
    rate: fields.decimalOrNull('rate'),
    taxAmount: fields.decimalOrNull('taxAmount'),
    currency: fields.textOrNull('currency'),
  };
}

function parseRefundLine(value: unknown, path: string): TaxRefundLine {
  const fields = new Fields(value, path);
  return {
    lineItemId: fields.id('lineItemId'),
    refundLineItemReference: fields.textOrNull('refundLineItemReference'),
    refundReason: fields.textOrNull('refundReason'),
    refundItemSubTotalAmount: fields.decimalOrNull('refundItemSubTotalAmount'),
    refundItemTotalAmount: fields.decimalOrNull('refundItemTotalAmount'),
    refundTax: fields.may('refundTax', parseRefundTax),
  };
}

export function parseTaxRefund(value: unknown, path = ''): TaxRefund {
  const fields = new Fields(value, path);
  return {
    refundTransactionId: fields.id('refundTransactionId'),
    merchantRefundReference: fields.text('merchantRefundReference'),
    refundDate: fields.textOrNull('refundDate'),
    createdAt: fields.timeOrNull('createdAt'),
    currency: fields.has('currency') ? fields.currency() : null,
    subTotalAmount: fields.decimalOrNull('subTotalAmount'),
    taxAmount: fields.decimalOrNull('taxAmount'),
    totalAmount: fields.decimalOrNull('totalAmount'),
    lines: fields.listOrEmpty('refundLineItems', parseRefundLine),
  };
}

export function parsePaymentOf(
  value: unknown,
  path = '',
): { processor: string | null; paymentReference: string | null } {
  const fields = new Fields(value, path);
  return { processor: fields.textOrNull('processor'), paymentReference: fields.textOrNull('paymentReference') };
}

export function parseTaxTransaction(value: unknown, path = ''): TaxTransaction {
  const fields = new Fields(value, path);
  return {
    transactionId: fields.id('transactionId'),
    merchantTransactionReference: fields.text('merchantTransactionReference'),
    refunded: fields.flag('refunded'),
    createdAt: fields.timeOrNull('createdAt'),
    confirmedAt: fields.timeOrNull('confirmedAt'),
    transactionDate: fields.textOrNull('transactionDate'),
    currency: fields.currency(),
    subTotalAmount: fields.decimalOrNull('subTotalAmount'),
    discountAmount: fields.decimalOrNull('discountAmount'),
    netAmount: fields.decimalOrNull('netAmount'),
    taxAmount: fields.decimal('taxAmount'),
    totalAmount: fields.decimal('totalAmount'),
    payment: fields.may('payment', parsePaymentOf),
    refunds: fields.listOrEmpty('refundsOnTransaction', parseTaxRefund),
    lineItems: fields.listOrEmpty('lineItems', parseTaxLine),
    customer: fields.raw('customer'),
    evidence: fields.raw('evidence'),
  };
}

export function parseTaxTransactionPage(value: unknown): TaxTransactionPage {
  const fields = new Fields(value);
  return {
    transactions: fields.list('transactions', parseTaxTransaction),
    nextCursor: fields.has('nextCursor') ? fields.id('nextCursor', 4096) : null,
  };
}

export function parseTransactionInvoice(value: unknown, path = ''): FileLink {
  return new Fields(value, path).must('b2cInvoice', parseFileLink);
}

/** Send the request only after the payment succeeded. `merchantTransactionReference` is also the idempotency key. */
export function encodeTaxTransaction(request: TaxTransactionRequest): WireRequest {
  return wireWith('POST', PATH, request);
}

/** `merchantRefundReference` is also the idempotency key. */
export function encodeTaxRefund(transactionId: string, request: TaxRefundRequest): WireRequest {
  return wireWith('POST', `${PATH}/${segment(transactionId)}/refunds`, request);
}

export class TaxTransactions {
  constructor(private readonly transport: MorTransport) {}

  create(request: TaxTransactionRequest): Promise<Outcome<TaxTransaction>> {
    return this.sendCreate(encodeTaxTransaction(request));
  }

  refund(transactionId: string, request: TaxRefundRequest): Promise<Outcome<TaxRefund>> {
    return this.sendRefund(encodeTaxRefund(transactionId, request));
  }

  sendCreate(wire: WireRequest): Promise<Outcome<TaxTransaction>> {
    return this.transport.call(wire, {
      name: 'tax.transaction.create',
      accept: ({ body }) => parseTaxTransaction(body),
    });
  }

  sendRefund(wire: WireRequest): Promise<Outcome<TaxRefund>> {
    return this.transport.call(wire, { name: 'tax.refund.create', accept: ({ body }) => parseTaxRefund(body) });
  }

  /** Newest first. `size` is 1 to 100 (the MoR's default is 20). Keep the same filter from page to page. */
  list(
    page: { merchantTransactionReference?: string; size?: number; cursor?: string } = {},
  ): Promise<Outcome<TaxTransactionPage>> {
    const { merchantTransactionReference, size, cursor } = page;
    return this.transport.call(wireGet(PATH + query({ merchantTransactionReference, size, cursor })), {
      name: 'tax.transaction.list',
      accept: ({ body }) => parseTaxTransactionPage(body),
    });
  }

  read(transactionId: string): Promise<Outcome<TaxTransaction>> {
    return this.transport.call(wireGet(`${PATH}/${segment(transactionId)}`), {
      name: 'tax.transaction.read',
      accept: ({ body }) => parseTaxTransaction(body),
    });
  }

  listRefunds(transactionId: string): Promise<Outcome<readonly TaxRefund[]>> {
    return this.transport.call(wireGet(`${PATH}/${segment(transactionId)}/refunds`), {
      name: 'tax.refund.list',
      accept: ({ body }) => parseListOf(body, 'refunds', parseTaxRefund),
    });
  }

  /** The link lives one hour. */
  invoice(transactionId: string): Promise<Outcome<WhenReady<FileLink>>> {
    return this.transport.call(wireGet(`${PATH}/${segment(transactionId)}/invoice`), {
      name: 'tax.transaction.invoice',
      accept: (reply) => parseWhenReady(reply, parseTransactionInvoice),
    });
  }
}
