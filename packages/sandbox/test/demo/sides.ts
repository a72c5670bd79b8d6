// Three agreeing sides of one renewal, paid and partly refunded; tests change one thing and see who notices.
import { type Sides } from '../../src/demo/sides.js';

type Deep<T> = {
  -readonly [K in keyof T]: T[K] extends readonly (infer U)[] ? Deep<U>[] : T[K] extends object ? Deep<T[K]> : T[K];
};

/** Changeable in place. */
export type MutableSides = Deep<Sides>;

/** A renewal of 2900: paid, marked, and with a refund of 900; next to it a declined one. */
export function threeSides(): MutableSides {
  return {
    daemon: {
      invoices: [
        { id: 'in_paid', status: 'paid', amountDue: 2900 },
        { id: 'in_declined', status: 'open', amountDue: 2900 },
      ],
      payments: [
        {
          id: 'pay_1',
          invoiceId: 'in_paid',
          origin: 'renewal',
          amount: 2900,
          currency: 'eur',
          status: 'partially_refunded',
          chargeId: 'ch_1',
          recordId: 'pr_1',
          amountRefunded: 900,
          refunds: [{ id: 'ref_1', morRefundId: 'rfnd_1', amount: 900, status: 'succeeded' }],
        },
        {
          id: 'pay_2',
          invoiceId: 'in_declined',
          origin: 'renewal',
          amount: 2900,
          currency: 'eur',
          status: 'failed',
          chargeId: null,
          recordId: null,
          amountRefunded: 0,
          refunds: [],
        },
      ],
      reviews: [],
      ledger: [
        { debit: 'mor_receivable', credit: 'unmarked_payments', amount: 2900, currency: 'eur' },
        { debit: 'unmarked_payments', credit: 'settled_invoices', amount: 2900, currency: 'eur' },
        { debit: 'unmirrored_refunds', credit: 'mor_receivable', amount: 900, currency: 'eur' },
        { debit: 'settled_invoices', credit: 'unmirrored_refunds', amount: 900, currency: 'eur' },
      ],
    },
    stripe: {
      invoices: [
        {
          id: 'in_paid',
          status: 'paid',
          billingReason: 'subscription_cycle',
          enrolled: true,
          amountDue: 2900,
          currency: 'eur',
        },
        {
          id: 'in_declined',
          status: 'open',
          billingReason: 'subscription_cycle',
          enrolled: true,
          amountDue: 2900,
          currency: 'eur',
        },
      ],
      records: [
        {
          id: 'pr_1',
          invoiceId: 'in_paid',
          reference: 'ch_1',
          amount: 2900,
          refunds: [{ reference: 're_1', amount: 900, credited: 900 }],
        },
      ],
    },
    mor: {
      payments: [
        {
          id: 'pay_1',
          kind: 'renewal',
          reference: 'ch_1',
          invoiceId: 'in_paid',
          amount: 2900,
          currency: 'eur',
          status: 'partially_refunded',
          method: 'card',
          chargeId: 'ch_1',
          amountRefunded: 900,
        },
        {
          id: 'pay_2',
          kind: 'renewal',
          reference: '',
          invoiceId: 'in_declined',
          amount: 2900,
          currency: 'eur',
          status: 'failed',
          method: 'card',
          chargeId: '',
          amountRefunded: 0,
        },
      ],
      refunds: [
        {
          id: 'rfnd_1',
          paymentId: 'pay_1',
          amount: 900,
          status: 'succeeded',
          processorRefundId: 're_1',
          source: 'api',
        },
      ],
      lost: [],
    },
    backend: [
      { type: 'invoice.paid', about: 'in_paid', times: 1 },
      { type: 'invoice.left_open', about: 'in_declined', times: 1 },
      { type: 'refund.succeeded', about: 'rfnd_1', times: 1 },
    ],
  };
}
