// The console's page of enrolment: the rule, the linked customers, and the invoices left to Stripe.
import { Get, Inject, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { given } from '../../frames/api/http/page.js';
import { CONFIG, type Config } from '../../shared/config/index.js';
import { Page } from '../../frames/console/console.guard.js';
import { CustomerNames } from '../../frames/console/customer-names.js';
import { Finder } from '../../frames/console/finder.js';
import { type Html, html } from '../../frames/console/html.js';
import { MONEY_FILTERS, moneyFrom, SPAN_FILTERS, spanFrom } from '../../frames/console/list-filters.js';
import { CUSTOMER_FILTER, chosen } from '../../frames/console/list.js';
import { Pages } from '../../frames/console/pages.js';
import { linkedCustomerFields, linkedCustomerView, outsideFields, outsideView } from './enrolment.fields.js';
import { EnrolmentRepository, MOVES } from './enrolment.repository.js';
import { sendList, viewsOf } from '../../frames/console/list-page.js';

const PATH = '/console/enrolment';
const OUTSIDE = `${PATH}/outside`;

const LINKED_FILTERS = [
  { name: 'move', label: 'Progress', options: MOVES },
  { name: 'by', label: 'Linked by' },
  CUSTOMER_FILTER,
  ...SPAN_FILTERS,
] as const;
const OUTSIDE_FILTERS = [...MONEY_FILTERS, CUSTOMER_FILTER] as const;

@Pages('console/enrolment')
export class EnrolmentPages {
  constructor(
    private readonly books: EnrolmentRepository,
    private readonly names: CustomerNames,
    private readonly finder: Finder,
    @Inject(CONFIG) private readonly config: Pick<Config, 'enrolment'>,
  ) {}

  @Get()
  @Page('enrolment.list')
  async linked(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, LINKED_FILTERS);
    await sendList(req, res, {
      title: 'Enrolment',
      section: 'enrolment',
      path: PATH,
      filters: LINKED_FILTERS,
      values,
      filter: ({ move, by: linkedBy, customer_id: customerId, ...span }) => ({
        ...given({ move, linkedBy, customerId }),
        ...spanFrom(span),
      }),
      read: async (filter, page) => viewsOf(await this.books.linked(filter, page), linkedCustomerView),
      caption: 'Linked to the MoR, the newest links first',
      fields: ['enrolment', linkedCustomerFields],
      names: this.names,
      find: this.finder,
      empty: {
        filtered: 'No linked customers match these filters.',
        yet: html`Each customer with a link to a customer of the MoR appears here, with the state of the move. A signup
          makes a link, and so does a file: <code>crossbill import customers batch-1.csv</code>`,
      },
      above: html`${this.rule()}${tabs('linked')}`,
      below: html`<p class="dim after"><code>crossbill status</code> counts all linked customers.</p>`,
    });
  }

  @Get('outside')
  @Page('enrolment.list')
  async outside(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, OUTSIDE_FILTERS);
    await sendList(req, res, {
      title: 'Enrolment',
      section: 'enrolment',
      path: OUTSIDE,
      filters: OUTSIDE_FILTERS,
      values,
      filter: moneyFrom,
      read: async (filter, page) => viewsOf(await this.books.outside(filter, page), outsideView),
      sums: (filter) => this.books.outsideSums(filter),
      caption: 'Invoices outside enrolment, newest first',
      fields: ['not-enrolled', outsideFields],
      names: this.names,
      find: this.finder,
      empty: {
        filtered: 'No invoices match these filters.',
        yet:
          this.config.enrolment.by === 'all'
            ? 'Every customer is enrolled, so no invoice is left alone.'
            : 'Crossbill leaves invoices outside enrolment alone. They appear here; so far none.',
      },
      above: html`${this.rule()}${tabs('outside')}`,
    });
  }

  private rule(): Html {
    const { enrolment: rule } = this.config;
    if (rule.by === 'all')
      return html`<p>
        <strong>Every customer is enrolled</strong> (<code>ENROLMENT=all</code>): Crossbill expects the MoR to collect
        each invoice.
      </p>`;
    if (rule.by === 'linked')
      return html`<p>
        <strong>A customer with a link to a customer of the MoR is enrolled</strong> (<code>ENROLMENT=linked</code>),
        from the next invoice on. A payment of the MoR enrols its customer too.
      </p>`;
    return html`<p>
      <strong
        >A customer is enrolled with the metadata <code>${rule.key}=${rule.value}</code> on the customer or the
        subscription on Stripe</strong
      >
      (<code>ENROLMENT</code>). A payment of the MoR enrols its customer too.
    </p>`;
  }
}

function tabs(here: 'linked' | 'outside'): Html {
  return html`<nav class="tabs" aria-label="Lists of enrolment">
    <a href="${PATH}" ${here === 'linked' && html`aria-current="true"`}>Linked customers</a>
    <a href="${OUTSIDE}" ${here === 'outside' && html`aria-current="true"`}>Invoices left alone</a>
  </nav>`;
}
