// A person changes things by hand in Stripe's dashboard. At the end a rule checks that `crossbill verify` reports every
// such change.
import { type Difference } from '#src/shared/domain/difference.js';
import { type Invoice } from '@crossbill/sandbox/stripe/model.js';
import { type People } from './people.js';
import { type World } from '../machine/world.js';

export class ManualActs {
  constructor(
    private readonly world: World,
    private readonly people: People,
  ) {}

  /** Creates a credit note on an invoice Crossbill has marked, out of band or to the customer's balance. */
  async credit(invoiceId: string, amount: number, toBalance: boolean): Promise<void> {
    if (this.markedBy(invoiceId) === null) return;
    const part = toBalance ? 'credit_amount' : 'out_of_band_amount';
    const form = { invoice: invoiceId, amount: String(amount), [part]: String(amount) };
    this.keep('credit_note', invoiceId, (await this.people.stripe('POST', '/v1/credit_notes', form))['id']);
  }

  /** Reports a refund on Crossbill's payment record. */
  async refund(invoiceId: string, amount: number): Promise<void> {
    const record = this.markedBy(invoiceId);
    if (record === null || record === '') return;
    const { currency } = this.people.invoice(invoiceId) ?? { currency: 'eur' };
    const reply = await this.people.stripe('POST', `/v1/payment_records/${record}/report_refund`, {
      outcome: 'refunded',
      'amount[value]': String(amount),
      'amount[currency]': currency,
      'processor_details[type]': 'custom',
      'processor_details[custom][refund_reference]': this.world.name('by_hand'),
      'refunded[refunded_at]': String(Math.floor(this.world.now / 1000)),
    });
    this.keep('refund', invoiceId, reply['id']);
  }

  /** Detaches Crossbill's payment record from the invoice. */
  async detach(invoiceId: string): Promise<void> {
    const record = this.markedBy(invoiceId);
    if (record === null || record === '') return;
    const path = `/v1/invoices/${invoiceId}/detach_payment`;
    const reply = await this.people.stripe('POST', path, { payment_record: record });
    if (typeof reply['id'] === 'string') this.keep('detached', invoiceId, record);
  }

  private keep(what: World['byHand'][number]['what'], invoiceId: string, objectId: unknown): void {
    if (typeof objectId === 'string') this.world.byHand.push({ what, invoiceId, objectId });
  }

  /** Returns the payment record of Crossbill's mark. Empty: marked out of band. Null: not marked by Crossbill. */
  private markedBy(invoiceId: string): string | null {
    const { world } = this;
    const invoice = this.people.invoice(invoiceId);
    if (invoice?.status !== 'paid' || world.paidByHand.has(invoiceId)) return null;
    const paid = invoice.payments.find((p) => p.status === 'paid' && p.record !== null);
    if (paid !== undefined) return paid.record;
    return world.settings.markMode === 'out_of_band' && invoice.paidOutOfBand > 0 ? '' : null;
  }
}

/** G11: verify must report each change by hand. Returns a line for each unreported change. */
export function unnamedManual(world: World, found: readonly Difference[]): string[] {
  return world.byHand
    .filter(({ objectId, invoiceId }) => !found.some((d) => d.objectId === objectId && d.invoiceId === invoiceId))
    .map(
      ({ what, invoiceId, objectId }) =>
        `G11: a person made ${what} ${objectId} on ${invoiceId} by hand, and verify does not name it`,
    );
}

/** True if a finding of verify is about a change by hand. */
export function isByHand(world: World, difference: Difference): boolean {
  return world.byHand.some(
    ({ objectId, invoiceId }) => difference.objectId === objectId && difference.invoiceId === invoiceId,
  );
}

/** True if a person detached Crossbill's payment from the invoice: the mark existed and is gone. */
export function wasDetached(world: World, invoice: Pick<Invoice, 'id'>): boolean {
  return world.byHand.some((h) => h.what === 'detached' && h.invoiceId === invoice.id);
}
