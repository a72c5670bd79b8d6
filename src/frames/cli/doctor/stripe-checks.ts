// Checks Stripe: the key, the account and its rights, our webhook endpoint, and customers with a default card there.
import Stripe from 'stripe';
import { type Config, stripeMode } from '../../../shared/config/index.js';
import { isRenderedTooOld, isTooOld, stripeInvoiceTypes, TOO_OLD } from '../../../shared/domain/events/stripe-event.js';
import { type BillingReader, type WebhookEndpointFacts } from '../../../shared/domain/ports/billing-reader.js';
import { said } from '../../../shared/domain/ports/call.js';
import { type EnrolmentFlow } from '../../../features/enrolment/enrolment.flow.js';
import { DAY_MS, VERIFY_GRACE_MS } from '../../../shared/policy.js';
import { textOf } from '@crossbill/mor/read.js';
import { type StripeClient } from '../../stripe/stripe-client.js';
import { type VerifyStore } from '../../../features/verify/verify.store.js';
import { type Check, check, remedy } from './check.js';

// The events Crossbill must receive. Without them Crossbill misses renewals, or leaves payments unmarked for ever.
const INDISPENSABLE = new Set<string>(['invoice.created', 'invoice.finalized', 'invoice.voided', 'invoice.paid']);
const OLD_DEFAULT = `Upgrade the account's default API version in the Dashboard (Developers, Overview). ${TOO_OLD}.`;
const OWN_CARD_SHOWN = 5;

export async function keyChecks(config: Config, reader: BillingReader): Promise<Check[]> {
  const { ok, warn, fail } = check('Stripe key');
  const account = await reader.readAccount();
  const version = check('Stripe API version').ok(`${Stripe.API_VERSION}, pinned by this release`);
  if (!account.ok) {
    const right =
      'Let the restricted key read the account. Without this right Crossbill parks every event naming an account, such as the events of an organization’s endpoint.';
    const isRestricted = account.status === 403 && config.stripeApiKey.reveal().startsWith('rk_');
    if (isRestricted) return [warn(said(account), right), version];
    const todo = 'Set STRIPE_API_KEY to a valid key of the merchant’s account.';
    return [fail(said(account), remedy('Stripe', account, todo)), version];
  }
  const mode = stripeMode(config);
  const detail = `${mode} mode, account ${account.value.accountId}, ${account.value.country ?? 'country unknown'}`;
  const isMixUp = config.production && mode === 'test';
  return [isMixUp ? warn(detail, 'A test key in production: for real money set a live key.') : ok(detail), version];
}

export function isEndpoint(url: string, endpoint: string): boolean {
  return URL.canParse(url) && new URL(url).pathname.toLowerCase().replace(/\/+$/, '').endsWith(endpoint);
}

export async function endpointChecks(reader: BillingReader): Promise<Check[]> {
  const { warn, fail } = check('webhook endpoint at Stripe');
  const listed = await reader.listWebhookEndpoints();
  if (!listed.ok)
    return [
      warn(said(listed), remedy('Stripe', listed, 'Let the Stripe key read webhook endpoints, or check them by hand.')),
    ];
  const ours = listed.value.filter((e) => isEndpoint(e.url, '/webhooks/stripe'));
  const todo =
    'Add https://<this daemon>/webhooks/stripe with the invoice.* events in the Dashboard (Developers, Webhooks).';
  if (ours.length === 0) return [fail(`none of ${listed.value.length} points at /webhooks/stripe`, todo)];
  return ours.map(endpointCheck);
}

function endpointCheck(e: WebhookEndpointFacts): Check {
  const { ok, warn, fail } = check('webhook endpoint at Stripe');
  const at = `${e.endpointId} at ${new URL(e.url).host}`;
  if (!e.enabled) return fail(`${at} is disabled`, 'Enable it in the Dashboard, then `crossbill backfill --since 3d`.');
  const version = `events of API version ${e.apiVersion ?? 'as the account’s default'}`;
  if (isTooOld(e.apiVersion)) return fail(`${at} sends ${version}`, `${TOO_OLD}.`);
  const missing = e.events.includes('*') ? [] : stripeInvoiceTypes.filter((t) => !e.events.includes(t));
  if (missing.length === 0) return ok(`${at}, ${version}`);
  const say = missing.some((t) => INDISPENSABLE.has(t)) ? fail : warn;
  return say(
    `${at} does not get ${missing.length} of the needed events`,
    `Add these events to it: ${missing.join(', ')}.`,
  );
}

/**
 * Compares Stripe's events of the last day with the inbox, because at Stripe an endpoint with a wrong address or secret
 * looks fine.
 */
export async function arrivalChecks(reader: BillingReader, books: VerifyStore): Promise<Check[]> {
  const { ok, warn, fail } = check('arrival of Stripe’s events');
  const now = Date.now();
  const createdAfter = new Date(Math.max(now - DAY_MS, (await books.installedAt()).getTime()));
  const listed = await reader.listEvents({ types: stripeInvoiceTypes, createdAfter });
  if (!listed.ok)
    return [
      warn(
        said(listed),
        remedy('Stripe', listed, 'Let the Stripe key read events: `crossbill verify` needs them too.'),
      ),
    ];
  const { items } = listed.value;
  // Stripe renders listed events in the account's default API version. An endpoint without a version of its own gets
  // its deliveries in the same version. So a listed event can show deliveries of too old a version.
  const old = items.filter((e) => isRenderedTooOld(e.body)).length;
  if (old > 0) return [fail(`${old} of the newest ${items.length} have too old an API version`, OLD_DEFAULT)];
  const due = items.filter((e) => Math.abs(now - e.createdAt.getTime()) > VERIFY_GRACE_MS);
  const unknown = await books.unknownEvents(due.map((e) => e.eventId));
  if (unknown.size === 0) return [ok(due.length === 0 ? 'no event was due in a day' : `the newest ${due.length} came`)];
  const todo =
    'Check the address of the endpoint at Stripe, and its signing secret in STRIPE_WEBHOOK_SECRETS. Then run `crossbill backfill --since 1d`.';
  const say = unknown.size === due.length ? fail : warn;
  return [say(`${unknown.size} of the newest ${due.length} did not come`, todo)];
}

