// Card payments at the Merchant of Record (Document 3), as Crossbill uses them.
import { type Money } from '../money.js';
import { type CallOutcome, type WireRequest } from './call.js';

/** The requests a signup makes. Amounts are smallest units. */
export type SignupCall =
  | {
      readonly kind: 'create_setup_intent';
      readonly customer: SignupCustomer;
      readonly paymentMethodTypes: readonly string[] | null;
      readonly taxCalculationId: string | null;
    }
  | {
      readonly kind: 'create_payment_intent';
      readonly amountMinor: bigint;
      readonly currency: string;
      readonly customer: SignupCustomer;
      readonly description: string | null;
      readonly taxCalculationId: string | null;
    };

/** The customer of a signup (Document 3, `merchant_customer`). */
export type SignupCustomer = {
  readonly id: string; // the merchant's own id, `cus_…`
  readonly email?: string;
  readonly name?: string;
  readonly country?: string; // upper case
  readonly address?: Readonly<Record<string, string>>;
};

export type CustomerDetails = Omit<SignupCustomer, 'id'>;

export type RefundCall = {
  readonly kind: 'create_refund';
  readonly paymentId: string; // pay_…
  readonly amountMinor: bigint;
  readonly reason: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
};

/** The request for an automatic payment link. The key is a field of the body (Document 2). */
export type LinkCall = {
  readonly kind: 'create_payment_link';
  readonly jurisdiction: string;
  readonly amount: Money;
  readonly returnUrl: string;
  readonly expiresSec: number;
  readonly key: string;
};

export type MorCall = SignupCall | RefundCall | LinkCall;

/**
 * The MoR's reply to a signup's request (Document 3, "Setup response" and "Payment-intent response"). Crossbill passes
 * `clientSecret` on and stores it nowhere.
 */
export type IntentReply = {
  readonly clientSecret: string;
  readonly intentId: string; // setup_intent_id or payment_intent_id
  readonly morCustomerId: string;
  readonly status: string;
};

/** A refund in the MoR's reply (Document 3, "Refund"). */
export type RefundReply = {
  readonly morRefundId: string; // rfnd_…
  readonly paymentId: string;
  readonly amountMinor: bigint;
  readonly currency: string; // upper case
  /** `succeeded`, `pending`, `failed` (Document 3), or another word of the MoR. */
  readonly status: string;
  readonly reason: string | null;
  /** The processor's refund id. Null: the reply has none yet. */
  readonly processorRefundId: string | null;
  /** When the MoR made the refund. Null: the reply has no time. */
  readonly createdAt: Date | null;
};

/**
 * `charged`: the MoR has the invoice of the charge (200). Only this proves that the MoR took the money. `pending`: the
 * MoR knows the charge, and its invoice is not ready (202). This takes moments for a card and days for a bank debit,
 * and the charge may still fail. `unknown`: the MoR does not know the charge, or no longer knows it (404).
 */
export type ChargeState = 'charged' | 'pending' | 'unknown';

export abstract class PaymentGateway {
  /** Makes the bytes of a call. Pure. */
  abstract encode(call: MorCall): WireRequest;
  /** Reads the customer from the stored body of an intent. Pure. */
  abstract detailsIn(body: string): CustomerDetails;
  abstract createIntent(wire: WireRequest, key: string): Promise<CallOutcome<IntentReply>>;
  abstract createRefund(wire: WireRequest, key: string): Promise<CallOutcome<RefundReply>>;
  /** Reads the state of a charge at the MoR, through the charge's invoice (Document 2, "Invoices"). */
  abstract lookUpCharge(processorChargeId: string): Promise<CallOutcome<ChargeState>>;
}

/** Relays a Stripe event to the MoR (`MOR_RELAY_URL`): the same bytes with a new signature. */
export abstract class EventRelay {
  abstract readonly enabled: boolean;
  /**
   * `at`: the time of the signature, by the database's clock. The MoR would refuse the signatures of a replica with a
   * wrong clock.
   */
  abstract send(body: Buffer, at: Date): Promise<CallOutcome<null>>;
}
