// What `crossbill setup` would do, from what stands at Stripe and at the MoR. Pure: looking and doing are elsewhere.
import { type WebhookEndpoint } from '@crossbill/mor';
import { type WebhookEndpointFacts } from '../../domain/ports/billing-reader.js';

export type Step =
  | { readonly do: 'create-stripe-endpoint'; readonly url: string; readonly events: readonly string[] }
  | {
      readonly do: 'add-stripe-events';
      readonly id: string;
      readonly events: readonly string[];
      readonly missing: readonly string[];
    }
  | { readonly do: 'create-mor-endpoint'; readonly url: string; readonly events: readonly string[] };

export type Plan = {
  readonly steps: readonly Step[];
  /** What is right already. */
  readonly stands: readonly string[];
  /** What only a person can do, each with what to do. */
  readonly byHand: readonly string[];
};

export type Found = {
  /** Where Crossbill is reached, without a slash at the end. */
  readonly url: string;
  readonly stripe: readonly WebhookEndpointFacts[];
  readonly mor: readonly WebhookEndpoint[];
  readonly stripeEvents: readonly string[];
  readonly morEvents: readonly string[];
  readonly apiVersion: string;
  /** Settings that have a value. */
  readonly has: (name: string) => boolean;
};

export function planOf(found: Found): Plan {
  const parts = [stripeEndpoint(found), morEndpoint(found)];
  return {
    steps: parts.flatMap((p) => p.steps ?? []),
    stands: parts.flatMap((p) => p.stands ?? []),
    byHand: [...parts.flatMap((p) => p.byHand ?? []), ...settingsByHand(found)],
  };
}

function stripeEndpoint({ url, stripe, stripeEvents, apiVersion, has }: Found): Partial<Plan> {
  const door = `${url}/webhooks/stripe`;
  const ours = stripe.find((e) => sameUrl(e.url, door));
  if (ours === undefined) return { steps: [{ do: 'create-stripe-endpoint', url: door, events: stripeEvents }] };
  const at = `Stripe's webhook endpoint ${ours.endpointId}`;
  const missing = ours.events.includes('*') ? [] : stripeEvents.filter((t) => !ours.events.includes(t));
  const byHand = [
    ...(ours.enabled ? [] : [`${at} is disabled: enable it in the Dashboard (Developers, Webhooks).`]),
    ...(ours.apiVersion === apiVersion
      ? []
      : [
          `${at} sends events of API version ${ours.apiVersion ?? 'of the account'}, and this release is made for ${apiVersion}. They are understood; an endpoint's version cannot be changed, so for the pinned one delete it in the Dashboard, empty STRIPE_WEBHOOK_SECRETS and run setup again.`,
        ]),
    ...(has('STRIPE_WEBHOOK_SECRETS')
      ? []
      : [
          `Put the signing secret of ${ours.endpointId} into STRIPE_WEBHOOK_SECRETS: Stripe gives it once, and shows it in the Dashboard (Developers, Webhooks, Signing secret).`,
        ]),
  ];
  if (missing.length === 0) return { stands: [`${at} is there, with every event that is used.`], byHand };
  return {
    steps: [{ do: 'add-stripe-events', id: ours.endpointId, events: [...ours.events, ...missing], missing }],
    byHand,
  };
}

function morEndpoint({ url, mor, morEvents, has }: Found): Partial<Plan> {
  const door = `${url}/webhooks/mor/events`;
  const ours = mor.find((e) => sameUrl(e.url, door));
  if (ours === undefined) return { steps: [{ do: 'create-mor-endpoint', url: door, events: morEvents }] };
  const again = `delete it (\`crossbill webhooks delete ${ours.id}\`) and run setup again`;
  const missing = morEvents.filter((t) => !ours.events.includes(t));
  const byHand = [
    ...(ours.status === 'ACTIVE'
      ? []
      : [
          `The MoR's webhook endpoint ${ours.id} is ${ours.status === 'DISABLED' ? 'disabled' : ours.status}: ${again}.`,
        ]),
    ...(missing.length === 0
      ? []
      : [`The MoR's webhook endpoint ${ours.id} does not get ${missing.join(', ')}: ${again}.`]),
    ...(has('MOR_EVENT_WEBHOOK_SECRETS')
      ? []
      : [
          `MOR_EVENT_WEBHOOK_SECRETS is not set, and the secret of ${ours.id} was shown once, when it was made: put it there, or ${again}.`,
        ]),
  ];
  if (byHand.length > 0) return { byHand };
  return { stands: [`The MoR's webhook endpoint ${ours.id} is there, with every event that is used.`] };
}

function settingsByHand({ url, has }: Found): string[] {
  return [
    ...(has('MOR_PAYMENT_WEBHOOK_SECRETS')
      ? []
      : [
          `Name ${url}/webhooks/mor/payments to the MoR as the address of its payment.* events, and put the secret that it gives into MOR_PAYMENT_WEBHOOK_SECRETS. There is no call for it.`,
        ]),
    ...(has('STRIPE_CUSTOM_PAYMENT_METHOD_TYPE') || has('BILLING_MARK_MODE')
      ? []
      : [
          'Make a custom payment method type in the Stripe Dashboard (Settings, Payments, Custom payment methods, Create) and put its cpmt_… into STRIPE_CUSTOM_PAYMENT_METHOD_TYPE. Stripe has no call for it. Without third-party payment processing on the account, set BILLING_MARK_MODE=out_of_band instead.',
        ]),
  ];
}

/** Host names have no case, and a slash at the end makes no other address. */
function sameUrl(a: string, b: string): boolean {
  const plain = (text: string): string => (URL.canParse(text) ? new URL(text).href.replace(/\/+$/, '') : text);
  return plain(a) === plain(b);
}
