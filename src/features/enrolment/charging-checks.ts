// Walks the subscriptions of enrolled customers. Finds payment methods at Stripe: Stripe would charge the customer as
// well as the MoR. Finds metered prices: the MoR would charge an amount that is not final.
import { type BillingReader, isChargeable, type SubscriptionFacts } from '../../shared/domain/ports/billing-reader.js';
import { type Config } from '../../shared/config/index.js';
import { said } from '../../shared/domain/ports/call.js';
import { type ChargeLookupsRepository } from './charge-lookups.repository.js';
import { type EnrolmentService } from './enrolment.service.js';
import { type Check, check, remedy } from '../../frames/cli/doctor/check.js';

const SHOWN = 20;
/** The most subscriptions in the JSON report. */
const KEPT = 10_000;

export type ChargedSubscription = {
  readonly subscription_id: string;
  readonly customer_id: string;
  readonly method: string;
  readonly type: string | null;
  readonly from: string;
};

/** The setting of MOR_RELAY_EVENTS. Null: the MoR gets its events from Stripe alone. */
type RelayEvents = Config['morRelayEvents'] | null;

export type Walk = {
  readonly relay: RelayEvents;
  readonly reader: BillingReader;
  readonly enrolment: EnrolmentService;
  readonly lookups: ChargeLookupsRepository;
  /** True: reads every subscription. False: reads the newest hundred in one request. */
  readonly all: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (looked: number) => void;
};

/**
 * Asks Stripe for each subscription which payment method Stripe would charge, and stores the reply. For a day
 * (`CHARGE_POLL_GOOD_MS`) the daemon does not ask again.
 */
export async function chargingChecks(
  walk: Walk,
): Promise<{ checks: readonly Check[]; charged: readonly ChargedSubscription[] }> {
  const { warn } = check('subscriptions that Stripe would charge as well');
  const { reader, enrolment, lookups, all, signal, onProgress, relay } = walk;
  const charged: ChargedSubscription[] = [];
  const usageBased: string[] = [];
  const count = { looked: 0, enrolled: 0, charged: 0, unreadable: 0 };
  let at: string | null = null;
  do {
    const page: Awaited<ReturnType<BillingReader['listSubscriptions']>> = await reader.listSubscriptions(at);
    if (!page.ok) {
      const why = `${said(page)}${count.looked === 0 ? '' : `, after ${count.looked} subscriptions`}`;
      const todo =
        'Let the Stripe key read subscriptions, customers and payment methods. Crossbill checks each renewal before Stripe charges it.';
      return { checks: [warn(why, remedy('Stripe', page, todo))], charged };
    }
    const { items, unreadable, next } = page.value;
    await lookups.keep(items.map((s) => ({ key: s.subscriptionId, charged: s.charged })));
    for (const s of items) {
      if (!(await enrolment.expectsMor(s))) continue;
      count.enrolled++;
      if (s.usageBased) usageBased.push(s.subscriptionId);
      const found = riskOf(s);
      if (found !== null && ++count.charged <= KEPT) charged.push(found);
    }
    count.unreadable += unreadable.length;
    onProgress((count.looked += items.length));
    at = next;
  } while (all && at !== null && !signal.aborted);
  return { checks: [checkOf(count, charged, at === null), usageCheck(usageBased, relay)], charged };
}

function riskOf(subscription: SubscriptionFacts): ChargedSubscription | null {
  if (subscription.collectionMethod === 'send_invoice' || !isChargeable(subscription.charged)) return null;
  const { id: method, type, from } = subscription.charged;
  return { subscription_id: subscription.subscriptionId, customer_id: subscription.customerId, method, type, from };
}

/** Stripe adds usage to a renewal's draft until it is final. The first charge must wait for the final amount. */
function usageCheck(subscriptions: readonly string[], relay: RelayEvents): Check {
  const { ok, warn } = check('amounts that are final when the MoR charges');
  const [first] = subscriptions;
  if (first === undefined) return ok('no metered price among these subscriptions');
  const found = `${subscriptions.length} of these subscriptions bill by usage, such as ${first}`;
  if (relay === 'finalized') return ok(`${found}; the MoR gets final invoices`);
  const todo =
    relay === 'created'
      ? 'Set MOR_RELAY_EVENTS=finalized: the MoR then gets each invoice with its final amount.'
      : "Set MOR_RELAY_URL and MOR_RELAY_EVENTS=finalized, and remove the MoR's own endpoint at Stripe. Or ask the MoR whether it charges the final amount.";
  return warn(`${found}, and the MoR charges the amount of the draft`, todo);
}

type Count = Readonly<Record<'looked' | 'enrolled' | 'charged' | 'unreadable', number>>;

function checkOf(count: Count, charged: readonly ChargedSubscription[], isAll: boolean): Check {
  const { ok, fail } = check('subscriptions that Stripe would charge as well');
  const which = isAll
    ? 'enrolled subscriptions'
    : `enrolled among the newest ${count.looked} subscriptions (for all: \`crossbill doctor --all\`)`;
  const odd = count.unreadable === 0 ? '' : ` (${count.unreadable} more unreadable)`;
  const looked = `${count.enrolled} ${which}${odd}`;
  if (count.charged === 0) return ok(count.looked === 0 ? 'there is none' : `none of ${looked}`);
  const some = charged
    .slice(0, SHOWN)
    .map((c) => `${c.subscription_id} of ${c.customer_id} (${c.type ?? 'method'} ${c.method}, ${c.from} default)`);
  const more = count.charged > some.length ? `, and ${count.charged - some.length} more` : '';
  const todo =
    'Make a custom payment method the default of each of these subscriptions, or set auto_advance=false on their invoices. Otherwise Stripe and the MoR both charge, an hour apart.';
  return fail(`${count.charged} of ${looked}: ${some.join(', ')}${more}`, todo);
}
