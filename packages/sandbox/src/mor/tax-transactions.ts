// Tax transactions (Document 2): a calculation committed after payment. Lists show the newest transaction first.
import { type Kernel } from '../kernel/kernel.js';
import { isUuid } from './countries.js';
import { Fields, compact } from './fields.js';
import { type InvoiceFiles } from './invoice-files.js';
import { merchantRoutes, uuidParam } from './merchant-routes.js';
import { notFound, refuse } from './refusal.js';
import { type Account, type MorState } from './state.js';
import { type CalculatedLine, showCart } from './tax-answers.js';
import { type Calculation, type Calculations } from './tax-calculations.js';
import { type TaxRefund, showRefund } from './tax-refund-answers.js';

/** The amount of one line refunded so far, in smallest units. */
export type Refunded = { base: bigint; tax: bigint };

export type TaxTransaction = {
  readonly id: string;
  /** The number of the transaction: 1 is the oldest. The cursor of a page has this number. */
  readonly serial: number;
  readonly account: Account;
  readonly calculation: Calculation;
  readonly reference: string;
  readonly payment: Record<string, unknown> | undefined;
  readonly createdAtMs: number;
  readonly refundedByLine: Map<string, Refunded>;
  readonly refunds: TaxRefund[];
};

/** A line's amount without its tax: goods and duty. With the tax it is the line's total. */
export function baseOf({ computed }: CalculatedLine): bigint {
  return computed.total - computed.tax;
}

function isLineRefunded(transaction: TaxTransaction, line: CalculatedLine): boolean {
  const refunded = transaction.refundedByLine.get(line.lineItemId);
  return refunded !== undefined && refunded.base + refunded.tax >= line.computed.total;
}

export class TaxTransactions {
  private readonly all: TaxTransaction[] = [];
  private readonly byId = new Map<string, TaxTransaction>();
  private readonly byReference = new Map<string, TaxTransaction>();
  private readonly refundsByReference = new Map<string, TaxRefund>();

  constructor(
    private readonly kernel: Kernel,
    private readonly mor: MorState,
    private readonly calculations: Calculations,
  ) {}

  list(): readonly TaxTransaction[] {
    return this.all;
  }

  find(account: Account, id: string): TaxTransaction {
    const found = this.byId.get(id);
    if (found?.account !== account) throw notFound();
    return found;
  }

  /** Finds the refund with this reference of the merchant on any transaction. */
  refundNamed(account: Account, reference: string): TaxRefund | undefined {
    return this.refundsByReference.get(`${account}\n${reference}`);
  }

  addRefund(transaction: TaxTransaction, refund: TaxRefund): void {
    transaction.refunds.push(refund);
    this.refundsByReference.set(`${transaction.account}\n${refund.reference}`, refund);
  }

  /** Creates a transaction. A repeat with the same calculation and reference returns the existing one (Document 2). */
  create(account: Account, body: unknown): TaxTransaction {
    const fields = Fields.of(body);
    const calculationId = fields.text('taxCalculationId');
    if (calculationId !== '' && !isUuid(calculationId)) fields.problem('taxCalculationId', 'must be a uuid');
    const reference = fields.text('merchantTransactionReference');
    const paymentFields = fields.optionalObject('payment');
    const payment =
      paymentFields &&
      compact({
        processor: paymentFields.optionalText('processor'),
        paymentReference: paymentFields.optionalText('paymentReference'),
      });
    fields.problems.throwAs('invalid_argument');

    const calculation = this.calculations.find(account, calculationId);
    if (calculation === null) throw notFound();
    const existing = this.byReference.get(`${account}\n${reference}`);
    if (existing?.calculation === calculation) return existing;
    if (existing !== undefined) {
      throw refuse(400, 'invalid_state', 'merchantTransactionReference', 'was used with another tax calculation');
    }
    this.requireUsable(calculation);
    calculation.usedBy = 'transaction';
    const transaction: TaxTransaction = {
      id: this.kernel.random.uuid(),
      serial: this.all.length + 1,
      account,
      calculation,
      reference,
      payment,
      createdAtMs: this.kernel.clock.nowMs(),
      refundedByLine: new Map(),
      refunds: [],
    };
    this.all.push(transaction);
    this.byId.set(transaction.id, transaction);
    this.byReference.set(`${account}\n${reference}`, transaction);
    return transaction;
  }

