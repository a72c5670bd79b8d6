// The search page: one field for ids, e-mail addresses, amounts and numbers, and a list of the results.
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { Page } from '../../frames/console/console.guard.js';
import { type Html, html } from '../../frames/console/html.js';
import { secure, sendPage } from '../../frames/console/layout.js';
import { queryText, table } from '../../frames/console/list.js';
import { Pages } from '../../frames/console/pages.js';
import { amount, foreign, id, status, time } from '../../frames/console/show.js';
import { type Found } from '../../frames/console/search-results.js';
import { Search } from './search.js';

@Pages('console/find')
export class SearchPages {
  constructor(private readonly search: Search) {}

  /** Shows the results, or opens the only result if it matches exactly. */
  @Get()
  @Page('console.find')
  async find(@Req() req: Request, @Res() res: Response): Promise<void> {
    const sought = queryText(req, 'q');
    const { found, hint } = await this.search.for(sought);
    const [only] = found;
    if (only !== undefined && found.length === 1 && only.exact) {
      secure(res);
      res.redirect(303, only.path);
      return;
    }
    const body = html`${hint !== null && html`<p class="message" role="status">${hint}</p>`}
    ${sought !== '' && results(sought, found)}${whatIsSearched}`;
    sendPage(req, res, { title: 'Search', section: null, body }, sought !== '' && found.length === 0 ? 404 : 200);
  }
}

function results(sought: string, found: readonly Found[]): Html {
  return table(
    `Found for ${sought}`,
    [
      {
        label: 'What',
        cell: (f) => html`<a href="${f.path}">${f.what}<span class="unseen"> ${f.id}</span></a>`,
        phone: 'lead',
      },
      {
        label: 'Amount',
        cell: (f) => (f.currency === null ? '' : amount(f.minor, f.currency)),
        number: true,
        phone: 'side',
      },
      { label: 'Status', cell: (f) => (f.status === null ? '' : status(f.status)) },
      { label: 'When', cell: (f) => (f.at === null ? '' : time(f.at)) },
      ...(found.some((f) => f.name !== null && f.name !== '')
        ? [{ label: 'Name', cell: (f: Found) => (f.name === null ? '' : foreign(f.name)) }]
        : []),
      { label: 'Id', cell: (f) => id(f.id) },
    ],
    found,
    html`Nothing was found for <strong><bdi>${sought}</bdi></strong
      >.`,
  );
}

const whatIsSearched = html`<details class="searched" id="searched">
  <summary>Where Crossbill searches</summary>
  <ul>
    <li>
      Ids, whole or their beginning: <code>in_</code> <code>pay_</code> <code>pmt_</code> <code>ref_</code>
      <code>rev_</code> <code>cus_</code> and charges. Only whole ids: those of events, and of the MoR's refunds,
      customers and other objects.
    </li>
    <li>Numbers of invoices and proforma invoices, whole or their beginning.</li>
    <li>The end of an invoice's number, after its prefix: the newest 5,000 invoices.</li>
    <li>
      Customers by whole e-mail address or by a part of their name: Crossbill asks Stripe's search and keeps no name.
    </li>
    <li>
      Amounts, such as <code>49,50 GBP</code> or <code>49.50</code>: the newest 5,000 invoices, payments and refunds.
    </li>
    <li>Not searched: the middle of an id, and other texts.</li>
  </ul>
</details>`;
