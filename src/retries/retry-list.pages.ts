// Retries on the console: the schedule in force, the renewals that were refused, and what comes next for each.
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { given } from '../api/http/page.js';
import { Page } from '../console/console.guard.js';
import { type Html, html } from '../console/html.js';
import { MONEY_FILTERS, moneyFrom } from '../console/list-filters.js';
import { chosen, type Column, table } from '../console/list.js';
import { Pages } from '../console/pages.js';
import { type CsvColumn, plainAmount, plainTime } from '../console/selection.js';
import { customerLink, moneyLink, section, status, time, words } from '../console/show.js';
import { REFUSAL_KINDS, type RefusalKind } from '../domain/retry.js';
import { RETRY_STATES, RetriesStore, type RetriedInvoice } from './retries.store.js';
import { type FlowSettings } from '../domain/settings.js';
import { FlowContext } from '../engine/flow-context.js';
import { endInWords, KIND_WORDS, stepsInWords } from './schedule.view.js';
import { sendList } from '../console/list-page.js';

const PATH = '/console/retries';
const FILTERS = [
  { name: 'state', label: 'State', options: RETRY_STATES },
  { name: 'kind', label: 'Refusal', options: REFUSAL_KINDS },
  ...MONEY_FILTERS,
  { name: 'customer_id', label: 'Customer' },
] as const;

const CSV: readonly CsvColumn<RetriedInvoice>[] = [
  ['invoice_id', ({ invoice }) => invoice.invoiceId],
  ['number', ({ invoice }) => invoice.number ?? ''],
  ['customer_id', ({ invoice }) => invoice.customerId ?? ''],
  ['state', ({ state }) => state],
  ['currency', ({ invoice }) => invoice.currency ?? ''],
  ['amount_due', ({ invoice: i }) => plainAmount(i.amountDue, i.currency)],
  ['amount_remaining', ({ invoice: i }) => plainAmount(i.amountRemaining, i.currency)],
  ['refusal', ({ invoice }) => invoice.retries?.refusal.kind ?? ''],
  ['decline_code', ({ invoice }) => invoice.retries?.refusal.code ?? ''],
  ['refused_at', ({ invoice }) => invoice.retries?.refusal.heardAt ?? ''],
  ['retries', ({ invoice }) => String(made(invoice))],
  ['next_try_at', ({ invoice }) => plainTime(invoice.nextTryAt)],
  ['ended_at', ({ invoice }) => invoice.retries?.ended?.at ?? ''],
];

const COLUMNS: readonly Column<RetriedInvoice>[] = [
  {
    label: 'Due',
    cell: ({ invoice: i }) => moneyLink('invoices', i.invoiceId, i.amountDue, i.currency),
    number: true,
    phone: 'lead',
  },
  { label: 'State', cell: ({ state }) => status(state), phone: 'side' },
  { label: 'Next', cell: nextOf },
  { label: 'Customer', cell: ({ invoice }) => customerLink(invoice.customerId) },
  { label: 'Refused', cell: refusedOf, phone: 'none' },
  { label: 'Refused at', cell: ({ invoice: i }) => time(heardAt(i.retries?.refusal.heardAt)), phone: 'none' },
  { label: 'Retries', cell: ({ invoice }) => made(invoice), number: true, phone: 'none' },
];

@Pages('console/retries')
export class RetryListPages {
  constructor(
    private readonly books: RetriesStore,
    private readonly context: FlowContext,
  ) {}

  @Get()
  @Page('retry.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, FILTERS);
    const filter = { ...given({ state: values.state, kind: values.kind }), ...moneyFrom(values) };
    await sendList(req, res, {
      title: 'Retries',
      section: 'retries',
      path: PATH,
      filters: FILTERS,
      values,
      read: (page) => this.books.list(filter, page),
      sums: () => this.books.sums(filter),
      summed: 'remaining to be paid',
      caption: values.state === 'planned' ? 'The next one first' : 'Newest invoices first',
      columns: COLUMNS,
      csv: ['retries', CSV],
      empty: {
        filtered: 'No refused renewals match these filters.',
        yet: 'Each renewal that the MoR could not charge will stand here, with why, when it is tried again, and how that ended. None has been refused.',
      },
      below: html`<div class="apart">${section('The schedule', scheduleOf(this.context.settings))}</div>`,
    });
  }
}

function scheduleOf(settings: FlowSettings): Html {
  const { retrySchedule: schedule, recoveryLinks, shadow } = settings;
  const note = shadow === true ? html`<p class="dim">In shadow mode nothing is tried.</p>` : null;
  if (schedule === null) {
    const links =
      recoveryLinks === null
        ? 'Nothing is tried by itself: no schedule is set. An invoice that was refused stays open, and can be retried on its page.'
        : 'No schedule is set. Each renewal that is refused gets a payment link at once, and is not charged again by itself.';
    return html`<p>${links} Set <code>RETRY_SCHEDULE</code> to have refused renewals tried again.</p>
      ${note}`;
  }
  const rows = REFUSAL_KINDS.map((kind) => ({ kind, steps: stepsInWords(schedule, kind, settings) }));
  return html`${table<{ kind: RefusalKind; steps: string }>(
    'What follows a refusal, by its kind',
    [
      { label: 'Refusal', cell: (r) => html`<strong>${r.kind}</strong>: ${KIND_WORDS[r.kind]}` },
      { label: 'What is tried', cell: (r) => r.steps },
      { label: 'When all failed', cell: () => endInWords(schedule) },
    ],
    rows,
    '',
  )}${note}`;
}

function nextOf({ invoice: i, state }: RetriedInvoice): Html | string {
  switch (state) {
    case 'planned':
      return html`tried again ${time(i.nextTryAt)}`;
    case 'awaiting_answer':
      return html`answer expected by ${time(i.expectedBy, 'a time that is not known')}`;
    case 'payment_link':
      return 'the customer can pay by link';
    case 'ended': {
      const end = i.retries?.ended;
      return html`ended ${time(heardAt(end?.at))}${typeof end?.why === 'string' && html`: <bdi>${end.why}</bdi>`}`;
    }
    case 'collected':
      return 'nothing: it is paid';
    case 'not_retried':
      return 'nothing by itself';
  }
}

function refusedOf({ invoice }: RetriedInvoice): Html {
  const refusal = invoice.retries?.refusal;
  if (refusal === undefined) return html``;
  return html`${words(refusal.kind)} ${refusal.code !== null && html`<code>${refusal.code}</code>`}`;
}

const made = (i: RetriedInvoice['invoice']): number => (i.retries?.retries ?? []).filter((r) => !r.withdrawn).length;
const heardAt = (at: string | undefined): Date | null => (at === undefined ? null : new Date(at));
