// A stored call to Stripe, the MoR or the relay.
import { type FeatureCalls } from './feature-calls.js';
import { type BillingCall, type BillingCallKind, type OptionalCallKind, CALL_WAY } from './ports/billing-platform.js';
import { rowOf, key, text, word, int, json, time, bool, type RowOf } from './row.js';
import { type WireRequest } from './ports/call.js';
import { keepCode } from './foreign-words.js';

export type CallKind = CoreCallKind | keyof FeatureCalls;
/** A call to Stripe that the core or a feature makes. */
export type MadeCall = Extract<BillingCall, { readonly kind: CallKind }>;
export type CoreCallKind = Exclude<BillingCallKind, OptionalCallKind> | 'create_refund' | 'relay_event';

/** A call that a rule decided to make. Crossbill stores its key and bytes before it sends the call. */
export const CALL = rowOf('', {
  id: key(),
  lane: text(),
  peer: word<'stripe' | 'mor' | 'relay'>(),
  kind: word<CallKind>(),
  /** The id of the call's object, such as a refund. `kind`, `subject` and `generation` together are unique for good. */
  subject: text(),
  /**
   * Our id of the payment the call marks, or of the payment behind its refund. It stays the same even if the payment's
   * id changes. Null: the call is about no payment.
   */
  paymentRowId: text().orNull,
  /** Counts the keys of this call. Crossbill makes a new key only if the earlier call certainly had no effect. */
  generation: int(),
  key: text(),
  wire: json<WireRequest>(),
  /** The content of a call to Stripe, to recognise its effect. Null for a call to the MoR or the relay. */
  asked: json<BillingCall>(CALL_WAY).orNull,
  status: word<'pending' | 'done' | 'refused' | 'cancelled'>(),
  attempts: int().first(0),
  /** When Crossbill first sent the call, or first searched for its effect. The age of its key counts from then. */
  firstTriedAt: time().orNull,
  nextTryAt: time(),
  lastStatus: int().orNull,
  lastCode: word().orNull.personal(keepCode),
  lastMessage: text().orNull.said(),
  lastRequestId: text().orNull,
  /** True: Stripe or the MoR replays a stored failure for this key. */
  replaying: bool().first(false),
  createdAt: time(),
  answeredAt: time().orNull,
});
export type CallRow = RowOf<typeof CALL>;
