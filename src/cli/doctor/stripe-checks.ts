// Stripe: the key, the account, what it allows, our webhook endpoint there, and customers whom Stripe would charge as well.
import Stripe from 'stripe';
import { type Config, stripeMode } from '../../config/index.js';
import { isRenderedTooOld, isTooOld, stripeInvoiceTypes, TOO_OLD } from '../../domain/events/stripe-event.js';
import { type EnrolmentFlow } from '../../enrolment/enrolment.flow.js';
import { said } from '../../domain/ports/call.js';
import { type BillingReader, type WebhookEndpointFacts } from '../../domain/ports/billing-reader.js';
import { type VerifyStore } from '../../verify/verify.store.js';
import { VERIFY_GRACE_MS } from '../../policy.js';
import { optionalText } from '../../stripe/parse.js';
import { type StripeClient } from '../../stripe/stripe-client.js';
import { type Check, fail, ok, warn } from './check.js';

// Without these the bridge does not see renewals, or money stays held.
const INDISPENSABLE: ReadonlySet<string> = new Set([
  'invoice.created',
  'invoice.finalized',
  'invoice.voided',
  'invoice.paid',
]);
const SAMPLE = 50;
const OLD_DEFAULT = `Upgrade the account's default API version in the Dashboard (Developers, Overview). ${TOO_OLD}.`;
const ARRIVAL_DAY_MS = 86_400_000;
const OWN_CARD_SHOWN = 5;

export async function keyChecks(config: Config, reader: BillingReader): Promise<Check[]> {
  const key = config.stripeApiKey.reveal();
  const mode = stripeMode(config);
  const account = await reader.readAccount();
  const version = ok('Stripe API version', `${Stripe.API_VERSION}, pinned by this release`);
  if (!account.ok) {
    const restricted = account.status === 403 && key.startsWith('rk_');
    const todo = restricted
      ? 'Let the restricted key read the account. Without this right Crossbill parks every event that names an account, such as those of an organization’s endpoint.'
      : 'Set STRIPE_API_KEY to a valid key of the merchant’s account.';
    return [restricted ? warn('Stripe key', said(account), todo) : fail('Stripe key', said(account), todo), version];
  }
  const detail = `${mode} mode, account ${account.value.accountId}, ${account.value.country ?? 'country unknown'}`;
  if (config.production && mode === 'test')
    return [warn('Stripe key', detail, 'This is production with a test key.'), version];
  return [ok('Stripe key', detail), version];
}

/** Endpoints at Stripe whose path is our door's. */
export async function endpointChecks(reader: BillingReader): Promise<Check[]> {
  const name = 'webhook endpoint at Stripe';
  const listed = await reader.listWebhookEndpoints();
  const todo =
    'In the Dashboard: Developers, Webhooks: add https://<this daemon>/webhooks/stripe with the invoice.* events.';
  if (!listed.ok) return [warn(name, said(listed), 'Let the key read webhook endpoints, or check them by hand.')];
  const ours = listed.value.filter((e) => isDoor(e.url, '/webhooks/stripe'));
  if (ours.length === 0) return [fail(name, `none of ${listed.value.length} points at /webhooks/stripe`, todo)];
  return ours.map((e) => endpointCheck(name, e));
}

export function isDoor(url: string, door: string): boolean {
  return URL.canParse(url) && new URL(url).pathname.toLowerCase().replace(/\/+$/, '').endsWith(door);
}

function endpointCheck(name: string, e: WebhookEndpointFacts): Check {
  const at = `${e.endpointId} at ${new URL(e.url).host}`;
  if (!e.enabled)
    return fail(name, `${at} is disabled`, 'Enable it in the Dashboard, then `crossbill backfill --since 3d`.');
  if (isTooOld(e.apiVersion))
    return fail(name, `${at} sends events of API version ${e.apiVersion ?? ''}`, `${TOO_OLD}.`);
  const missing = e.events.includes('*') ? [] : stripeInvoiceTypes.filter((t) => !e.events.includes(t));
  const version = `events of API version ${e.apiVersion ?? 'as the account’s default'}`;
  if (missing.length === 0) return ok(name, `${at}, ${version}`);
  const todo = `Add these events to it: ${missing.join(', ')}.`;
  const detail = `${at} does not get ${missing.length} of the events that are used`;
  return missing.some((t) => INDISPENSABLE.has(t)) ? fail(name, detail, todo) : warn(name, detail, todo);
}

/** Whether the events that Stripe made of late are here: an endpoint with a wrong address or secret looks fine at Stripe. */
export async function arrivalChecks(reader: BillingReader, books: VerifyStore): Promise<Check[]> {
  const name = 'arrival of Stripe’s events';
  const now = Date.now();
  const createdAfter = new Date(Math.max(now - ARRIVAL_DAY_MS, (await books.installedAt()).getTime()));
  const listed = await reader.listEvents({ types: stripeInvoiceTypes, createdAfter });
  if (!listed.ok) return [warn(name, said(listed), 'Let the key read events: verify needs it too.')];
  // Stripe lists events in the account's own version, which an endpoint without a version sends as well.
  const old = listed.value.items.filter((e) => isRenderedTooOld(e.body)).length;
  if (old > 0)
    return [
      fail(
        name,
        `${old} of the newest ${listed.value.items.length} are in an API version that is too old`,
        OLD_DEFAULT,
      ),
    ];
  const due = listed.value.items.filter((e) => Math.abs(now - e.createdAt.getTime()) > VERIFY_GRACE_MS);
  const unknown = await books.unknownEvents(due.map((e) => e.eventId));
  if (unknown.size === 0)
    return [ok(name, due.length === 0 ? 'none was due in a day' : `the newest ${due.length} came`)];
  const todo =
    'See that the endpoint at Stripe points here and that its signing secret is in STRIPE_WEBHOOK_SECRETS; then `crossbill backfill --since 1d`.';
  const say = unknown.size === due.length ? fail : warn;
  return [say(name, `${unknown.size} of the newest ${due.length} did not come`, todo)];
}

