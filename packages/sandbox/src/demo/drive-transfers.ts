// Customers who pay by bank transfer: open invoices get proforma invoices, and transfers arrive in full and in part.
import { decimalFromMinor } from '../kernel/money.js';
import { fetchDocument } from './documents.js';
import { oneOffInvoice, type Business, expectInvoice } from './one-off.js';
import { openReviews, resolve } from './operator.js';
import { pass, type Story } from './story.js';

const ISSUED_WITHIN_SEC = 60;
const DUE_IN_MS = 30 * 86_400_000;

const NORTH: Business = {
  name: 'Northgate Press Ltd',
  email: 'accounts@northgate.example',
  country: 'GB',
  taxIdentifier: { type: 'GB_VAT', code: 'GB123456789', country: 'GB' },
  amount: 48_000,
  currency: 'gbp',
};
const WERFT: Business = {
  name: 'Alte Werft GmbH',
  email: 'buchhaltung@alte-werft.example',
  country: 'DE',
  taxIdentifier: { type: 'EU_VAT', code: 'DE123456789', country: 'DE' },
  amount: 90_000,
  currency: 'eur',
};

type Asked = { readonly from: Business; readonly invoiceId: string; readonly proformaId: string };

/** Plays a full transfer and a partial transfer. An operator applies the partial one, and its invoice stays open. */
export async function driveTransfers(story: Story): Promise<void> {
  const { progress, rest: remaining } = story;
  progress.step('bank transfers: proforma invoices are issued');
  const asked = [await ask(story, NORTH), await ask(story, WERFT)];
  await pass(story.world, ISSUED_WITHIN_SEC);
  await remaining.settled();
  for (const a of asked) await checkIssued(story, a);
  progress.step('bank transfers: money arrives');
  const [full, part] = asked;
  if (full === undefined || part === undefined) return;
  await arrive(story, full, full.from.amount);
  await arrive(story, part, part.from.amount / 3);
  await remaining.settled();
  await expectInvoice(story, full.invoiceId, 'paid');
  const items = (await openReviews(story, 'partial_transfer')).filter(
    (r) => r.textOrNull('invoice_id') === part.invoiceId,
  );
  for (const item of items) await resolve(story, item, 'apply', 'the rest is collected next month');
  await remaining.settled();
  await expectInvoice(story, part.invoiceId, 'open');
  const applied = `1 in part, applied by an operator (${items.length} review item)`;
  progress.done(`2 bank transfers: 1 in full and its invoice paid, ${applied}`);
}

/** Creates the invoice on Stripe, then its proforma invoice. */
async function ask(story: Story, from: Business): Promise<Asked> {
  const invoiceId = await oneOffInvoice(story, from);
  const body = {
    jurisdiction: from.country,
    due_date: new Date(Date.now() + DUE_IN_MS).toISOString().slice(0, 10),
    recipient: { taxIdentifiers: [from.taxIdentifier] },
  };
  const path = `/v1/invoices/${invoiceId}/proforma`;
  const made = await story.world.api.post(path, body, `${story.run}-proforma-${invoiceId}`);
  return { from, invoiceId, proformaId: made.text('id') };
}

async function checkIssued(story: Story, { invoiceId }: Asked): Promise<void> {
  const path = `/v1/invoices/${invoiceId}/proforma`;
  const status = (await story.world.api.get(path)).text('status');
  if (status !== 'ISSUED') throw new Error(`GET ${path}: ${status}, not ISSUED`);
  await fetchDocument(story, `${path}/document`);
}

/** @param amount in the currency's smallest unit */
async function arrive(story: Story, asked: Asked, amount: number): Promise<void> {
  const { control, notified: notice } = story.world;
  const { currency } = asked.from;
  const decimal = decimalFromMinor(BigInt(amount), currency.toUpperCase());
  await control.post(`/_sandbox/proformas/${asked.proformaId}/settle`, { amount: decimal });
  notice.transfers.push({ proformaId: asked.proformaId, invoiceId: asked.invoiceId, amount, currency });
}
