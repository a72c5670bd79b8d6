// The type of a story, and the usual beginning: a subscriber with a saved card and a renewal.
import { type Enrolment, type RelayEvents } from '#src/shared/domain/settings.js';
import { People, type Subscriber } from '../acts/people.js';
import { type World } from '../machine/world.js';

/** A plan of events. Minutes count from the start of the world. */
export type Story = {
  readonly name: string;
  readonly settings?: {
    readonly markMode?: 'payment_record' | 'out_of_band';
    readonly draftPolicy?: 'wait' | 'finalize';
    readonly relay?: RelayEvents | null;
    /** The enrolled customers. Left out: all customers are enrolled. */
    readonly enrolment?: Enrolment;
    /** True: Crossbill sends notifications to the merchant's backend. */
    readonly notify?: boolean;
    /** Stripe's limit of requests a second, from all replicas together. */
    readonly pace?: number;
    /** True: a standby without the last steps may take over at any database step. */
    readonly standby?: boolean;
    /** `RETRY_SCHEDULE`. Links in it are payable for a day. Left out: no retries. */
    readonly retries?: string;
  };
  readonly plan: (world: World) => Promise<void>;
  /** The parts of a random story. A run may leave out each part, by its index in this list. */
  readonly parts?: readonly string[];
};

export type Scene = { readonly world: World; readonly people: People; readonly ada: Subscriber };

/**
 * A subscriber with a saved card, and a renewal at minute 1. `amount`: of the renewal's draft; null: the price's.
 * `invoice` returns the id of the renewal's invoice.
 */
export async function renewal(
  world: World,
  outcome: string | readonly string[],
  amount: number | null = null,
): Promise<Scene & { invoice: () => string }> {
  const people = new People(world);
  const ada = await people.subscriber('ada', 2_990, 'eur', true);
  await people.cards(ada.customerId, outcome);
  let invoiceId = '';
  world.scheduler.plan(world.at(1), 'a renewal', async () => {
    invoiceId = (await people.renew(ada, amount)) ?? '';
  });
  return { world, people, ada, invoice: () => invoiceId };
}

export function paymentOf(people: People, invoiceId: string): string {
  const taken = ['succeeded', 'partially_refunded', 'refunded'];
  return people.payments().find((p) => p.merchantInvoiceId === invoiceId && taken.includes(p.status))?.id ?? '';
}
