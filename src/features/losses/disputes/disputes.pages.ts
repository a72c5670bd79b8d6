// The pages of disputes and alerts: the list, and one dispute with its state and the possible actions.
import { Get, Inject, Param, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { IdPipe } from '../../../frames/api/http/id.pipe.js';
import { given } from '../../../frames/api/http/page.js';
import { notFound } from '../../../frames/api/http/problem.js';
import { type Config, CONFIG } from '../../../shared/config/index.js';
import { Page, sessionOf } from '../../../frames/console/console.guard.js';
import { html } from '../../../frames/console/html.js';
import { sendPage } from '../../../frames/console/layout.js';
import { MONEY_FILTERS, moneyFrom } from '../../../frames/console/list-filters.js';
import { CUSTOMER_FILTER, chosen } from '../../../frames/console/list.js';
import { Pages } from '../../../frames/console/pages.js';
import { CustomerNames } from '../../../frames/console/customer-names.js';
import { Finder } from '../../../frames/console/finder.js';
import { ReadModel } from '../../../engine/read-model.js';
import { Clock } from '../../../shared/domain/ports/clock.js';
import { DisputesStore } from './disputes.store.js';
import { liveMode } from '../../../engine/own-account.js';
import { disputeFields, listedDispute } from './dispute.fields.js';
import { disputePart } from './dispute-page.js';
import { sendList, viewsOf } from '../../../frames/console/list-page.js';

const PATH = '/console/disputes';
const FILTERS = [
  {
    name: 'status',
    label: 'Status',
    options: ['action_needed', 'revision_requested', 'won', 'lost', 'decided', 'received', 'handled'],
  },
  { name: 'kind', label: 'Kind', options: ['dispute', 'alert'] },
  ...MONEY_FILTERS,
  CUSTOMER_FILTER,
] as const;

@Pages('console/disputes')
export class DisputePages {
  readonly #live: boolean | null;

  constructor(
    private readonly disputes: DisputesStore,
    private readonly books: ReadModel,
    private readonly clock: Clock,
    private readonly names: CustomerNames,
    private readonly finder: Finder,
    @Inject(CONFIG) config: Config,
  ) {
    this.#live = liveMode(config).expected;
  }

  @Get()
  @Page('dispute.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, FILTERS);
    await sendList(req, res, {
      title: 'Disputes',
      section: 'disputes',
      path: PATH,
      filters: FILTERS,
      values,
      filter: (v) => ({ ...given({ status: v.status, kind: v.kind }), ...moneyFrom(v) }),
      read: async (filter, page) => viewsOf(await this.disputes.list(filter, page), listedDispute),
      sums: (filter) => this.disputes.sums(filter),
      caption: 'Newest first',
      fields: ['disputes', disputeFields],
      names: this.names,
      find: this.finder,
      empty: {
        filtered: 'No disputes match these filters.',
        yet: html`Each dispute by a customer's bank, and each alert before one, appears here with its deadline. None has
          arrived yet: they come with the MoR's <code>dispute.*</code> and <code>pre_chargeback_alert.*</code> events.`,
      },
    });
  }

  @Get(':id')
  @Page('dispute.read')
  async one(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) asked: string): Promise<void> {
    const found = await this.disputes.find(asked);
    const invoice = found === null ? null : await this.books.invoice(found.invoiceId);
    if (found === null || invoice === null) throw notFound('dispute');
    const now = invoice.objects.find((o) => o.id === found.id) ?? found;
    const names = await this.names.of([invoice.invoice.customerId ?? []].flat());
    const looker = { session: sessionOf(req), now: this.clock.now(), live: this.#live, names };
    const live = { html: disputePart(now, invoice, looker), everySec: 30 };
    sendPage(req, res, { title: now.kind === 'alert' ? 'Alert' : 'Dispute', section: 'disputes', body: null, live });
  }
}
