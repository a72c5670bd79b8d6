// The console's pages of the ledger.
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { given } from '../../frames/api/http/page.js';
import { entryView } from './ledger-entry.view.js';
import { ledgerFields } from './ledger-entry.fields.js';
import { LedgerStore } from './ledger.store.js';
import { Page } from '../../frames/console/console.guard.js';
import { Pages } from '../../frames/console/pages.js';
import { MONEY_FILTERS, moneyFrom } from '../../frames/console/list-filters.js';
import { REASONS } from '../../shared/domain/postings.js';
import { chosen } from '../../frames/console/list.js';
import { CustomerNames } from '../../frames/console/customer-names.js';
import { sendList, viewsOf } from '../../frames/console/list-page.js';

const LEDGER_FILTERS = [
  { name: 'invoice_id', label: 'Invoice' },
  { name: 'payment_id', label: 'Payment' },
  {
    name: 'reason',
    label: 'Reason',
    options: REASONS,
  },
  ...MONEY_FILTERS,
  { name: 'customer_id', label: 'Customer' },
] as const;

@Pages('console/ledger')
export class LedgerPages {
  constructor(
    private readonly entries: LedgerStore,
    private readonly names: CustomerNames,
  ) {}

  @Get()
  @Page('ledger.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, LEDGER_FILTERS);
    const named = given({ invoiceId: values.invoice_id, paymentId: values.payment_id, reason: values.reason });
    const filter = { ...named, ...moneyFrom(values) };
    await sendList(req, res, {
      title: 'Ledger',
      section: 'ledger',
      path: '/console/ledger',
      filters: LEDGER_FILTERS,
      values,
      read: async (page) => viewsOf(await this.entries.list(filter, page), entryView),
      // Entries with different reasons have no useful sum: a payment, its mark and its refund are three entries about
      // the same money.
      ...(values.reason === undefined ? {} : { sums: () => this.entries.sums(filter) }),
      caption: 'Newest first; Crossbill never changes an entry',
      fields: ['ledger', ledgerFields],
      names: this.names,
      empty: {
        filtered: 'No entries match these filters.',
        yet: 'Every movement of money appears here as one entry between two accounts. The first payment makes the first entry.',
      },
    });
  }
}