/** Doctor writes nothing, so it can't test the right to write. */
const NEEDS_WRITE = 'is untested: the first mark proves it';

export async function markModeChecks(config: Config, client: StripeClient): Promise<Check[]> {
  const { ok, fail } = check('mark mode');
  const listed = await client.read('payment_records.list', '/v1/payment_records?limit=1');
  const allowed = listed.ok && listed.value !== null;
  if (config.billingMarkMode === 'out_of_band') {
    const records = allowed ? 'can be listed (they keep partial refunds linked)' : 'are closed to this key';
    return [ok(`out_of_band; payment records ${records}; the right to mark invoices ${NEEDS_WRITE}`)];
  }
  if (!allowed) {
    const todo =
      'Ask Stripe to enable third-party payment processing, and let the Stripe key write payment records. Or set BILLING_MARK_MODE=out_of_band.';
    if (listed.ok) return [fail('payment_record, but Stripe knows no payment records', todo)];
    return [fail(`payment_record, but ${said(listed)}`, remedy('Stripe', listed, todo))];
  }
  const type = config.stripeCustomPaymentMethodType;
  const named = check('custom payment method type');
  return [
    ok(`payment_record; records can be listed; the right to write them ${NEEDS_WRITE}`),
    type !== null
      ? named.ok(type)
      : named.warn(
          'not set: payments show as "Merchant of Record"',
          'Make one in the Dashboard (Settings, Custom payment methods) and set STRIPE_CUSTOM_PAYMENT_METHOD_TYPE.',
        ),
  ];
}

/**
 * Warns about `send_invoice` invoices: Stripe may e-mail them with a link to pay, so the customer could pay twice, at
 * Stripe and at the MoR. Stripe's switches for these e-mails (Dashboard, Settings, Billing) have no API, so Crossbill
 * looks at the invoices.
 * @param isStripe false: STRIPE_API_BASE names the sandbox, and the sandbox sends no e-mail
 */
export function invoiceMailCheck(sample: { readonly looked: number; readonly sent: number }, isStripe: boolean): Check {
  const { ok, warn } = check('automatic invoice mails');
  const { sent, looked } = sample;
  if (sent === 0) return ok(looked === 0 ? 'no invoice is known yet' : `none of the newest ${looked} is send_invoice`);
  if (!isStripe) return ok('none: STRIPE_API_BASE is not Stripe');
  const todo =
    'Switch off mails about finalized invoices and reminders in the Dashboard (Settings, Billing, Invoices), or use charge_automatically with a custom payment method.';
  return warn(`${sent} of the newest ${looked} invoices are send_invoice: Stripe may mail a link to pay`, todo);
}

/**
 * Finds enrolled customers with a default card at Stripe: Stripe and the MoR would both charge the customer, an hour
 * apart. Leaves out a customer whose subscriptions have all ended, or are all Stripe's (`crossbill move --back`).
 */
export async function ownCardChecks(
  customers: readonly string[],
  enrolment: EnrolmentFlow,
  reader: BillingReader,
  client: StripeClient,
): Promise<Check[]> {
  const { ok, warn, fail } = check('customers whom Stripe would charge as well');
  const found: string[] = [];
  let looked = 0;
  for (const id of customers) {
    const read = await reader.readCustomer(id);
    if (!read.ok)
      return [
        warn(
          said(read),
          remedy('Stripe', read, 'Let the Stripe key read customers, or check default methods by hand.'),
        ),
      ];
    const customerMetadata = read.value?.metadata ?? {};
    if (!(await enrolment.isEnrolled({ customerId: id, metadata: {}, customerMetadata }))) continue;
    looked++;
    const method = read.value?.defaultPaymentMethodId ?? null;
    if (method === null) continue;
    const path = `/v1/payment_methods/${encodeURIComponent(method)}`;
    const type = method.startsWith('pm_') ? await client.read('payment_methods.retrieve', path) : null;
    if (type?.ok === false)
      return [warn(said(type), remedy('Stripe', type, 'Let the Stripe key read payment methods, or check by hand.'))];
    // An id without `pm_` belongs to Stripe's older payment methods (sources and cards). Stripe can charge all of them.
    if (type !== null && textOf(type.value?.['type']) === 'custom') continue;
    const theirs = await reader.subscriptionsOf(id);
    if (!theirs.ok)
      return [warn(said(theirs), remedy('Stripe', theirs, 'Let the Stripe key read subscriptions, or check by hand.'))];
    const { items } = theirs.value;
    const shared = await Promise.all(items.map((s) => enrolment.expectsMor(s)));
    if (items.length === 0 || shared.includes(true)) found.push(id);
  }
  if (found.length === 0)
    return [ok(looked === 0 ? 'no enrolled customer is known yet' : `none of ${looked} enrolled customers`)];
  const some = found.slice(0, OWN_CARD_SHOWN).join(', ');
  const todo =
    'Remove the default method on Stripe, or make it custom. Otherwise Stripe and the MoR both charge, an hour apart.';
  return [fail(`${found.length} of ${looked} enrolled customers, for example ${some}`, todo)];
}
