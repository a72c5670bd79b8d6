// The console's pages of retries: the schedule, the refused renewals, and the next step of each renewal.
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { given } from '../api/http/page.js';
import { Page } from '../console/console.guard.js';
import { CustomerNames } from '../console/customer-names.js';
import { type Html, html } from '../console/html.js';
import { MONEY_FILTERS, moneyFrom } from '../console/list-filters.js';
import { chosen, table } from '../console/list.js';
import { Pages } from '../console/pages.js';
import { section } from '../console/show.js';
import { END_WORDS, REFUSAL_KINDS, type RefusalKind } from '../domain/retry.js';
import { RETRY_STATES, RetriesStore } from './retries.store.js';
import { listedRetry, retryFields } from './retry.fields.js';
import { type FlowSettings } from '../domain/settings.js';
import { FlowContext } from '../engine/flow-context.js';
import { KIND_WORDS, stepsInWords } from './schedule.view.js';
import { sendList, viewsOf } from '../console/list-page.js';

const PATH = '/console/retries';
const FILTERS = [
  { name: 'state', label: 'State', options: RETRY_STATES },
  { name: 'kind', label: 'Refusal', options: REFUSAL_KINDS },
  ...MONEY_FILTERS,
  { name: 'customer_id', label: 'Customer' },
] as const;

@Pages('console/retries')
export class RetryListPages {
  constructor(
    private readonly books: RetriesStore,
    private readonly names: CustomerNames,
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
      read: async (page) => viewsOf(await this.books.list(filter, page), listedRetry),
      sums: () => this.books.sums(filter),
      summed: 'remaining to be paid',
      caption: values.state === 'planned' ? 'The next one first' : 'Newest invoices first',
      fields: ['retries', retryFields],
      names: this.names,
      empty: {
        filtered: 'No refused renewals match these filters.',
        yet: 'Each renewal with a declined charge appears here, with the reason, the time of the next try and its result. The MoR has declined none.',
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
        ? 'Crossbill tries nothing: no schedule is set. An invoice that was refused stays open, and can be retried on its page.'
        : 'No schedule is set. Each renewal that is refused gets a payment link at once, and Crossbill does not charge it again.';
    return html`<p>${links} Set <code>RETRY_SCHEDULE</code> to have refused renewals tried again.</p>
      ${note}`;
  }
  const rows = REFUSAL_KINDS.map((kind) => ({ kind, steps: stepsInWords(schedule, kind, settings) }));
  return html`${table<{ kind: RefusalKind; steps: string }>(
    'What follows a refusal, by its kind',
    [
      { label: 'Refusal', cell: (r) => html`<strong>${r.kind}</strong>: ${KIND_WORDS[r.kind]}` },
      { label: 'What is tried', cell: (r) => r.steps },
      { label: 'When all failed', cell: () => END_WORDS[schedule.end] },
    ],
    rows,
    '',
  )}${note}`;
}