/** What a read of a list does not prove: doctor changes nothing. */
const NEEDS_WRITE = 'cannot be known without a write: the first mark tells';

/** Which way of marking the account allows, asked without changing anything. */
export async function markModeChecks(config: Config, client: StripeClient): Promise<Check[]> {
  const name = 'mark mode';
  const listed = await client.read('payment_records.list', '/v1/payment_records?limit=1');
  const allowed = listed.ok && listed.value !== null;
  const mode = config.billingMarkMode;
  if (mode === 'out_of_band') {
    const unknown = `whether the key may mark invoices ${NEEDS_WRITE}`;
    if (!allowed) return [ok(name, `out_of_band; payment records are not open to this key; ${unknown}`)];
    return [ok(name, `out_of_band; payment records, which keep partial refunds linked, can be listed; ${unknown}`)];
  }
  if (!allowed) {
    const why = listed.ok ? 'payment records are not known there' : said(listed);
    const todo =
      'Ask Stripe to enable third-party payment processing and let the key write payment records, or set BILLING_MARK_MODE=out_of_band.';
    return [fail(name, `payment_record, but ${why}`, todo)];
  }
  const type = config.stripeCustomPaymentMethodType;
  const named =
    type === null
      ? warn(
          'custom payment method type',
          'not set: payments show as "Merchant of Record"',
          'Make one in the Dashboard (Settings, Custom payment methods) and set STRIPE_CUSTOM_PAYMENT_METHOD_TYPE.',
        )
      : ok('custom payment method type', type);
  return [ok(name, `payment_record; records can be listed; whether Stripe takes one of ours ${NEEDS_WRITE}`), named];
}

/**
 * Mails of Stripe with a link to pay by: the customer would pay on Stripe what the MoR charges. Stripe's own switches for them (Dashboard,
 * Settings, Billing) cannot be read, the invoices can.
 * @param isStripe false: STRIPE_API_BASE names the sandbox, which mails nobody
 */
export function invoiceMailCheck(sample: { readonly looked: number; readonly sent: number }, isStripe: boolean): Check {
  const name = 'automatic invoice mails';
  if (sample.sent > 0 && !isStripe) return ok(name, 'none: what STRIPE_API_BASE names is not Stripe');
  if (sample.sent > 0) {
    const todo =
      'Switch off mails about finalized invoices and reminders in the Dashboard (Settings, Billing, Invoices), or use charge_automatically with a custom payment method.';
    return warn(
      name,
      `${sample.sent} of the newest ${sample.looked} invoices are send_invoice: Stripe may mail them`,
      todo,
    );
  }
  return ok(
    name,
    sample.looked === 0 ? 'no invoice is known yet' : `none of the newest ${sample.looked} is send_invoice`,
  );
}

/**
 * Customers with a card of their own as the default on Stripe: Stripe charges it and the MoR charges too, an hour apart. A sample
 * of the newest customers. From who is not enrolled Stripe is meant to collect.
 */
export async function ownCardChecks(
  customers: readonly string[],
  enrolment: EnrolmentFlow,
  reader: BillingReader,
  client: StripeClient,
): Promise<Check[]> {
  const name = 'customers whom Stripe would charge as well';
  const found: string[] = [];
  let looked = 0;
  for (const id of customers.slice(0, SAMPLE)) {
    const read = await reader.readCustomer(id);
    if (!read.ok)
      return [warn(name, said(read), 'Let the key read customers, or check their default methods by hand.')];
    const customerMetadata = read.value?.metadata ?? {};
    if (!(await enrolment.isEnrolled({ customerId: id, metadata: {}, customerMetadata }))) continue;
    looked++;
    const method = read.value?.defaultPaymentMethodId ?? null;
    if (method === null) continue;
    const path = `/v1/payment_methods/${encodeURIComponent(method)}`;
    const type = method.startsWith('pm_') ? await client.read('payment_methods.retrieve', path) : null;
    if (type?.ok === false) return [warn(name, said(type), 'Let the key read payment methods, or check them by hand.')];
    // An older source is always chargeable by Stripe.
    if (type === null || optionalText(type.value?.['type']) !== 'custom') found.push(id);
  }
  if (found.length === 0)
    return [ok(name, looked === 0 ? 'no enrolled customer is known yet' : `none of ${looked} looked at`)];
  const some = found.slice(0, OWN_CARD_SHOWN).join(', ');
  const todo =
    'Remove the default method on Stripe, or make it one of type custom: otherwise both charge, an hour apart.';
  return [fail(name, `${found.length} of ${looked} looked at, for example ${some}`, todo)];
}
