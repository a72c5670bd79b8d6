// Subscriptions of enrolled customers that Stripe would charge by itself, beside the MoR: the newest hundred, or all of them.
import { type BillingReader, type SubscriptionFacts } from '../../domain/ports/billing-reader.js';
import { type ChargeLooksStore } from '../../enrolment/charge-looks.store.js';
import { isChargeable } from '../../domain/ports/billing-reader.js';
import { type EnrolmentFlow } from '../../enrolment/enrolment.flow.js';
import { type Check, fail, ok, warn } from './check.js';

const SHOWN = 20;
/** As many as are listed in the answer for scripts. */
const KEPT = 10_000;

export type ChargedSubscription = {
  readonly subscription_id: string;
  readonly customer_id: string;
  readonly method: string;
  readonly type: string | null;
  readonly from: string;
};

export type Walk = {
  readonly reader: BillingReader;
  readonly enrolment: EnrolmentFlow;
  readonly looks: ChargeLooksStore;
  /** False: one request, for the newest hundred. */
  readonly all: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (looked: number) => void;
};

/** What is seen is kept, so that the invoices of the next day need no look of their own. */
export async function chargingChecks(walk: Walk): Promise<{ check: Check; charged: readonly ChargedSubscription[] }> {
  const name = 'subscriptions that Stripe would charge as well';
  const { reader, enrolment, looks, all, signal, onProgress } = walk;
  const charged: ChargedSubscription[] = [];
  const count = { looked: 0, enrolled: 0, charged: 0, unreadable: 0 };
  let at: string | null = null;
  do {
    const page: Awaited<ReturnType<BillingReader['listSubscriptions']>> = await reader.listSubscriptions(at);
    if (!page.ok) {
      const why = `${page.status ?? 'no answer'} ${page.message}`;
      const todo =
        'Let the key read subscriptions, customers and payment methods: each renewal is looked at before Stripe charges it.';
      return { check: warn(name, count.looked === 0 ? why : `${why}, after ${count.looked}`, todo), charged };
    }
    const { items, unreadable, next } = page.value;
    await looks.keep(items.map((s) => ({ key: s.subscriptionId, charged: s.charged })));
    for (const s of items) {
      if (!(await enrolment.isEnrolled(s))) continue;
      count.enrolled++;
      const found = riskOf(s);
      if (found !== null && ++count.charged <= KEPT) charged.push(found);
    }
    count.unreadable += unreadable.length;
    onProgress((count.looked += items.length));
    at = next;
  } while (all && at !== null && !signal.aborted);
  return { check: checkOf(name, count, charged, at === null), charged };
}

function riskOf({
  subscriptionId,
  customerId,
  collectionMethod,
  charged,
}: SubscriptionFacts): ChargedSubscription | null {
  if (collectionMethod === 'send_invoice' || !isChargeable(charged)) return null;
  const { id: method, type, from } = charged;
  return { subscription_id: subscriptionId, customer_id: customerId, method, type, from };
}

type Count = Readonly<Record<'looked' | 'enrolled' | 'charged' | 'unreadable', number>>;

function checkOf(name: string, count: Count, charged: readonly ChargedSubscription[], isAll: boolean): Check {
  const looked = isAll
    ? `${count.enrolled} enrolled, all there are`
    : `${count.enrolled} enrolled of the newest ${count.looked}; \`crossbill doctor --all\` looks at every one`;
  const odd = count.unreadable === 0 ? '' : `; ${count.unreadable} could not be understood`;
  if (count.charged === 0) return ok(name, count.looked === 0 ? 'there is none' : `none of ${looked}${odd}`);
  const some = charged
    .slice(0, SHOWN)
    .map((c) => `${c.subscription_id} of ${c.customer_id} (${c.type ?? 'method'} ${c.method}, of the ${c.from})`);
  const more = count.charged > some.length ? `, and ${count.charged - some.length} more` : '';
  const todo =
    'Make a custom payment method the default of each of these subscriptions, or stop their invoices with auto_advance=false: otherwise both charge, an hour apart.';
  return fail(name, `${count.charged} of ${looked}${odd}: ${some.join(', ')}${more}`, todo);
}
