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
import { DisputesRepository } from './disputes.repository.js';
import { liveMode } from '../../../engine/own-account.js';
import { disputeFields, listedDispute } from './dispute.fields.js';
import { disputePart, evidencePart, type Viewer } from './dispute-page.js';
import { type Names } from '../../../frames/console/fields.js';
import { type InvoiceView } from '../../../engine/read-model.js';
import { type MorObjectRow, wantsEvidence } from '../../../shared/domain/mor-object.js';
import { asksAbout } from './rules/dispute.js';
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
  readonly #portal: string | null;

  constructor(
    private readonly disputes: DisputesRepository,
    private readonly books: ReadModel,
    private readonly clock: Clock,
    private readonly names: CustomerNames,
    private readonly finder: Finder,
    @Inject(CONFIG) config: Config,
  ) {
    this.#live = liveMode(config).expected;
    this.#portal = config.morPortalUrl;
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
    const { dispute, invoice } = await this.find(asked);
    const names = await this.names.of([invoice.invoice.customerId ?? []].flat());
    const live = { html: disputePart(dispute, invoice, this.looker(req, names)), everySec: 30 };
    const title = dispute.kind === 'alert' ? 'Alert' : 'Dispute';
    sendPage(req, res, { title, section: 'disputes', body: null, live });
  }

  @Get(':id/evidence-sent')
  @Page('review.resolve', 'ops')
  async sent(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) asked: string): Promise<void> {
    const { dispute, invoice } = await this.find(asked);
    const item = invoice.reviews.find((r) => r.status === 'open' && asksAbout(r, dispute));
    if (item === undefined || !wantsEvidence(dispute)) throw notFound('open item about evidence');
    const body = evidencePart(dispute, item.id, this.looker(req, new Map()));
    sendPage(req, res, { title: 'Close the item about the evidence', section: 'disputes', body });
  }

  private looker(req: Request, names: Names): Viewer {
    return { session: sessionOf(req), now: this.clock.now(), live: this.#live, portal: this.#portal, names };
  }

  private async find(asked: string): Promise<{ readonly dispute: MorObjectRow; readonly invoice: InvoiceView }> {
    const found = await this.disputes.find(asked);
    const invoice = found === null ? null : await this.books.invoice(found.invoiceId);
    if (found === null || invoice === null) throw notFound('dispute');
    return { dispute: invoice.objects.find((o) => o.id === found.id) ?? found, invoice };
  }
}