  private requireUsable(calculation: Calculation): void {
    const invalid = (field: string, message: string): Error => refuse(400, 'invalid_state', field, message);
    if (calculation.usedBy !== null) throw invalid('taxCalculationId', 'was used before');
    if (this.kernel.clock.nowMs() >= calculation.expiresAtMs) throw invalid('taxCalculationId', 'has expired');
    const products = [...this.mor.regions.values()];
    if (!products.includes('tor')) throw invalid('status', 'Tax of Record is not activated');
    const product = this.mor.regions.get(calculation.country);
    if (product === undefined) throw invalid('customer', `not activated in ${calculation.country}`);
    if (product === 'mor') throw invalid('customer', `Merchant of Record is enabled in ${calculation.country}`);
  }

  /** One page, newest first. The cursor belongs to one account; another account cannot use it. */
  page(account: Account, query: URLSearchParams): { transactions: unknown[]; nextCursor?: string } {
    const size = pageSize(query.get('size'));
    const before = readCursor(account, query.get('cursor'));
    const reference = query.get('merchantTransactionReference');
    const remaining = this.all
      .filter((transaction) => transaction.account === account && transaction.serial < before)
      .filter((transaction) => reference === null || transaction.reference === reference)
      .reverse();
    const transactions = remaining.slice(0, size);
    const last = transactions.at(-1);
    const more = remaining.length > size && last !== undefined;
    return {
      transactions: transactions.map(showTransaction),
      ...(more ? { nextCursor: Buffer.from(`${account}:${last.serial}`).toString('base64url') } : {}),
    };
  }
}

function pageSize(text: string | null): number {
  if (text === null) return 20; // Document 2, Limits
  const size = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (size < 1 || size > 100) throw refuse(400, 'invalid_argument', 'size', 'must be 1 to 100');
  return size;
}

function readCursor(account: Account, cursor: string | null): number {
  if (cursor === null) return Number.POSITIVE_INFINITY;
  const [owner, serial] = Buffer.from(cursor, 'base64url').toString('utf8').split(':');
  if (owner !== account || serial === undefined || !/^\d{1,9}$/.test(serial)) {
    throw refuse(400, 'invalid_argument', 'cursor', 'is not one of this list');
  }
  return Number(serial);
}

/** TaxTransactionResponse of Document 2. `refunded` is true when everything is refunded. */
function showTransaction(transaction: TaxTransaction): Record<string, unknown> {
  const { calculation } = transaction;
  const at = new Date(transaction.createdAtMs).toISOString();
  const refunded = (lineItemId: string): boolean =>
    calculation.lines.some((line) => line.lineItemId === lineItemId && isLineRefunded(transaction, line));
  return compact({
    transactionId: transaction.id,
    refunded: transaction.refunds.length > 0 && calculation.lines.every((line) => isLineRefunded(transaction, line)),
    createdAt: at,
    confirmedAt: at,
    transactionDate: at,
    merchantTransactionReference: transaction.reference,
    ...showCart(calculation, refunded),
    payment: transaction.payment,
    refundsOnTransaction: transaction.refunds.map((refund) => showRefund(refund)),
  });
}

export function addTaxTransactions(
  kernel: Kernel,
  mor: MorState,
  transactions: TaxTransactions,
  files: InvoiceFiles,
): void {
  const route = merchantRoutes(kernel, mor);
  const path = '/api/tax/transactions';
  route('POST', path, ({ account, body }) => ({
    status: 200,
    body: showTransaction(transactions.create(account, body)),
  }));
  route('GET', path, ({ account, request }) => ({ status: 200, body: transactions.page(account, request.query) }));
  route('GET', `${path}/:transaction_id`, ({ account, request }) => ({
    status: 200,
    body: showTransaction(transactions.find(account, uuidParam(request, 'transaction_id'))),
  }));
  route('GET', `${path}/:transaction_id/invoice`, ({ account, request }) => {
    const transaction = transactions.find(account, uuidParam(request, 'transaction_id'));
    return files.transactionInvoice(transaction.id, transaction.createdAtMs);
  });
}
