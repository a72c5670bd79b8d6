// The requests to move a subscription: the move changes how the billing platform collects its invoices.
import { type ChargedMethod, type SubscriptionFacts } from './billing-reader.js';
import { type CallOutcome, type WireRequest } from './call.js';

/**
 * How Crossbill stops the platform from charging. `custom_method`: the merchant's custom payment method replaces the
 * platform's. `send_invoice`: the platform mails invoices and charges nothing.
 */
export type MoveWay = 'custom_method' | 'send_invoice';

export type UnpaidInvoice = { readonly invoiceId: string; readonly status: string };

export type MovableSubscription = SubscriptionFacts & {
  readonly status: string;
  /** The payment method on the subscription itself. Null: none. */
  readonly ownMethodId: string | null;
  readonly charged: ChargedMethod | null;
  /** The end of the current period. Null: the platform does not say. */
  readonly renewsAt: Date | null;
  /** The subscription's schedule. Each phase of a schedule sets the collection method again. Null: there is none. */
  readonly scheduleId: string | null;
  /** The newest invoice, if it is a draft or open. */
  readonly unpaid: UnpaidInvoice | null;
};

export type MoveCall =
  | { readonly kind: 'make_method' }
  | { readonly kind: 'attach_method'; readonly methodId: string; readonly customerId: string }
  /** Sets the subscription's own payment method. `methodId` null: removes the method. */
  | { readonly kind: 'set_method'; readonly subscriptionId: string; readonly methodId: string | null }
  | {
      readonly kind: 'set_collection';
      readonly subscriptionId: string;
      readonly collectionMethod: 'send_invoice' | 'charge_automatically';
    };

export type StoredMoveCall = { readonly asked: MoveCall; readonly key: string; readonly wire: WireRequest };

export abstract class BillingMoves {
  /** The way to stop the platform from charging, from the settings. */
  abstract readonly way: MoveWay;
  /** Reads the subscription from the platform. Null: the platform does not know it. */
  abstract read(subscriptionId: string): Promise<CallOutcome<MovableSubscription | null>>;
  /** One page of all live subscriptions, newest first. */
  abstract list(
    startingAfter: string | null,
  ): Promise<CallOutcome<{ readonly items: readonly MovableSubscription[]; readonly next: string | null }>>;
  /** All live subscriptions of a customer. */
  abstract ofCustomer(customerId: string): Promise<CallOutcome<readonly MovableSubscription[]>>;
  /** Reads an open invoice of the subscription, even one older than `unpaid`. Null: no invoice is open. */
  abstract readOpenInvoice(subscriptionId: string): Promise<CallOutcome<UnpaidInvoice | null>>;
  /** Reads the customer of the payment method. Null: the method belongs to no customer. */
  abstract readMethodOwner(methodId: string): Promise<CallOutcome<string | null>>;
  abstract encode(call: MoveCall): WireRequest;
  /** Sends the call and returns the id of the object in the reply. */
  abstract send(call: StoredMoveCall): Promise<CallOutcome<string>>;
}
