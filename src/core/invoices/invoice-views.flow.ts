// Reads whole invoices for the API: our records, and the differences that verify found.
import { Injectable } from '@nestjs/common';
import { ReadModel } from '../../engine/read-model.js';
import { DifferencesStore } from '../../features/verify/differences.store.js';
import { type InvoiceView, invoiceView } from './invoice.view.js';

@Injectable()
export class InvoiceViews {
  constructor(
    private readonly books: ReadModel,
    private readonly differences: DifferencesStore,
  ) {}

  /** Null: Crossbill does not know the invoice. */
  async of(invoiceId: string): Promise<InvoiceView | null> {
    const found = await this.books.invoice(invoiceId);
    return found === null ? null : invoiceView(found, await this.differences.ofInvoice(invoiceId));
  }
}
