// Refunds of tax transactions (Document 2): whole lines or amounts, up to each line's total, one refund per reference.
import { type Kernel } from '../kernel/kernel.js';
import { type Decimal, divideHalfUp, isExactIn, minorOf } from './decimals.js';
import { Fields } from './fields.js';
import { merchantRoutes, uuidParam } from './merchant-routes.js';
import { refusal, refuse } from './refusal.js';
import { type MorState } from './state.js';
import { type CalculatedLine } from './tax-answers.js';
import { type TaxRefund, type TaxRefundLine, showRefund } from './tax-refund-answers.js';
import { type Refunded, type TaxTransaction, type TaxTransactions, baseOf } from './tax-transactions.js';

type AskedLine = {
  readonly lineItemId: string;
  readonly reference: string;
  readonly reason: string;
  /** Undefined: all that is left of the line. */
  readonly amount: Decimal | undefined;
  readonly field: string;
};

type Asked = {
  readonly reference: string;
  readonly refundDate: string | undefined;
  readonly inclusive: boolean;
  readonly lines: readonly AskedLine[];
};

/**
 * Parses the body. `nowMs`: the present time, since a refund date after today (UTC) is wrong. Throws 400
 * `invalid_argument`.
 */
function parseRefund(body: unknown, currency: string, nowMs: number): Asked {
  const fields = Fields.of(body);
  const refundDate = fields.optionalText('refundDate');
  if (refundDate !== undefined) checkDate(fields, refundDate, nowMs);
  const asked: Asked = {
    reference: fields.text('merchantRefundReference'),
    refundDate,
    inclusive: fields.optionalWord('taxBehavior', ['EXCLUSIVE', 'INCLUSIVE']) === 'INCLUSIVE',
    lines: fields.objects('refundLineItems').map((line) => {
      const amount = line.optionalDecimal('amount');
      if (amount !== undefined && amount.digits <= 0n) line.problem('amount', 'must be above 0');
      else if (amount !== undefined && !isExactIn(amount, currency)) {
        line.problem('amount', `has more decimals than ${currency}`);
      }
      return {
        lineItemId: line.text('lineItemId').toLowerCase(),
        reference: line.text('refundLineItemReference'),
        reason: line.text('refundReason'),
        amount,
        field: line.path,
      };
    }),
  };
  fields.problems.throwAs('invalid_argument');
  return asked;
}

function checkDate(fields: Fields, text: string, nowMs: number): void {
  const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(text) ? Date.parse(text) : Number.NaN;
  const exact = !Number.isNaN(time) && new Date(time).toISOString() === text.replace('Z', '.000Z');
  if (!exact) fields.problem('refundDate', 'must have the form yyyy-MM-ddTHH:mm:ssZ');
  else if (text.slice(0, 10) > new Date(nowMs).toISOString().slice(0, 10)) {
    fields.problem('refundDate', 'is later than today');
  }
}

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/**
 * Splits one refund of a line into base and tax. `amount` null: all that is left. `inclusive`: the amount contains the
 * tax. All refunds of a line add up to its total. Returns null if nothing is left, or less than the amount.
 */
export function takeFrom(
  line: CalculatedLine,
  before: Refunded,
  amount: bigint | null,
  inclusive: boolean,
): Refunded | null {
  const base = baseOf(line);
  const left = { base: base - before.base, tax: line.computed.tax - before.tax };
  if (left.base + left.tax <= 0n) return null;
  const limit = inclusive ? left.base + left.tax : left.base;
  if (amount === null || amount === limit) return left;
  if (amount > limit) return null;
  if (!inclusive) return { base: amount, tax: smaller(left.tax, divideHalfUp(amount * line.computed.tax, base)) };
  const tax = smaller(left.tax, divideHalfUp(amount * line.computed.tax, line.computed.total));
  const part = smaller(left.base, amount - tax);
  return { base: part, tax: amount - part };
}

function createRefund(
  kernel: Kernel,
  transactions: TaxTransactions,
  transaction: TaxTransaction,
  body: unknown,
): TaxRefund {
  const { calculation, refundedByLine } = transaction;
  const { currency } = calculation.request;
  const asked = parseRefund(body, currency, kernel.clock.nowMs());
  const minor = (amount: Decimal): bigint => minorOf(amount, 1n, currency);
  const lineKeys = asked.lines.map(({ lineItemId, reference, reason, amount }) =>
    JSON.stringify([
      lineItemId,
      reference,
      reason,
      ...(amount === undefined ? [] : [String(minor(amount)), asked.inclusive]),
    ]),
  );
  const fingerprint = [transaction.id, ...lineKeys].join('\n');
  const earlier = transactions.refundNamed(transaction.account, asked.reference);
  if (earlier?.fingerprint === fingerprint) return earlier;
  if (earlier !== undefined) {
    throw refuse(400, 'invalid_state', 'merchantRefundReference', 'was used for another refund');
  }

  const unknown = asked.lines.filter((one) => !calculation.lines.some((line) => line.lineItemId === one.lineItemId));
  if (unknown.length > 0) {
    const errors = unknown.map(({ field }) => ({
      field: `${field}.lineItemId`,
      message: 'is not on this transaction',
    }));
    throw refusal(404, 'not_found', errors);
  }
  const after = new Map(refundedByLine);
  const lines = asked.lines.map((one): TaxRefundLine => {
    const line = calculation.lines.find(({ lineItemId }) => lineItemId === one.lineItemId);
    const before = after.get(one.lineItemId) ?? { base: 0n, tax: 0n };
    const taken = line && takeFrom(line, before, one.amount === undefined ? null : minor(one.amount), asked.inclusive);
    if (line === undefined || taken === undefined || taken === null) {
      throw refuse(400, 'invalid_argument', `${one.field}.amount`, 'is more than what is left of the line');
    }
    after.set(one.lineItemId, { base: before.base + taken.base, tax: before.tax + taken.tax });
    return {
      lineItemId: one.lineItemId,
      reference: one.reference,
      reason: one.reason,
      ...taken,
      rate: line.computed.rate,
    };
  });
  for (const [lineItemId, refunded] of after) refundedByLine.set(lineItemId, refunded);
  const now = kernel.clock.nowIso();
  const refund: TaxRefund = {
    id: kernel.random.uuid(),
    reference: asked.reference,
    refundDate: asked.refundDate ?? now.replace(/\.\d+Z$/, 'Z'),
    createdAt: now,
    currency,
    lines,
    fingerprint,
  };
  transactions.addRefund(transaction, refund);
  return refund;
}

export function addTaxRefunds(kernel: Kernel, mor: MorState, transactions: TaxTransactions): void {
  const route = merchantRoutes(kernel, mor);
  const path = '/api/tax/transactions/:transaction_id/refunds';
  route('GET', path, ({ account, request }) => {
    const transaction = transactions.find(account, uuidParam(request, 'transaction_id'));
    return { status: 200, body: transaction.refunds.map((refund) => showRefund(refund)) };
  });
  route('POST', path, ({ account, request, body }) => {
    const transaction = transactions.find(account, uuidParam(request, 'transaction_id'));
    return { status: 200, body: showRefund(createRefund(kernel, transactions, transaction, body)) };
  });
}
