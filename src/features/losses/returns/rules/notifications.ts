// The notification about a returned debit.
import {
  customerFacts,
  invoicePage,
  number,
  paymentFacts,
  whenNamed,
} from '../../../../core/books/rules/notice-facts.js';
import { amountLeft } from '../../../../shared/domain/amount-left.js';
import { type LaneState } from '../../../../shared/domain/model.js';
import { type Notice } from '../../../../shared/domain/notification.js';
import { text, word } from '../../../../shared/domain/notification-fields.js';
import {
  amountLeftField,
  CUSTOMER,
  invoiceId,
  invoicePageField,
  notification,
  ofInvoice,
  PAYMENT,
  see,
  sum,
} from '../../../../shared/domain/notification-parts.js';

export const returnNotifications = {
  'debit.returned': notification(
    'A person recorded that a bank returned a settled debit, or undid this record',
    {
      return_id: text('`ret_…`: the record in `GET /v1/payments/{id}/returned`.', 'ret_sample'),
      status: word(['returned', 'undone'], '`undone`: the record was a mistake, the money is there.', 'returned'),
      invoice_id: invoiceId,
      ...CUSTOMER,
      ...PAYMENT,
      amount_left: amountLeftField(0),
      console: invoicePageField,
    },
    (d) =>
      d.status === 'returned'
        ? `A bank returned the debit of payment ${d.payment_id}: ${sum(d)}${ofInvoice(d)}.${see(d)}`
        : `The return of payment ${d.payment_id} (${sum(d)}) was recorded by mistake${ofInvoice(d)}.${see(d)}`,
  ),
};

declare module '../../../../shared/domain/notification.js' {
  interface FeatureNotifications {
    readonly 'debit.returned': (typeof returnNotifications)['debit.returned'];
  }
}

/** Reports a returned debit, and the end of a mistaken record: a backend may have ended the customer's access. */
function returns(before: LaneState, after: LaneState): readonly Notice[] {
  return after.objects.flatMap((o): Notice[] => {
    const status = o.status === 'undone' ? 'undone' : 'returned';
    const payment = after.payments.find((p) => p.id === o.paymentRowId);
    const facts = payment === undefined ? null : paymentFacts(payment);
    if (o.kind !== 'debit_return' || facts === null) return [];
    if (before.objects.find((x) => x.id === o.id)?.status === o.status) return [];
    const data = {
      return_id: o.id,
      status,
      invoice_id: o.invoiceId,
      ...customerFacts(after),
      ...facts,
      amount: number(o.amount) ?? facts.amount,
      amount_left: number(amountLeft(after)),
      console: invoicePage(o.invoiceId),
    } as const;
    return [{ type: 'debit.returned', subject: `${o.id}:${status}`, data }];
  });
}

export const tellReturns = (before: LaneState, after: LaneState): readonly Notice[] =>
  whenNamed(before, after, returns);
