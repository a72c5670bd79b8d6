// Reads whole invoices for the API: our records, and the differences that verify found.
import { Inject, Injectable, Optional } from '@nestjs/common';
import { ReadModel } from '../../engine/read-model.js';
import { Differences, NOTHING_COMPARED } from '../../shared/domain/ports/differences.js';
import { type InvoiceView, invoiceView } from './invoice.view.js';

@Injectable()
export class InvoiceViews {
  constructor(
    private readonly books: ReadModel,
    @Optional() @Inject(Differences) private readonly differences: Differences = NOTHING_COMPARED,
  ) {}

  /** Null: Crossbill does not know the invoice. */
  async of(invoiceId: string): Promise<InvoiceView | null> {
    const found = await this.books.invoice(invoiceId);
    return found === null ? null : invoiceView(found, await this.differences.ofInvoice(invoiceId));
  }
}
