// Checks Stripe: the key, the account and its rights, our webhook endpoint, and customers with a default card there.
import Stripe from 'stripe';
import { type Config, stripeMode } from '../../../shared/config/index.js';
import { isTooOld, stripeInvoiceTypes, TOO_OLD } from '../../../shared/domain/events/stripe-event.js';
import { type BillingReader, type WebhookEndpointFacts } from '../../../shared/domain/ports/billing-reader.js';
import { said } from '../../../shared/domain/ports/call.js';
import { type StripeClient } from '../../stripe/stripe-client.js';
import { type Check, check, remedy } from './check.js';

// The events Crossbill must receive. Without them Crossbill misses renewals, or leaves payments unmarked for ever.
const INDISPENSABLE = new Set<string>(['invoice.created', 'invoice.finalized', 'invoice.voided', 'invoice.paid']);

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

function endpointCheck(endpoint: WebhookEndpointFacts): Check {
  const { ok, warn, fail } = check('webhook endpoint at Stripe');
  const at = `${endpoint.endpointId} at ${new URL(endpoint.url).host}`;
  if (!endpoint.enabled)
    return fail(`${at} is disabled`, 'Enable it in the Dashboard, then `crossbill backfill --since 3d`.');
  const version = `events of API version ${endpoint.apiVersion ?? 'as the account’s default'}`;
  if (isTooOld(endpoint.apiVersion)) return fail(`${at} sends ${version}`, `${TOO_OLD}.`);
  const missing = endpoint.events.includes('*') ? [] : stripeInvoiceTypes.filter((t) => !endpoint.events.includes(t));
  if (missing.length === 0) return ok(`${at}, ${version}`);
  const say = missing.some((t) => INDISPENSABLE.has(t)) ? fail : warn;
  return say(
    `${at} does not get ${missing.length} of the needed events`,
    `Add these events to it: ${missing.join(', ')}.`,
  );
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
