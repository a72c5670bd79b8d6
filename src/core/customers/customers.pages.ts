// Console pages of customers: the list of linked customers, and a page for each customer.
import { Get, Inject, Param, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { given } from '../../frames/api/http/page.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { notFound } from '../../frames/api/http/problem.js';
import { Page, sessionOf } from '../../frames/console/console.guard.js';
import { html } from '../../frames/console/html.js';
import { sendPage } from '../../frames/console/layout.js';
import { SPAN_FILTERS, spanFrom } from '../../frames/console/list-filters.js';
import { CUSTOMER_FILTER, chosen } from '../../frames/console/list.js';
import { Pages } from '../../frames/console/pages.js';
import { CustomerNames } from '../../frames/console/customer-names.js';
import { Finder } from '../../frames/console/finder.js';
import { CustomersRepository } from './customers.repository.js';
import { PaymentsRepository } from '../payments/payments.repository.js';
import { InvoicesRepository } from '../invoices/invoices.repository.js';
import { RefundsRepository } from '../refunds/refunds.repository.js';
import { CustomerParts } from './customer-parts.js';
import { CustomerLinksRepository } from './customer-links.repository.js';
import { PaymentMethodsRepository } from './payment-methods.repository.js';
import { type DecisionSettings } from '../../shared/domain/settings.js';
import { DECISION_SETTINGS } from '../../engine/decision-context.js';
import { customerFields } from './customer.fields.js';
import { linkView } from './customer-link.view.js';
import { customerPart } from './customer-page.js';
import { sendList, viewsOf } from '../../frames/console/list-page.js';

const PATH = '/console/customers';
const FILTERS = [CUSTOMER_FILTER, { name: 'mor_customer_id', label: 'Customer at the MoR' }, ...SPAN_FILTERS] as const;

const ROWS = 25;

@Pages('console/customers')
export class CustomerPages {
  constructor(
    private readonly customers: CustomersRepository,
    private readonly payments: PaymentsRepository,
    private readonly invoices: InvoicesRepository,
    private readonly refunds: RefundsRepository,
    private readonly links: CustomerLinksRepository,
    private readonly parts: CustomerParts,
    private readonly methods: PaymentMethodsRepository,
    private readonly names: CustomerNames,
    private readonly finder: Finder,
    @Inject(DECISION_SETTINGS) private readonly settings: DecisionSettings,
  ) {}

  @Get()
  @Page('customer.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, FILTERS);
    await sendList(req, res, {
      title: 'Customers',
      section: 'customers',
      path: PATH,
      filters: FILTERS,
      values,
      filter: (v) => ({
        ...given({ customerId: v.customer_id, morCustomerId: v.mor_customer_id }),
        ...spanFrom(v),
      }),
      read: async (filter, page) => viewsOf(await this.links.list(filter, page), (link) => linkView(link, [])),
      caption: 'Linked to the MoR, the newest links first',
      fields: ['customers', customerFields],
      names: this.names,
      find: this.finder,
      empty: {
        filtered: 'No links match these filters.',
        yet: html`Each customer with a link to a customer of the MoR appears here. A signup makes a link, and so does
          <code>crossbill import customers</code>. The search above finds any customer of Stripe by e-mail address.`,
      },
    });
  }

  @Get(':id')
  @Page('customer.read')
  async one(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) customerId: string): Promise<void> {
    const first = { limit: ROWS, cursor: null };
    const [known, sums, invoices, payments, refunds, parts, links, atStripe, methods, refused] = await Promise.all([
      this.customers.find(customerId),
      this.payments.ofCustomer(customerId),
      this.invoices.list({ customerId }, first),
      this.payments.list({ customerId }, first),
      this.refunds.list({ customerId }, first),
      this.parts.of(customerId),
      this.links.list({ customerId }, first),
      this.finder.read(customerId),
      this.methods.of([customerId]),
      this.methods.refusedRenewals(customerId),
    ]);
    if (known === null && (atStripe === null || atStripe === 'unknown')) throw notFound('customer');
    const body = customerPart({
      customerId,
      atStripe,
      enrolment: this.settings.enrolment ?? { by: 'all' },
      sums,
      invoices: invoices.data,
      payments: payments.data,
      refunds: refunds.data,
      parts,
      links: links.data,
      methods: {
        customerId,
        methods: methods.get(customerId) ?? [],
        refused,
        relay: this.settings.relay !== null,
        session: sessionOf(req),
      },
    });
    const name = atStripe === null || atStripe === 'unknown' ? null : (atStripe.name ?? atStripe.email);
    sendPage(req, res, { title: name ?? 'Customer', section: 'customers', body });
  }
}
