// Enrolment on the console: whose invoices are expected through the MoR, how far each customer has moved, and what was left alone.
import { Get, Inject, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { given } from '../api/http/page.js';
import { CONFIG, type Config } from '../config/index.js';
import { Page } from '../console/console.guard.js';
import { type Html, html } from '../console/html.js';
import { MONEY_FILTERS, moneyFrom, SPAN_FILTERS, spanFrom } from '../console/list-filters.js';
import { chosen, type Column } from '../console/list.js';
import { Pages } from '../console/pages.js';
import { type CsvColumn, plainAmount, plainTime } from '../console/selection.js';
import { customerLink, foreign, id, moneyLink, status, time } from '../console/show.js';
import { type InvoiceRow } from '../domain/model.js';
import { EnrolmentStore, type LinkedCustomer, MOVES } from './enrolment.store.js';
import { sendList } from '../console/list-page.js';

const PATH = '/console/enrolment';
const OUTSIDE = `${PATH}/outside`;

const LINKED_FILTERS = [
  { name: 'move', label: 'How far', options: MOVES },
  { name: 'by', label: 'Linked by' },
  { name: 'customer_id', label: 'Customer' },
  ...SPAN_FILTERS,
] as const;
const OUTSIDE_FILTERS = [...MONEY_FILTERS, { name: 'customer_id', label: 'Customer' }] as const;

const LINKED_CSV: readonly CsvColumn<LinkedCustomer>[] = [
  ['customer_id', (l) => l.customerId],
  ['mor_customer_id', (l) => l.morCustomerId],
  ['how_far', (l) => l.move],
  ['linked_by', (l) => l.linkedBy],
  ['reference', (l) => l.reference ?? ''],
  ['linked_at', (l) => plainTime(l.linkedAt)],
];
const OUTSIDE_CSV: readonly CsvColumn<InvoiceRow>[] = [
  ['invoice_id', (i) => i.invoiceId],
  ['number', (i) => i.number ?? ''],
  ['customer_id', (i) => i.customerId ?? ''],
  ['currency', (i) => i.currency ?? ''],
  ['amount_due', (i) => plainAmount(i.amountDue, i.currency)],
  ['on_stripe', (i) => i.platformStatus],
  ['first_seen_at', (i) => plainTime(i.firstSeenAt)],
];

const LINKED: readonly Column<LinkedCustomer>[] = [
  { label: 'Customer', cell: (l) => customerLink(l.customerId), phone: 'lead' },
  { label: 'How far', cell: (l) => status(l.move), phone: 'side' },
  { label: 'Linked by', cell: (l) => foreign(l.linkedBy) },
  { label: 'Linked', cell: (l) => time(l.linkedAt) },
  { label: 'Your reference', cell: (l) => foreign(l.reference), phone: 'none' },
  { label: 'At the MoR', cell: (l) => id(l.morCustomerId), phone: 'none' },
];
const LEFT: readonly Column<InvoiceRow>[] = [
  {
    label: 'Due',
    cell: (i) => moneyLink('invoices', i.invoiceId, i.amountDue, i.currency),
    number: true,
    phone: 'lead',
  },
  { label: 'On Stripe', cell: (i) => status(i.platformStatus), phone: 'side' },
  { label: 'Customer', cell: (i) => customerLink(i.customerId) },
  { label: 'Number', cell: (i) => foreign(i.number), phone: 'none' },
  { label: 'First seen', cell: (i) => time(i.firstSeenAt) },
];

@Pages('console/enrolment')
export class EnrolmentPages {
  constructor(
    private readonly books: EnrolmentStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'enrolment'>,
  ) {}

  @Get()
  @Page('enrolment.list')
  async linked(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, LINKED_FILTERS);
    const { move, by: linkedBy, customer_id: customerId } = values;
    const filter = { ...given({ move, linkedBy, customerId }), ...spanFrom(values) };
    await sendList(req, res, {
      title: 'Enrolment',
      section: 'enrolment',
      path: PATH,
      filters: LINKED_FILTERS,
      values,
      read: (page) => this.books.linked(filter, page),
      caption: 'Linked to the MoR, the newest links first',
      columns: LINKED,
      csv: ['enrolment', LINKED_CSV],
      empty: {
        filtered: 'No linked customers match these filters.',
        yet: html`Each customer that is linked to a customer of the MoR will stand here, with how far it has moved. A
          signup makes a link, and so does a file: <code>crossbill import customers batch-1.csv</code>`,
      },
      above: html`${this.rule()}${tabs('linked')}`,
      below: html`<p class="dim after"><code>crossbill status</code> counts all of them.</p>`,
    });
  }

  @Get('outside')
  @Page('enrolment.list')
  async outside(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, OUTSIDE_FILTERS);
    const filter = moneyFrom(values);
    await sendList(req, res, {
      title: 'Enrolment',
      section: 'enrolment',
      path: OUTSIDE,
      filters: OUTSIDE_FILTERS,
      values,
      read: (page) => this.books.outside(filter, page),
      sums: () => this.books.outsideSums(filter),
      caption: 'Left alone: not expected through the MoR; newest first',
      columns: LEFT,
      csv: ['not-enrolled', OUTSIDE_CSV],
      empty: {
        filtered: 'No invoices match these filters.',
        yet:
          this.config.enrolment.by === 'all'
            ? 'Every customer is enrolled, so no invoice is left alone.'
            : 'Each invoice that is left alone, because its customer is not enrolled, will stand here. There is none.',
      },
      above: html`${this.rule()}${tabs('outside')}`,
    });
  }

  private rule(): Html {
    const { enrolment: rule } = this.config;
    if (rule.by === 'all')
      return html`<p>
        <strong>Every customer is enrolled</strong> (<code>ENROLMENT=all</code>): each invoice is expected to be paid
        through the MoR.
      </p>`;
    if (rule.by === 'linked')
      return html`<p>
        <strong>Enrolled is who is linked to a customer of the MoR</strong> (<code>ENROLMENT=linked</code>), from the
        next invoice on. A payment of the MoR enrols its customer by itself.
      </p>`;
    return html`<p>
      <strong
        >Enrolled is whose subscription or customer has the metadata <code>${rule.key}=${rule.value}</code> on
        Stripe</strong
      >
      (<code>ENROLMENT</code>). A payment of the MoR enrols its customer by itself.
    </p>`;
  }
}

function tabs(here: 'linked' | 'outside'): Html {
  return html`<nav class="tabs" aria-label="Which">
    <a href="${PATH}" ${here === 'linked' && html`aria-current="true"`}>Linked customers</a>
    <a href="${OUTSIDE}" ${here === 'outside' && html`aria-current="true"`}>Invoices left alone</a>
  </nav>`;
}
