// Finds changes a person made on Stripe by hand, in Stripe's lists of payment records, credit notes and balance
// entries. An unchanged invoice needs no request of its own.
import { type BillingEventFacts } from '../../shared/domain/ports/billing-reader.js';
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { type Difference, type OurInvoice } from '../../shared/domain/difference.js';
import {
  compareBalance,
  compareCreditNotes,
  compareForeignNotes,
  compareRecord,
  creditsOf,
} from './rules/compare-manual.js';
import { type VerifySession } from './verify-session.js';

export class VerifyManual {
  private readonly customersSeen = new Set<string>();

  constructor(private readonly session: VerifySession) {}

  /**
   * Compares the refunds on each payment record. Reads nothing if Crossbill marks invoices out of band: the account may
   * have no payment records, and the API key no right to read them.
   */
  async records(): Promise<void> {
    const { parts, findings } = this.session;
    const { reader, books, context } = parts;
    if (context.settings.markMode !== 'payment_record') return;
    await this.session.listed(
      'records',
      (query) => reader.listPaymentRecords(query),
      async (page) => {
        const ours = await books.records.invoices(page.flatMap((r) => r.invoiceId ?? []));
        for (const record of page) {
          const own = ours.get(record.invoiceId ?? '');
          const p = own?.payments.find((x) => x.paymentRecordId === record.paymentRecordId && x.mark === 'confirmed');
          if (own === undefined || p === undefined || compareRecord(own, p, record).length === 0) continue;
          findings.addShown(await this.ofRecord(own, p)); // compared again, since a refund may have arrived meanwhile
        }
      },
    );
  }

  /** Compares the new credit notes on Stripe with our invoices of any age. */
  async notes(): Promise<void> {
    const { parts, findings } = this.session;
    const { reader, books } = parts;
    await this.session.listed(
      'notes',
      (query) => reader.listNewCreditNotes(query),
      async (page) => {
        const ours = await books.records.invoices(page.flatMap((n) => n.invoiceId ?? []));
        for (const own of ours.values()) findings.addShown(compareForeignNotes(own, page));
      },
    );
  }

  /** Finds credits by hand on balances changed by these events. Looks only at customers with a payment by the MoR. */
  async balances(events: readonly BillingEventFacts[]): Promise<void> {
    const { session: verifySession } = this;
    const { reader, books } = verifySession.parts;
    const moved = events.filter((e) => e.movesBalance).flatMap((e) => e.about.id ?? []);
    const fresh = [...new Set(moved)].filter((id) => !this.customersSeen.has(id));
    if (fresh.length === 0) return;
    for (const id of fresh) this.customersSeen.add(id);
    for (const id of await books.records.payingCustomers(fresh)) {
      const listing = () => reader.listBalance(id, verifySession.options.since);
      verifySession.findings.addShown(
        compareBalance(id, await verifySession.ask(listing, 'a balance could not be listed')),
      );
      await verifySession.step('balances', 1);
    }
  }

  /**
   * Compares the refunds of one invoice: credit notes, and sums on payment records. `all`: also compares payment
   * records without a refund.
   */
  async ofRefunds(own: OurInvoice, all = false): Promise<Difference[]> {
    const mirrored = own.refunds.filter((r) => r.mirror === 'done');
    const credits = creditsOf(own).filter((c) => c.stage === 'done');
    const found = mirrored.length + credits.length > 0 ? await this.ofNotes(own) : [];
    for (const p of own.payments) {
      const wanted = all || mirrored.some((r) => r.paymentRowId === p.id) || credits.some((c) => c.of === p.id);
      if (wanted && p.mark === 'confirmed') found.push(...(await this.ofRecord(own, p)));
    }
    return found;
  }

  async ofNotes(own: OurInvoice): Promise<Difference[]> {
    const { session: verifySession } = this;
    const listing = () => verifySession.parts.reader.listCreditNotes(own.invoice.invoiceId);
    const notes = await verifySession.ask(listing, 'credit notes could not be listed');
    await verifySession.step('credit_notes', notes.length);
    return [...compareCreditNotes(own, notes), ...compareForeignNotes(own, notes)];
  }

  /** Reads the record again, then our own rows, and compares both. */
  private async ofRecord(own: OurInvoice, payment: PaymentRow): Promise<Difference[]> {
    const { session: verifySession } = this;
    const { reader, books } = verifySession.parts;
    const { paymentRecordId } = payment;
    if (paymentRecordId === null) return [];
    const read = () => reader.readPaymentRecord(paymentRecordId);
    const record = await verifySession.ask(read, 'a payment record could not be read');
    const now = await books.records.invoice(own.invoice.invoiceId);
    await verifySession.step('payment_records', 0);
    return compareRecord(now ?? own, payment, record);
  }
}
