// Payment links: one for a renewal declined for good, one for a customer in Brazil, whose payment produces an
// e-invoice.
import { setTimeout as sleep } from 'node:timers/promises';
import { download, fetchDocument } from './documents.js';
import { type Business, expectInvoice, oneOffInvoice } from './one-off.js';
import { type Reading } from './read.js';
import { readSides, type Sides } from './sides.js';
import { pass, type Story } from './story.js';

const AUTHORITY_SEC = 60;
const LOOKS = 40;
const POLL_MS = 250;

const FLORES: Business = {
  name: 'Flores e Filhos',
  email: 'contas@flores.example',
  country: 'BR',
  taxIdentifier: null,
  amount: 129_900,
  currency: 'brl',
};

/** Recovers a declined renewal by a link, and fetches the e-invoice of a Brazilian payment. */
export async function driveLinks(story: Story): Promise<void> {
  const { world, progress } = story;
  progress.step('payment links');
  const declined = declinedRenewal(await readSides(world.api, world.control, world.notified));
  if (declined !== null) await payByLink(story, declined, 'GB');
  const abroad = await oneOffInvoice(story, FLORES);
  await story.rest.settled(); // wait for the MoR's failed charge: no saved card
  await payByLink(story, abroad, FLORES.country);
  await pass(world, AUTHORITY_SEC);
  await story.rest.settled();
  await fetchEInvoice(story, abroad);
  const recovered = declined === null ? '' : '1 recovered a declined renewal, ';
  progress.done(`payment links: ${recovered}1 in Brazil with its e-invoice`);
}

/** Returns the invoice of a declined renewal; null if no card was declined. */
function declinedRenewal({ stripe, mor }: Sides): string | null {
  const open = stripe.invoices.filter((i) => i.status === 'open' && i.billingReason === 'subscription_cycle');
  const declined = open.find((i) => mor.payments.filter((p) => p.invoiceId === i.id).at(-1)?.status === 'failed');
  return declined?.id ?? null;
}

/** Creates a payment link and plays the customer's payment. Throws unless the invoice is then paid by the link. */
async function payByLink(story: Story, invoiceId: string, jurisdiction: string): Promise<void> {
  const { api, control, notified: notice } = story.world;
  const body = { jurisdiction, return_url: 'https://shop.example/thanks' };
  const path = `/v1/invoices/${invoiceId}/payment-link`;
  const link = await api.post(path, body, `${story.run}-link-${invoiceId}`);
  const linkId = link.text('paymentLinkId');
  const paid = await control.post(`/_sandbox/payment-links/${linkId}/pay`, {});
  const paymentId = paid.object('payment').text('id');
  notice.links.push({ paymentId, linkId, invoiceId });
  await story.rest.settled();
  await expectInvoice(story, invoiceId, 'paid');
  const payments = (await api.get(`/v1/invoices/${invoiceId}`)).list('payments');
  const own = payments.find((p) => p.text('origin') === 'payment_link');
  if (own === undefined) throw new Error(`invoice ${invoiceId} is paid, and not by its link`);
  await fetchDocument(story, `/v1/payments/${own.text('id')}/document`);
}

/** Waits until the daemon shows an e-invoice with the invoice, then downloads the PDF. */
async function fetchEInvoice(story: Story, invoiceId: string): Promise<void> {
  const { api } = story.world;
  let known: Reading | undefined;
  for (let i = 0; known === undefined && i < LOOKS; i++) {
    [known] = (await api.get(`/v1/invoices/${invoiceId}`)).list('e_invoices');
    if (known === undefined) await sleep(POLL_MS);
  }
  if (known === undefined) throw new Error(`invoice ${invoiceId} has no e-invoice`);
  const fresh = await api.get(`/v1/e-invoices/${known.text('id')}`);
  await download(fresh.object('document').text('pdfUrl'));
  story.tally.eInvoices += 1;
}
