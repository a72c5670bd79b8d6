// The MoR and Stripe for the API's tests: small, and with a memory of their calls.
import { type CallFailure, type CallOutcome, type WireRequest } from '../../../src/domain/ports/call.js';
import {
  EventRelay,
  type ChargeState,
  type CustomerDetails,
  type IntentAnswer,
  type MorCall,
  PaymentGateway,
  type RefundAnswer,
} from '../../../src/domain/ports/payment-gateway.js';

export function answer<T>(value: T): CallOutcome<T> {
  return { ok: true, value, status: 200, requestId: 'req_1' };
}

export function failure(over: Partial<CallFailure>): CallFailure {
  return {
    ok: false,
    kind: 'refused',
    status: 400,
    code: 'invalid_request',
    message: 'the MoR would not do it',
    errors: [],
    retryAfterMs: null,
    requestId: null,
    replayed: false,
    ...over,
  };
}

/** Answers every call, once per key, unless told to fail. */
export class FakeMor extends PaymentGateway {
  readonly calls: { wire: WireRequest; key: string }[] = [];
  /** The outcome of the next calls, instead of an answer. */
  failWith: CallFailure | null = null;
  refundStatus: RefundAnswer['status'] = 'succeeded';
  readonly #byKey = new Map<string, unknown>();

  override encode(call: MorCall): WireRequest {
    const path =
      call.kind === 'create_refund' ? `/api/payments/${call.paymentId}/refund` : `/api/payments/${call.kind}`;
    const body = JSON.stringify(call, (_, v: unknown) => (typeof v === 'bigint' ? Number(v) : v));
    return { method: 'POST', path, body };
  }

  override detailsIn(): CustomerDetails {
    return {};
  }

  override async createIntent(wire: WireRequest, key: string): Promise<CallOutcome<IntentAnswer>> {
    return this.#once(wire, key, (n) => ({
      clientSecret: `pi_${n}_secret_canary`,
      intentId: `pi_${n}`,
      morCustomerId: `mc_${n}`,
      status: 'requires_payment_method',
    }));
  }

  override async createRefund(wire: WireRequest, key: string): Promise<CallOutcome<RefundAnswer>> {
    const asked = JSON.parse(wire.body ?? '{}') as { paymentId: string; amountMinor: number; reason: string | null };
    return this.#once(wire, key, (n) => ({
      morRefundId: `rfnd_${n}`,
      paymentId: asked.paymentId,
      amountMinor: BigInt(asked.amountMinor),
      currency: 'EUR',
      status: this.refundStatus,
      reason: asked.reason,
      processorRefundId: `re_${n}`,
      createdAt: new Date('2026-11-20T12:00:00Z'),
    }));
  }

  override async lookUpCharge(): Promise<CallOutcome<ChargeState>> {
    return answer('charged');
  }

  #once<T>(wire: WireRequest, key: string, make: (n: number) => T): CallOutcome<T> {
    this.calls.push({ wire, key });
    if (this.failWith !== null) return this.failWith;
    const known = this.#byKey.get(key) as T | undefined;
    const made = known ?? make(this.#byKey.size + 1);
    this.#byKey.set(key, made);
    return answer(made);
  }
}

export class NoRelay extends EventRelay {
  override readonly enabled = false;
  override async send(): Promise<CallOutcome<null>> {
    return answer(null);
  }
}
