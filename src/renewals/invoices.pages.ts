// Invoices: the list, and one with all that happened to it.
import { Get, Param, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { InvoiceIdPipe } from '../api/http/id.pipe.js';
import { notFound } from '../api/http/problem.js';
import { given } from '../api/http/page.js';
import { INVOICE_STATUSES } from './invoice.view.js';
import { Books, type InvoiceListItem } from '../domain/ports/books.js';
import { Page } from '../console/console.guard.js';
import { html } from '../console/html.js';
import { sendPage } from '../console/layout.js';
import { Pages } from '../console/pages.js';
import { chosen, type Column, filterForm, pageOf, pager, table } from '../console/list.js';
import { customerLink, foreign, id, moneyLink, status, time, words } from '../console/show.js';
import { invoicePart } from './invoice-page.js';

const PATH = '/console/invoices';
const FILTERS = [
  { name: 'status', label: 'Status', options: INVOICE_STATUSES },
  { name: 'customer_id', label: 'Customer' },
] as const;

const COLUMNS: readonly Column<InvoiceListItem>[] = [
  {
    label: 'Due',
    cell: (i) => moneyLink('invoices', i.invoiceId, i.amountDue, i.currency),
    phone: 'lead',
    number: true,
  },
  {
    label: 'Status',
    cell: (i) =>
      html`${status(i.status)}${i.enrolled === false && i.status === 'ignored' && html` ${words('not_enrolled')}`}`,
    phone: 'side',
  },
  { label: 'Customer', cell: (i) => customerLink(i.customerId) },
  { label: 'Number', cell: (i) => foreign(i.number), phone: 'none' },
  { label: 'Reason', cell: (i) => foreign(i.billingReason === null ? null : words(i.billingReason)), phone: 'none' },
  { label: 'Created', cell: (i) => time(i.platformCreatedAt ?? i.firstSeenAt) },
  { label: 'Invoice', cell: (i) => id(i.invoiceId), phone: 'none' },
];

@Pages('console/invoices')
export class InvoicePages {
  constructor(private readonly books: Books) {}

  @Get()
  @Page('invoice.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, FILTERS);
    const page = pageOf(req);
    const found = await this.books.invoices(given({ status: values.status, customerId: values.customer_id }), page);
    const empty =
      Object.keys(values).length > 0
        ? 'No invoices match these filters.'
        : html`<p>
              Each invoice that Stripe makes will stand here, with what the MoR said and when it was marked paid. None
              has come yet: they come with Stripe's <code>invoice.created</code> events.
            </p>
            <p>
              Register <code>/webhooks/stripe</code> of this host at Stripe, with the <code>invoice.*</code> events.
            </p>`;
    const body = html`${filterForm(PATH, FILTERS, values)}
    ${table('Newest first', COLUMNS, found.data, empty)}${pager(PATH, values, page.cursor, found.nextCursor)}`;
    sendPage(req, res, { title: 'Invoices', section: 'invoices', body });
  }

  @Get(':id')
  @Page('invoice.read')
  async one(@Req() req: Request, @Res() res: Response, @Param('id', InvoiceIdPipe) asked: string): Promise<void> {
    const found = await this.books.invoice(asked);
    if (found === null) throw notFound('invoice');
    const live = { html: invoicePart(found), everySec: 15 };
    sendPage(req, res, { title: `Invoice ${asked}`, section: 'invoices', body: null, live });
  }
}
