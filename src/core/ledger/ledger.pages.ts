// The console's pages of the ledger.
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { given } from '../../frames/api/http/page.js';
import { invalid } from '../../frames/api/http/problem.js';
import { type Span } from '../../shared/domain/page.js';
import { monthOf } from './rules/month.js';
import { type Export, ExportsRepository } from './exports.repository.js';
import { entryView, type LedgerEntryView } from './ledger-entry.view.js';
import { ledgerFields } from './ledger-entry.fields.js';
import { type LedgerFilter, LedgerRepository, type LedgerRow } from './ledger.repository.js';
import { Page } from '../../frames/console/console.guard.js';
import { Pages } from '../../frames/console/pages.js';
import { MONEY_FILTERS, moneyFrom } from '../../frames/console/list-filters.js';
import { REASONS } from '../../shared/domain/postings.js';
import { CUSTOMER_FILTER, INVOICE_FILTER, chosen } from '../../frames/console/list.js';
import { CustomerNames } from '../../frames/console/customer-names.js';
import { Finder } from '../../frames/console/finder.js';
import { sendList, viewsOf } from '../../frames/console/list-page.js';

const LEDGER_FILTERS = [
  { name: 'month', label: 'Month (UTC)', kind: 'month' },
  INVOICE_FILTER,
  { name: 'payment_id', label: 'Payment' },
  {
    name: 'reason',
    label: 'Reason',
    options: REASONS,
  },
  ...MONEY_FILTERS,
  CUSTOMER_FILTER,
] as const;

/** The span of a month in place of the days. Throws 400 for another text, and for a month beside days. */
function monthFrom({ month, since, until }: Partial<Record<'month' | 'since' | 'until', string>>): Span {
  if (month === undefined) return {};
  if (since !== undefined || until !== undefined) throw invalid('month', 'leaves no room for days: empty one of them');
  const span = monthOf(month);
  if (span === null) throw invalid('month', 'must be a month such as 2026-11');
  return span;
}

@Pages('console/ledger')
export class LedgerPages {
  constructor(
    private readonly entries: LedgerRepository,
    private readonly exports: ExportsRepository,
    private readonly names: CustomerNames,
    private readonly finder: Finder,
  ) {}

  @Get()
  @Page('ledger.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, LEDGER_FILTERS);
    await sendList(req, res, {
      title: 'Ledger',
      section: 'ledger',
      path: '/console/ledger',
      filters: LEDGER_FILTERS,
      values,
      filter: (v) => ({
        ...given({ invoiceId: v.invoice_id, paymentId: v.payment_id, reason: v.reason }),
        ...moneyFrom(v),
        ...monthFrom(v),
      }),
      read: async (filter, page) => viewsOf(await this.entries.list(filter, page), entryView),
      csv: (filter) => this.exported(filter),
      // Entries with different reasons have no useful sum: a payment, its mark and its refund are three entries about
      // the same money.
      ...(values.reason === undefined
        ? {}
        : { sums: (filter: Parameters<LedgerRepository['sums']>[0]) => this.entries.sums(filter) }),
      caption: 'Newest first; Crossbill never changes an entry',
      fields: ['ledger', ledgerFields],
      names: this.names,
      find: this.finder,
      empty: {
        filtered: 'No entries match these filters.',
        yet: 'Every movement of money appears here as one entry between two accounts. The first payment makes the first entry.',
      },
    });
  }

  /**
   * The entries of a span in the order of `crossbill export ledger`, all of them: two files of one month are equal, line
   * by line. Null: the filter asks for more than a span, a reason and a currency.
   */
  private exported({
    since,
    until,
    reason,
    currency,
    ...rest
  }: LedgerFilter): AsyncGenerator<LedgerEntryView[]> | null {
    if (since === undefined || until === undefined || Object.values(rest).some((value) => value !== undefined))
      return null;
    return viewsIn(this.exports.ledger({ since, until }, reason ?? null), currency);
  }
}

async function* viewsIn(pages: Export<LedgerRow>, currency: string | undefined): AsyncGenerator<LedgerEntryView[]> {
  for await (const { rows } of pages)
    yield rows.filter((row) => currency === undefined || row.currency === currency).map(entryView);
}
