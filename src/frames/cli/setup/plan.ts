// Plans the steps of `crossbill setup`, from the endpoints at Stripe and at the MoR. Pure.
import { type WebhookEndpoint } from '@crossbill/mor';
import { MOR_SERVICE_TYPES } from '../../../core/mor-objects/event-rows.js';
import { stripeInvoiceTypes } from '../../../shared/domain/events/stripe-event.js';
import { type WebhookEndpointFacts } from '../../../shared/domain/ports/billing-reader.js';

export type Step =
  | {
      readonly do: 'create-stripe-endpoint' | 'create-mor-endpoint';
      readonly url: string;
      readonly events: readonly string[];
    }
  | {
      readonly do: 'add-stripe-events';
      readonly id: string;
      readonly events: readonly string[];
      readonly missing: readonly string[];
    };

/** The planned steps. `by_hand`: sentences about the steps only a person can do. */
export type Plan = { readonly steps: readonly Step[]; readonly by_hand: readonly string[] };

export type Found = {
  /** Crossbill's address, without a slash at the end. */
  readonly url: string;
  readonly stripe: readonly WebhookEndpointFacts[];
  readonly mor: readonly WebhookEndpoint[];
  /** True if this setting has a value. */
  readonly has: (name: string) => boolean;
};

export function planOf({ url, stripe, mor, has }: Found): Plan {
  const steps: Step[] = [];
  const byHand: string[] = [];
  const stripeEndpoint = `${url}/webhooks/stripe`;
  const atStripe = stripe.find((e) => isSameUrl(e.url, stripeEndpoint));
  if (atStripe === undefined)
    steps.push({ do: 'create-stripe-endpoint', url: stripeEndpoint, events: stripeInvoiceTypes });
  else {
    const { endpointId: id, events } = atStripe;
    const missing = events.includes('*') ? [] : stripeInvoiceTypes.filter((t) => !events.includes(t));
    if (missing.length > 0) steps.push({ do: 'add-stripe-events', id, events: [...events, ...missing], missing });
    if (!has('STRIPE_WEBHOOK_SECRETS'))
      byHand.push(
        `Put the signing secret of ${id} into STRIPE_WEBHOOK_SECRETS: the Dashboard shows it (Developers, Webhooks, Signing secret).`,
      );
  }
  const morEndpoint = `${url}/webhooks/mor/events`;
  const atMor = mor.find((e) => isSameUrl(e.url, morEndpoint));
  if (atMor === undefined) steps.push({ do: 'create-mor-endpoint', url: morEndpoint, events: [...MOR_SERVICE_TYPES] });
  else if (!has('MOR_EVENT_WEBHOOK_SECRETS'))
    byHand.push(
      `Put the secret of ${atMor.id} into MOR_EVENT_WEBHOOK_SECRETS. The MoR showed it once: if it is lost, delete the endpoint (\`crossbill webhooks delete ${atMor.id}\`) and run setup again.`,
    );
  if (!has('MOR_PAYMENT_WEBHOOK_SECRETS'))
    byHand.push(
      `Name ${url}/webhooks/mor/payments to the MoR as the address of its payment.* events, and put the MoR's secret into MOR_PAYMENT_WEBHOOK_SECRETS. There is no call for it.`,
    );
  if (!has('STRIPE_CUSTOM_PAYMENT_METHOD_TYPE') && !has('BILLING_MARK_MODE'))
    byHand.push(
      'Make a custom payment method type in the Stripe Dashboard (Settings, Payments, Custom payment methods, Create) and put its cpmt_… into STRIPE_CUSTOM_PAYMENT_METHOD_TYPE. Without third-party payment processing on the account, set BILLING_MARK_MODE=out_of_band instead.',
    );
  return { steps, by_hand: byHand };
}

/** Compares two addresses. Host names ignore case, and a slash at the end makes no difference. */
function isSameUrl(one: string, other: string): boolean {
  const plain = (text: string): string => (URL.canParse(text) ? new URL(text).href.replace(/\/+$/, '') : text);
  return plain(one) === plain(other);
}
