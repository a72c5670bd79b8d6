// The sandbox as one object: the MoR and the part of Stripe that Crossbill uses, on two ports, with one state.
import { addBackend } from './backend.js';
import { type ClockOptions } from './kernel/clock.js';
import { type Transport } from './kernel/deliveries.js';
import { Kernel } from './kernel/kernel.js';
import { type RunningServer, listen } from './kernel/server.js';
import { type Cards, addCards } from './mor/cards.js';
import { publishableKeyOf } from './mor/confirm-script.js';
import { morPlugins } from './mor/plugins.js';
import { MorState } from './mor/state.js';
import { addTokens } from './mor/tokens.js';
import { amountRemaining } from './stripe/model.js';
import { type StripeSide, addStripe } from './stripe/stripe.js';

export type SandboxOptions = {
  readonly seed?: string | undefined;
  readonly host?: string | undefined; // default: 127.0.0.1
  readonly morPort?: number; // 0 chooses a free one
  readonly stripePort?: number;
  readonly psp?: string | undefined; // default: cardpsp
  /** The URL for Stripe's events from the start. Null or left out: no URL until a request registers an endpoint. */
  readonly stripeWebhookUrl?: string | null;
  readonly paymentWebhookUrl?: string | null;
  /** An endpoint of Document 2, registered for every event type at the start. */
  readonly eventWebhookUrl?: string | null;
  /** Replies to the documents' open questions from the start, as in `POST /_sandbox/mor/open-facts`. */
  readonly openFacts?: Readonly<Record<string, string>> | undefined;
  /** False: the MoR has no endpoint at Stripe, and hears only the merchant's relay. Default: true. */
  readonly direct?: boolean;
  /** Hours between a draft and its finalization, 1 to 72. Default: 1. */
  readonly graceHours?: number | undefined;
  /** A webhook endpoint without a success for so many hours is disabled. Default: no sender disables endpoints. */
  readonly disableAfterHours?: number | undefined;
  /** True: refuses webhook endpoints on loopback and over plain http, as the documents require. */
  readonly strictUrls?: boolean;
  readonly clock?: ClockOptions;
  readonly transport?: Transport;
};

/** Credentials and secrets. They depend only on the seed, so a restart keeps them. */
export type SandboxSecrets = {
  readonly stripeApiKey: string;
  readonly stripeWebhookSecret: string;
  readonly paymentWebhookSecret: string;
  readonly eventWebhookSecret: string;
  readonly relaySecret: string;
  /** The secret of the merchant's backend, for `NOTIFY_SECRETS`. */
  readonly notifySecret: string;
  readonly merchant: { readonly clientId: string; readonly clientSecret: string };
  readonly partner: { readonly clientId: string; readonly clientSecret: string };
};

/** The sandbox without sockets: `kernel.handle(side, request)` handles requests. */
export type SandboxCore = {
  readonly kernel: Kernel;
  readonly mor: MorState;
  readonly cards: Cards;
  readonly stripe: StripeSide;
  readonly secrets: SandboxSecrets;
  /** The publishable key of the processor's account, for the shopper's browser. */
  readonly publishableKey: string;
};

export type Sandbox = SandboxCore & {
  readonly morUrl: string;
  readonly stripeUrl: string;
  close(): Promise<void>;
};

const DEFAULT_SEED = 'crossbill';

/** Creates state and routes; opens no port. */
export function makeSandbox(options: SandboxOptions = {}): SandboxCore {
  const kernel = new Kernel({
    seed: options.seed ?? DEFAULT_SEED,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.transport === undefined ? {} : { transport: options.transport }),
  });
  const mor = new MorState(kernel, options.psp ?? 'cardpsp');
  mor.strictUrls = options.strictUrls ?? false;
  mor.openFacts.choose({ ...options.openFacts });
  kernel.deliverer.failing.set(options.disableAfterHours ?? null);
  const stripe = addStripe(kernel);
  stripe.billing.graceSec = (options.graceHours ?? 1) * 3600;
  mor.presentAmount = (id) => {
    const invoice = stripe.state.invoices.get(id);
    if (invoice === undefined) return null;
    return invoice.status === 'draft' || invoice.status === 'open' ? amountRemaining(invoice) : 0;
  };
  const secrets: SandboxSecrets = {
    stripeApiKey: stripe.state.apiKey,
    stripeWebhookSecret: kernel.secret('stripe-webhook', 'whsec_'),
    paymentWebhookSecret: kernel.secret('payment-webhook', 'whsec_'),
    eventWebhookSecret: kernel.secret('event-webhook', 'whsec_'),
    relaySecret: kernel.secret('relay', 'whsec_'),
    notifySecret: `whsec_${Buffer.from(kernel.secret('notify')).toString('base64')}`,
    merchant: mor.merchantCredentials,
    partner: mor.partnerCredentials,
  };
  addTokens(kernel, mor);
  addBackend(kernel, secrets.notifySecret);
  const cards = addCards(kernel, mor, secrets.relaySecret, options.direct);
  for (const register of morPlugins) register(kernel, mor);
  stripe.state.listeners.push(cards.hearStripe);
  const { stripeWebhookUrl, paymentWebhookUrl, eventWebhookUrl } = options;
  if (stripeWebhookUrl) stripe.state.addEndpoint(stripeWebhookUrl, secrets.stripeWebhookSecret);
  if (paymentWebhookUrl) cards.events.sendTo(paymentWebhookUrl, secrets.paymentWebhookSecret);
  if (eventWebhookUrl) mor.registerEventWebhook(eventWebhookUrl);
  return { kernel, mor, cards, stripe, secrets, publishableKey: publishableKeyOf(kernel) };
}

/** Opens both ports. If another program has one, closes everything and rejects. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const core = makeSandbox(options);
  const host = options.host ?? '127.0.0.1';
  const servers: RunningServer[] = [];
  const close = async (): Promise<void> => {
    core.kernel.clock.close();
    await Promise.all(servers.map((server) => server.close()));
    await core.kernel.deliverer.close();
  };
  try {
    const mor = await listen(core.kernel, 'mor', options.morPort ?? 0, host);
    servers.push(mor);
    const stripe = await listen(core.kernel, 'stripe', options.stripePort ?? 0, host);
    servers.push(stripe);
    core.mor.baseUrl = mor.url;
    return { ...core, morUrl: mor.url, stripeUrl: stripe.url, close };
  } catch (error) {
    await close();
    throw error;
  }
}
