// What Stripe knows of a paid invoice that a tax calculation needs: lines after discounts, the customer's address, and evidence.
import { isIP } from 'node:net';
import { type CallOutcome } from '../domain/ports/call.js';
import { type TaxBasis, TaxBasisReader } from '../domain/ports/tax.js';
import { billedInvoiceOf } from './parse-billed-invoice.js';
import { idOf, isObject, type JsonObject, minorOf, optionalText, partOf } from './parse.js';
import { notUnderstood, type StripeClient } from './stripe-client.js';

/** The metadata of a customer in which a merchant may keep the address of the last visit. */
const IP_METADATA = 'ip_address';

export class StripeTaxBasis extends TaxBasisReader {
  constructor(private readonly client: StripeClient) {
    super();
  }

  override async readTaxBasis(invoiceId: string): Promise<CallOutcome<TaxBasis | null>> {
    const path = `/v1/invoices/${encodeURIComponent(invoiceId)}`;
    const read = await this.client.read('invoices.retrieve', `${path}?expand[]=customer`);
    if (!read.ok) return read;
    if (read.value === null) return { ...read, value: null };
    const billed = billedInvoiceOf(read.value);
    if (billed === null) return notUnderstood('invoices.retrieve', read);
    const listed = await this.client.pages('invoices.list_lines', `${path}/lines?limit=100`);
    if (!listed.ok) return listed;
    const lines = listed.value.map(lineOf);
    if (lines.some((line) => line === null)) return notUnderstood('invoices.list_lines', listed);
    const { invoiceId: id, customerId, currency } = billed.invoice;
    // A credit note before the payment lowers what is sold; `total` does not show it (Stripe docs, "The Invoice object").
    const credited = minorOf(read.value['pre_payment_credit_notes_amount']) ?? 0n;
    const total = billed.invoice.total - credited;
    // `tax` of a customer holds the address of the last visit; Stripe leaves it out unless it is asked for.
    const customerPath = `/v1/customers/${encodeURIComponent(customerId)}?expand[]=tax`;
    const customer = await this.client.read('customers.retrieve', customerPath);
    if (!customer.ok) return customer;
    const value: TaxBasis = {
      invoiceId: id,
      customerId,
      currency,
      total,
      customer: billed.customer,
      ipAddress: customer.value === null ? null : ipOf(customer.value),
      lines: lines.filter((line) => line !== null),
    };
    return { ...read, value };
  }
}

function lineOf(object: unknown): TaxBasis['lines'][number] | null {
  const line = partOf(object);
  const reference = idOf(line['id']);
  const amount = minorOf(line['amount']);
  if (reference === null || amount === null) return null;
  const discounts: readonly unknown[] = Array.isArray(line['discount_amounts']) ? line['discount_amounts'] : [];
  const off = discounts.reduce<bigint>((sum, d) => sum + (minorOf(partOf(d)['amount']) ?? 0n), 0n);
  const details = partOf(partOf(line['pricing'])['price_details']);
  // Before API version 2025-03-31 the price was on the line itself.
  const productCode = idOf(details['product']) ?? idOf(partOf(line['price'])['product']);
  return { reference, productCode, description: optionalText(line['description']), amount: amount - off };
}

function ipOf(customer: JsonObject): string | null {
  const tax = isObject(customer['tax']) ? optionalText(customer['tax']['ip_address']) : null;
  const found = tax ?? optionalText(partOf(customer['metadata'])[IP_METADATA]);
  return found !== null && isIP(found) !== 0 ? found : null;
}
