// One-off invoices of business customers: created and finalized on Stripe, paid without a saved card.
import { ENROLLED } from './enrolled.js';
import { type Scene, type Story } from './story.js';

export type Business = {
  readonly name: string;
  readonly email: string;
  readonly country: keyof typeof ADDRESSES;
  readonly taxIdentifier: { readonly type: string; readonly code: string; readonly country: string } | null;
  /** In the currency's smallest unit. */
  readonly amount: number;
  /** ISO 4217, lower case. */
  readonly currency: string;
};

/** Invented addresses in the countries where the sandbox's merchant sells through the MoR. */
export const ADDRESSES = {
  DE: { line1: 'Lindenallee 7', city: 'Berlin', postalCode: '10115' },
  GB: { line1: '1 High Street', city: 'London', postalCode: 'N1 1AA' },
  BR: { line1: 'Rua das Flores 12', city: 'Curitiba', postalCode: '80010-000' },
} as const;

/** Creates an open invoice. The MoR tries to charge it and reports a failure: the customer has no saved method. */
export async function oneOffInvoice(story: Scene, who: Business): Promise<string> {
  const { stripe } = story.world;
  const { line1, city, postalCode } = ADDRESSES[who.country];
  const customer = await stripe.customers.create({
    name: who.name,
    email: who.email,
    metadata: ENROLLED,
    address: { line1, city, postal_code: postalCode, country: who.country },
  });
  await stripe.invoiceItems.create({
    customer: customer.id,
    amount: who.amount,
    currency: who.currency,
    description: 'A year of Studio, paid at once',
  });
  const draft = await stripe.invoices.create({
    customer: customer.id,
    currency: who.currency,
    collection_method: 'send_invoice',
    days_until_due: 30,
    auto_advance: false,
    pending_invoice_items_behavior: 'include',
  });
  const open = await stripe.invoices.finalizeInvoice(draft.id ?? '', { auto_advance: false });
  return open.id ?? '';
}

/** Throws unless the daemon shows the invoice in this status. */
export async function expectInvoice(story: Story, invoiceId: string, status: string): Promise<void> {
  const invoice = await story.world.api.get(`/v1/invoices/${invoiceId}`);
  const is = invoice.text('status');
  if (is === status) return;
  const open = invoice.list('reviews').filter((r) => r.text('status') === 'open');
  const why = open.map((r) => `; ${r.text('kind')}: ${r.text('summary')}`).join('');
  throw new Error(`invoice ${invoiceId}: ${is} at the daemon, not ${status}${why}`);
}
