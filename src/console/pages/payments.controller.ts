// Payments: the list, and one with what remains of it.
import { Controller, Get, Param, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { mayDo } from '../../api/access/caller.js';
import { IdPipe } from '../../api/http/id.pipe.js';
import { given } from '../../api/http/page.js';
import { notFound } from '../../api/http/problem.js';
import { PAYMENT_STATUSES, paymentName } from '../../api/payments/payment.view.js';
import { Books, type PaymentView } from '../../domain/ports/books.js';
import { refundable } from '../../domain/status.js';
import { ConsoleFilter } from '../console.filter.js';
import { ConsoleGuard, Page, sessionOf } from '../console.guard.js';
import { type Html, html } from '../html.js';
import { sendPage } from '../layout.js';
import { chosen, type Column, filterForm, pageOf, pager, table } from '../list.js';
import {
  amount,
  customerLink,
  facts,
  foreign,
  id,
  invoiceLink,
  paymentLink,
  section,
  status,
  time,
  words,
} from '../show.js';
import { proofFacts } from './proof-facts.js';
import { refundColumns } from './refund-columns.js';

const PATH = '/console/payments';
const FILTERS = [
  { name: 'status', label: 'Status', options: PAYMENT_STATUSES },
  { name: 'customer_id', label: 'Customer' },
  { name: 'invoice_id', label: 'Invoice' },
] as const;

const COLUMNS: readonly Column<PaymentView>[] = [
  { label: 'Payment', cell: ({ payment }) => paymentLink(paymentName(payment)) },
  { label: 'Status', cell: ({ payment }) => status(payment.status) },
  { label: 'Amount', cell: ({ payment: p }) => amount(p.amount, p.currency), number: true },
  { label: 'Refunded', cell: ({ payment: p }) => amount(p.amountRefunded, p.currency), number: true },
  { label: 'Invoice', cell: ({ payment }) => invoiceLink(payment.invoiceId) },
  { label: 'Taken', cell: ({ payment }) => time(payment.succeededAt) },
];

@ApiExcludeController()
@UseFilters(ConsoleFilter)
@UseGuards(ConsoleGuard)
@Controller('console/payments')
export class PaymentPages {
  constructor(private readonly books: Books) {}

  @Get()
  @Page('payment.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, FILTERS);
    const page = pageOf(req);
    const filter = given({ status: values.status, customerId: values.customer_id, invoiceId: values.invoice_id });
    const found = await this.books.payments(filter, page);
    const empty =
      Object.keys(values).length > 0
        ? 'No payment fits these filters.'
        : html`<p>No payment yet. They come with the MoR's <code>payment.*</code> events.</p>
            <p>Give the MoR the address <code>/webhooks/mor/payments</code> of this host.</p>`;
    const body = html`${filterForm(PATH, FILTERS, values)}
    ${table('Newest first', COLUMNS, found.data, empty)}${pager(PATH, values, page.cursor, found.nextCursor)}`;
    sendPage(req, res, { title: 'Payments', section: 'payments', body });
  }

  @Get(':id')
  @Page('payment.read')
  async one(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) asked: string): Promise<void> {
    const found = await this.books.payment(asked);
    if (found === null) throw notFound('payment');
    const live = { html: paymentPart(found, mayDo(sessionOf(req).role, 'ops')), everySec: 15 };
    sendPage(req, res, { title: `Payment ${paymentName(found.payment)}`, section: 'payments', body: null, live });
  }
}

function paymentPart({ payment: p, morCustomerId, refunds }: PaymentView, ops: boolean): Html {
  const rest = refundable(p, refunds);
  const name = paymentName(p);
  return html`${facts([
    ['Status', status(p.status)],
    ['Amount', amount(p.amount, p.currency)],
    ['Refunded', amount(p.amountRefunded, p.currency)],
    ['Can be refunded', amount(rest, p.currency)],
    ['Mark on the invoice', status(p.mark)],
    ...proofFacts(p),
    ['Invoice', invoiceLink(p.invoiceId)],
    ['Payment', id(name)],
    ['Customer', customerLink(p.customerId)],
    ['Customer at the MoR', id(morCustomerId)],
    ['Origin', words(p.origin)],
    ["Processor's charge", id(p.processorChargeId)],
    ["Processor's payment intent", id(p.processorPaymentIntentId)],
    ['Payment record on Stripe', id(p.paymentRecordId)],
    ['Taken', time(p.succeededAt)],
    p.failureMessage === null ? null : ['Why it failed', foreign(p.failureMessage)],
    p.declineCode === null ? null : ['Decline code', html`<code>${p.declineCode}</code>`],
  ])}
  ${section('Refunds', table('What was given back, or is on its way', refundColumns(new Map([[p.id, name]])), refunds, 'None.'))}
  ${ops && refundWay(name, rest, p.paymentId === null)}`;
}

function refundWay(name: string, rest: bigint, unnamed: boolean): Html {
  if (unnamed) return html`<p class="dim">The MoR has not named this payment yet: refund it in the MoR's portal.</p>`;
  if (rest === 0n) return html`<p class="dim">Nothing of this payment is left to refund.</p>`;
  return html`<p><a class="button" href="${PATH}/${encodeURIComponent(name)}/refund">Refund…</a></p>`;
}
