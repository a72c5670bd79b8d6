// What a move reads and changes on the billing platform: how a subscription's invoices are collected.
import { type ChargedMethod, type SubscriptionFacts } from './billing-reader.js';
import { type CallOutcome, type WireRequest } from './call.js';

/** How the platform is kept from charging: its own method gives way to the merchant's custom one, or it mails invoices and charges nothing. */
export type MoveWay = 'custom_method' | 'send_invoice';

export type UnpaidInvoice = { readonly invoiceId: string; readonly status: string };

export type MovableSubscription = SubscriptionFacts & {
  readonly status: string;
  /** The method on the subscription itself; null: none. */
  readonly ownMethodId: string | null;
  readonly charged: ChargedMethod | null;
  /** The end of the period that runs; null: the platform does not say. */
  readonly renewsAt: Date | null;
  /** A schedule sets the collection again with each of its phases; null: there is none. */
  readonly scheduleId: string | null;
  /** Its newest invoice, while that is a draft or open. */
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
  /** One page of all subscriptions that are not ended, the newest first. */
  abstract list(
    startingAfter: string | null,
  ): Promise<CallOutcome<{ readonly items: readonly MovableSubscription[]; readonly next: string | null }>>;
  /** All of a customer's that are not ended. */
  abstract ofCustomer(customerId: string): Promise<CallOutcome<readonly MovableSubscription[]>>;
  /** An older invoice of the subscription that is still open; null: there is none. */
  abstract readOpenInvoice(subscriptionId: string): Promise<CallOutcome<UnpaidInvoice | null>>;
  /** Whose method it is; null: nobody's. */
  abstract readMethodOwner(methodId: string): Promise<CallOutcome<string | null>>;
  abstract encode(call: MoveCall): WireRequest;
  /** The id of the object in the answer. */
  abstract send(call: StoredMoveCall): Promise<CallOutcome<string>>;
}
