// The columns in which refunds are listed, on their own page, a payment's and an invoice's.
import { type RefundRow } from '../domain/model.js';
import { type Column } from '../console/list.js';
import { foreign, id, moneyLink, paymentLink, status, time, words } from '../console/show.js';

/** @param names our ids of payments → the public ones */
export function refundColumns(names: ReadonlyMap<string, string>): readonly Column<RefundRow>[] {
  return [
    {
      label: 'Amount',
      cell: (r) => moneyLink('refunds', r.id, r.amount, r.currency),
      number: true,
      phone: 'lead',
    },
    { label: 'Status', cell: (r) => status(shownStatus(r)), phone: 'side' },
    { label: 'On Stripe', cell: (r) => status(r.mirror), phone: 'none' },
    { label: 'Reason', cell: (r) => foreign(r.reason === null ? null : words(r.reason)) },
    { label: 'Asked for', cell: (r) => time(r.createdAt) },
    { label: 'Payment', cell: (r) => paymentLink(names.get(r.paymentRowId) ?? r.paymentRowId), phone: 'none' },
    { label: 'Refund', cell: (r) => id(r.id), phone: 'none' },
  ];
}

/** As the API names it: sent or about to be sent, nobody has answered. */
export function shownStatus(r: RefundRow): string {
  return r.status === 'requested' ? 'unknown' : r.status;
}
