// A move's reads and changes on the billing platform: the collection of a subscription's invoices.
import { type ChargedMethod, type SubscriptionFacts } from './billing-reader.js';
import { type CallOutcome, type WireRequest } from './call.js';

/**
 * The way to stop the platform from charging: its own method gives way to the merchant's custom one, or it mails
 * invoices and charges nothing.
 */
export type MoveWay = 'custom_method' | 'send_invoice';

export type UnpaidInvoice = { readonly invoiceId: string; readonly status: string };

export type MovableSubscription = SubscriptionFacts & {
  readonly status: string;
  /** The method on the subscription itself; null: none. */
  readonly ownMethodId: string | null;
  readonly charged: ChargedMethod | null;
  /** The end of the running period; null: the platform does not say. */
  readonly renewsAt: Date | null;
  /** A schedule sets the collection again with each of its phases; null: there is none. */
  readonly scheduleId: string | null;
  /** Its newest invoice, as long as it is a draft or open. */
  readonly unpaid: UnpaidInvoice | null;
};

export type MoveCall =
  | { readonly kind: 'make_method' }
  | { readonly kind: 'attach_method'; readonly methodId: string; readonly customerId: string }
  /** `methodId` null: the subscription has no method of its own. */
  | { readonly kind: 'set_method'; readonly subscriptionId: string; readonly methodId: string | null }
  | {
      readonly kind: 'set_collection';
      readonly subscriptionId: string;
      readonly collectionMethod: 'send_invoice' | 'charge_automatically';
    };

export type StoredMoveCall = { readonly asked: MoveCall; readonly key: string; readonly wire: WireRequest };

export abstract class BillingMoves {
  /** As the settings say. */
  abstract readonly way: MoveWay;
  /** A fresh read. Null: the platform does not know it. */
  abstract read(subscriptionId: string): Promise<CallOutcome<MovableSubscription | null>>;
  /** One page of all live subscriptions, the newest first. */
  abstract list(
    startingAfter: string | null,
  ): Promise<CallOutcome<{ readonly items: readonly MovableSubscription[]; readonly next: string | null }>>;
  /** All live ones of a customer. */
  abstract ofCustomer(customerId: string): Promise<CallOutcome<readonly MovableSubscription[]>>;
  /** An older, still open invoice of the subscription; null: there is none. */
  abstract readOpenInvoice(subscriptionId: string): Promise<CallOutcome<UnpaidInvoice | null>>;
  /** The method's owner; null: nobody. */
  abstract readMethodOwner(methodId: string): Promise<CallOutcome<string | null>>;
  abstract encode(call: MoveCall): WireRequest;
  /** The id of the object in the answer. */
  abstract send(call: StoredMoveCall): Promise<CallOutcome<string>>;
}
