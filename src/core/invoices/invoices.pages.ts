// The pages of invoices: the list, and one invoice with its whole history.
import { Get, Inject, Optional, Param, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { InvoiceIdPipe } from '../../frames/api/http/id.pipe.js';
import { notFound } from '../../frames/api/http/problem.js';
import { given } from '../../frames/api/http/page.js';
import { INVOICE_STATUSES, invoiceListView } from './invoice.view.js';
import { InvoicesRepository } from './invoices.repository.js';
import { ReadModel } from '../../engine/read-model.js';
import { type Config, CONFIG } from '../../shared/config/index.js';
import { DecisionContext } from '../../engine/decision-context.js';
import { liveMode } from '../../engine/own-account.js';
import { Page, sessionOf } from '../../frames/console/console.guard.js';
import { html } from '../../frames/console/html.js';
import { sendPage } from '../../frames/console/layout.js';
import { Pages } from '../../frames/console/pages.js';
import { MONEY_FILTERS, moneyFrom } from '../../frames/console/list-filters.js';
import { CUSTOMER_FILTER, chosen } from '../../frames/console/list.js';
import { CustomerNames } from '../../frames/console/customer-names.js';
import { Finder } from '../../frames/console/finder.js';
import { invoiceFields } from './invoice.fields.js';
import { Differences, NOTHING_COMPARED } from '../../shared/domain/ports/differences.js';
import { differencesPart, invoicePart } from './invoice-page.js';
import { sendList, viewsOf } from '../../frames/console/list-page.js';

const PATH = '/console/invoices';
const FILTERS = [
  { name: 'status', label: 'Status', options: INVOICE_STATUSES },
  ...MONEY_FILTERS,
  CUSTOMER_FILTER,
] as const;

@Pages('console/invoices')
export class InvoicePages {
  readonly #live: boolean | null;
  readonly #portal: string | null;

  constructor(
    private readonly books: ReadModel,
    private readonly invoices: InvoicesRepository,
    private readonly context: DecisionContext,
    private readonly names: CustomerNames,
    private readonly finder: Finder,
    @Inject(CONFIG) config: Config,
    @Optional() @Inject(Differences) private readonly differences: Differences = NOTHING_COMPARED,
  ) {
    this.#live = liveMode(config).expected;
    this.#portal = config.morPortalUrl;
  }

  @Get()
  @Page('invoice.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, FILTERS);
    await sendList(req, res, {
      title: 'Invoices',
      section: 'invoices',
      path: PATH,
      filters: FILTERS,
      values,
      filter: (v) => ({ ...given({ status: v.status }), ...moneyFrom(v) }),
      read: async (filter, page) => viewsOf(await this.invoices.list(filter, page), invoiceListView),
      sums: (filter) => this.invoices.sums(filter),
      summed: 'due, paid or not',
      caption: 'Newest first',
      fields: ['invoices', invoiceFields],
      names: this.names,
      find: this.finder,
      empty: {
        filtered: 'No invoices match these filters.',
        yet: html`<p>
            Crossbill lists Stripe's invoices here, with the MoR's verdict and the time of the mark. No invoice has
            arrived yet: Stripe sends each one with an <code>invoice.created</code> event.
          </p>
          <p>
            Register <code>/webhooks/stripe</code> of this host at Stripe, with the <code>invoice.*</code> events.
          </p>`,
      },
    });
  }

  @Get(':id')
  @Page('invoice.read')
  async one(@Req() req: Request, @Res() res: Response, @Param('id', InvoiceIdPipe) asked: string): Promise<void> {
    const found = await this.books.invoice(asked);
    if (found === null) throw notFound('invoice');
    const names = await this.names.of([found.invoice.customerId ?? []].flat());
    const looker = { session: sessionOf(req), ctx: this.context.now(), live: this.#live, portal: this.#portal, names };
    const differences = await this.differences.ofInvoice(found.invoice.invoiceId);
    const live = { html: html`${differencesPart(differences)}${invoicePart(found, looker)}`, everySec: 15 };
    const { number, platformStatus } = found.invoice;
    const title = number !== null ? `Invoice ${number}` : platformStatus === 'draft' ? 'Draft invoice' : 'Invoice';
    sendPage(req, res, { title, section: 'invoices', body: null, live });
  }
}
