// The console's pages of retries: the schedule, the refused renewals, and the next step of each renewal.
import { known } from '../../shared/domain/sentence.js';
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { given } from '../../frames/api/http/page.js';
import { Page } from '../../frames/console/console.guard.js';
import { CustomerNames } from '../../frames/console/customer-names.js';
import { Finder } from '../../frames/console/finder.js';
import { type Html, html } from '../../frames/console/html.js';
import { MONEY_FILTERS, moneyFrom } from '../../frames/console/list-filters.js';
import { CUSTOMER_FILTER, chosen, table } from '../../frames/console/list.js';
import { Pages } from '../../frames/console/pages.js';
import { section } from '../../frames/console/show.js';
import { END_WORDS, REFUSAL_KINDS, type RefusalKind } from '../../shared/domain/retry.js';
import { type RetriedInvoice, RETRY_STATES, RetriesRepository } from './retries.repository.js';
import { listedRetry, retryFields } from './retry.fields.js';
import { type DecisionSettings } from '../../shared/domain/settings.js';
import { DecisionContext } from '../../engine/decision-context.js';
import { KIND_WORDS, stepsInWords } from './schedule.view.js';
import { sendList, viewsOf } from '../../frames/console/list-page.js';

const PATH = '/console/retries';
const FILTERS = [
  { name: 'state', label: 'State', options: RETRY_STATES },
  { name: 'kind', label: 'Refusal', options: REFUSAL_KINDS },
  ...MONEY_FILTERS,
  CUSTOMER_FILTER,
] as const;

@Pages('console/retries')
export class RetryListPages {
  constructor(
    private readonly books: RetriesRepository,
    private readonly names: CustomerNames,
    private readonly finder: Finder,
    private readonly context: DecisionContext,
  ) {}

  @Get()
  @Page('retry.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, FILTERS);
    await sendList(req, res, {
      title: 'Retries',
      section: 'retries',
      path: PATH,
      filters: FILTERS,
      values,
      filter: (v) => ({ ...given({ state: v.state, kind: v.kind }), ...moneyFrom(v) }),
      read: async (filter, page) =>
        viewsOf(await this.books.list(filter, page), (r) => listedRetry(r, whyNothing(r, this.context.settings))),
      sums: (filter) => this.books.sums(filter),
      summed: 'remaining to be paid',
      caption: values.state === 'planned' ? 'The next try first' : 'Newest invoices first',
      fields: ['retries', retryFields],
      names: this.names,
      find: this.finder,
      empty: {
        filtered: 'No refused renewals match these filters.',
        yet: 'Each renewal with a declined charge appears here, with the reason, the time of the next try and its result. The MoR has declined none yet.',
      },
      below: html`<div class="apart">${section('The schedule', scheduleOf(this.context.settings))}</div>`,
    });
  }
}

/** Why the schedule has no step after the renewal's refusal. Null: it has one, or nobody knows the kind of refusal. */
function whyNothing({ invoice }: RetriedInvoice, { retrySchedule, recoveryLinks }: DecisionSettings): string | null {
  if (retrySchedule === null) return recoveryLinks === null ? 'RETRY_SCHEDULE is not set' : null;
  const kind = invoice.retries?.refusal.kind;
  const steps = kind === undefined ? undefined : known(retrySchedule, kind);
  return steps?.length === 0 ? `RETRY_SCHEDULE has no step after a ${kind} refusal` : null;
}

function scheduleOf(settings: DecisionSettings): Html {
  const { retrySchedule: schedule, recoveryLinks } = settings;
  if (schedule === null) {
    const links =
      recoveryLinks === null
        ? 'No schedule is set, so Crossbill retries nothing. A refused invoice stays open: retry it on its page.'
        : 'No schedule is set. Crossbill makes a payment link for each refused renewal at once, and asks for no other charge.';
    return html`<p>${links} To retry refused renewals automatically, set <code>RETRY_SCHEDULE</code>.</p>`;
  }
  const rows = REFUSAL_KINDS.map((kind) => ({ kind, steps: stepsInWords(schedule, kind, settings) }));
  return table<{ kind: RefusalKind; steps: string }>(
    'Steps after each kind of refusal',
    [
      { label: 'Refusal', cell: (r) => html`<strong>${r.kind}</strong>: ${KIND_WORDS[r.kind]}` },
      { label: 'Steps', cell: (r) => r.steps },
      { label: 'After the last step', cell: () => END_WORDS[schedule.end] },
    ],
    rows,
    '',
  );
}
