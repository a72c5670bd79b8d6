// How lists of money are filtered: which index leads, which time they are ordered by, and what is compared row by row.
import { type InvoiceFilter, type PaymentFilter, type RefundFilter } from '../domain/ports/books.js';
import { ofCustomer } from './mor-customers.js';
import { INVOICE_AT, type ListOptions, PAYMENT_AT, REFUND_AT } from './newest-first.js';
import { type Name } from './walk.js';

type List = { readonly fields: Readonly<Record<string, string | undefined>>; readonly options: ListOptions };

export function invoiceList(filter: InvoiceFilter): List {
  const { status, customerId, currency, amount } = filter;
  return {
    fields: { customerId, status, currency, amountDue: amount?.toString() },
    options: { indexes: [['customerId'], ['status']], at: INVOICE_AT, span: filter },
  };
}

export function paymentList(filter: PaymentFilter): List {
  const { status, customerId, invoiceId, unnamed, currency, amount } = filter;
  return {
    fields: { customerId, status, currency, amount: amount?.toString() },
    options: {
      indexes: [['customerId'], ['status']],
      at: PAYMENT_AT,
      span: filter,
      few: [
        ...(invoiceId === undefined ? [] : [(of: Name) => `x.invoice_id = ${of(invoiceId)}`]),
        ...(unnamed === true ? [() => 'x.payment_id is null and x.succeeded_at is not null'] : []),
      ],
    },
  };
}

export function refundList(filter: RefundFilter): List {
  const { statuses, currency, amount, customerId, invoiceId } = filter;
  const status = statuses?.length === 1 ? statuses[0] : undefined;
  return {
    fields: { status, currency, amount: amount?.toString() },
    options: {
      indexes: [['status']],
      at: REFUND_AT,
      span: filter,
      few: [
        ...(invoiceId === undefined ? [] : [(of: Name) => `x.invoice_id = ${of(invoiceId)}`]),
        ...(customerId === undefined ? [] : [(of: Name) => ofCustomer('x.payment_row_id', of(customerId))]),
        // Several are asked for of refunds that are on their way, which no refund stays.
        ...(statuses === undefined || status !== undefined ? [] : [(of: Name) => `x.status = any (${of(statuses)})`]),
      ],
    },
  };
}
