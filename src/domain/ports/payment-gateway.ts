// The Merchant of Record's card payments (Document 3) as the bridge sees them.
import { type Money } from '../money.js';
import { type CallOutcome, type WireRequest } from './call.js';

/** Signup requests, in our words. Amounts are smallest units. */
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

/** Document 3, `merchant_customer`. */
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

/** A payment link without a person's request. Its key is a field of its bytes (Document 2). */
export type LinkCall = {
  readonly kind: 'create_payment_link';
  readonly jurisdiction: string;
  readonly amount: Money;
  readonly returnUrl: string;
  readonly expiresSec: number;
  readonly key: string;
};

export type MorCall = SignupCall | RefundCall | LinkCall;

/** Document 3, "Setup response" and "Payment-intent response". `clientSecret` is handed on and kept nowhere. */
export type IntentAnswer = {
  readonly clientSecret: string;
  readonly intentId: string; // setup_intent_id or payment_intent_id
  readonly morCustomerId: string;
  readonly status: string;
};

/** Document 3, "Refund". */
export type RefundAnswer = {
  readonly morRefundId: string; // rfnd_…
  readonly paymentId: string;
  readonly amountMinor: bigint;
  readonly currency: string; // upper case
  /** `succeeded`, `pending`, `failed` (Document 3) or another word of the MoR. */
  readonly status: string;
  readonly reason: string | null;
  /** The processor's refund id; null when the answer had none yet. */
  readonly processorRefundId: string | null;
  /** Null when the answer did not say. */
  readonly createdAt: Date | null;
};

/**
 * `charged`: its invoice is there (200), the only proof of taken money. `pending`: known, and its invoice is not ready
 * (202): moments for a card, days for a bank debit, perhaps with a failure. `unknown`: not known, or no longer (404).
 */
export type ChargeState = 'charged' | 'pending' | 'unknown';

export abstract class PaymentGateway {
  /** The bytes of a call. Pure. */
  abstract encode(call: MorCall): WireRequest;
  /** The customer in an intent's stored body. Pure. */
  abstract detailsIn(body: string): CustomerDetails;
  abstract createIntent(wire: WireRequest, key: string): Promise<CallOutcome<IntentAnswer>>;
  abstract createRefund(wire: WireRequest, key: string): Promise<CallOutcome<RefundAnswer>>;
  /** The MoR's knowledge of the payment with this charge id, by its invoice (Document 2, "Invoices"). */
  abstract lookUpCharge(processorChargeId: string): Promise<CallOutcome<ChargeState>>;
}

/** Sends a merchant event on to the MoR, byte for byte, with a fresh signature (`MOR_RELAY_URL`). */
export abstract class EventRelay {
  abstract readonly enabled: boolean;
  /** `at`: the time of the signature. The database's: a replica with a wrong clock would get refusals for good. */
  abstract send(body: Buffer, at: Date): Promise<CallOutcome<null>>;
}
