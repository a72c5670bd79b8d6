// The columns in which refunds are listed, on their own page, a payment's and an invoice's.
import { type RefundRow } from '../domain/model.js';
import { type Column } from '../console/list.js';
import { shownStatus } from './refund.view.js';
import { foreign, id, moneyLink, paymentLink, status, time, words } from '../console/show.js';

/** @param of the refund in a row, and the public name of its payment */
export function refundColumns<R>(
  of: (row: R) => { readonly refund: RefundRow; readonly name: string },
): readonly Column<R>[] {
  const columns: readonly Column<ReturnType<typeof of>>[] = [
    {
      label: 'Amount',
      cell: ({ refund: r }) => moneyLink('refunds', r.id, r.amount, r.currency),
      number: true,
      phone: 'lead',
    },
    { label: 'Status', cell: ({ refund }) => status(shownStatus(refund)), phone: 'side' },
    { label: 'On Stripe', cell: ({ refund }) => status(refund.mirror), phone: 'none' },
    { label: 'Reason', cell: ({ refund: r }) => foreign(r.reason === null ? null : words(r.reason)) },
    { label: 'Asked for', cell: ({ refund }) => time(refund.createdAt) },
    { label: 'Payment', cell: ({ name }) => paymentLink(name), phone: 'none' },
    { label: 'Refund', cell: ({ refund }) => id(refund.id), phone: 'none' },
  ];
  return columns.map((c) => ({ ...c, cell: (row) => c.cell(of(row)) }));
}
