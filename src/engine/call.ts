// A stored call to Stripe or the MoR: the rows it is about, its reply, and its rule. The word "subject" has two
// meanings: a subject of Crossbill is a folder of rules, such as refunds. The field `subject` of a call or an item
// names the thing behind it, for example by the id of a refund.
import { type Mutable } from '../shared/domain/row.js';
import { type FactsByKind } from '../shared/domain/fact.js';
import { type Refused } from '../shared/domain/facts/parts.js';
import { type CallKind, type CallRow } from '../shared/domain/call-row.js';
import { type InvoiceRow } from '../shared/domain/invoice-row.js';
import { type LaneRows } from '../shared/domain/model.js';
import { type PaymentRow } from '../shared/domain/payment-row.js';
import { type RefundRow } from '../shared/domain/refund-row.js';
import { type ReviewRow } from '../shared/domain/review-row.js';
import { type MorObjectRow } from '../shared/domain/mor-object.js';
import { type FeatureCalls } from '../shared/domain/feature-calls.js';
import { type BillingReply, type BillingCallKind } from '../shared/domain/ports/billing-platform.js';
import { type CallFailure, type CallOutcome, said } from '../shared/domain/ports/call.js';
import { type RefundReply } from '../shared/domain/ports/payment-gateway.js';
import { CUT_OFF_AFTER_MS } from '../shared/policy.js';
import { type ChoiceRule } from './commanded.js';
import { type Lane } from './lane.js';
import { type Peers } from './lookup.js';

/** The reply to a stored call, by the kind of the call. */
export type CallReply =
  | BillingReply
  | { readonly kind: 'create_refund'; readonly refund: RefundReply }
  | { readonly kind: 'relay_event' }
  | { [K in keyof FeatureCalls]: { readonly kind: K } & FeatureCalls[K] }[keyof FeatureCalls];

/** The reply to a call of this kind. */
export type ReplyTo<K extends CallKind> = Extract<CallReply, { readonly kind: K }>;

/**
 * A stored call with the rows it is about. The engine finds a row at its first use. Undefined: the lane has no such
 * row.
 */
export type Call = {
  readonly row: CallRow;
  readonly payment: Mutable<PaymentRow> | undefined;
  readonly refund: Mutable<RefundRow> | undefined;
  readonly object: Mutable<MorObjectRow> | undefined;
};

export function callOf(lane: Lane, row: CallRow): Call {
  return {
    row,
    get payment() {
      return lane.findPayment(paymentOf(lane, row)?.id);
    },
    get refund() {
      return refundOf(lane, row);
    },
    get object() {
      return lane.findObject(row.subject);
    },
  };
}

/**
 * The refund of a stored call. A call to the MoR has our id of the refund as its `subject`. A call to Stripe has the id
 * that the refund had at that time. The MoR may have given the refund another id since, so Crossbill compares this id
 * with every id of the refund.
 */
export function refundOf<R extends RefundRow>(
  { refunds }: { readonly refunds: readonly R[] },
  { subject, paymentRowId, asked }: CallRow,
): R | undefined {
  const reference = asked?.kind === 'report_refund' || asked?.kind === 'issue_credit_note' ? asked.refundId : null;
  const isNamed = (row: R): boolean =>
    reference !== null && [row.id, row.processorRefundId, row.morRefundId].includes(reference);
  return refunds.find((r) => r.id === subject || (r.paymentRowId === paymentRowId && isNamed(r)));
}

/** The payment behind a stored call. */
export function paymentOf(lane: Pick<LaneRows, 'payments'>, call: CallRow): PaymentRow | undefined {
  if (call.kind === 'finalize_invoice') return lane.payments.find((p) => p.mark === 'finalizing');
  return lane.payments.find((p) => isCallOf(call, p));
}

/**
 * True if a stored call is a step of this payment's mark. If the call contains our own id of a payment, this id
 * decides, because the MoR's id may change. Otherwise the call's `subject` is one of the payment's ids.
 */
export function isCallOf(call: CallRow, payment: PaymentRow): boolean {
  return call.paymentRowId === null
    ? [payment.id, payment.paymentId].includes(call.subject)
    : call.paymentRowId === payment.id;
}

type AtTime = Pick<Lane, 'now'>;

/** True if a process may have sent the call at its planned time and died before it recorded the try. */
export function mayBeCutOff({ nextTryAt }: CallRow, lane: AtTime): boolean {
  return isCutOffSince(nextTryAt, lane);
}

/** True if `at` is long enough ago: a process may have sent a call since and died before it recorded the try. */
export function isCutOffSince(at: Date, { now }: AtTime): boolean {
  return now.getTime() - at.getTime() >= CUT_OFF_AFTER_MS;
}

/** True for a redirect. Crossbill follows no redirect, and a call may have had an effect before a 303. */
export function isRedirect({ status }: CallFailure): boolean {
  return status !== null && status >= 300 && status < 400;
}

/** The refusal of a call, as a part of an item's fact. */
export function refusalOf(call: CallRow, failure: CallFailure): Refused {
  return { call: call.kind, status: failure.status, error: failure.code, said: said(failure) };
}

/** Opens the `effect_failed` item about a call that Crossbill does not send again automatically. */
export function openCallReview(
  lane: Lane,
  call: CallRow,
  fact: FactsByKind['effect_failed'],
  about: { readonly paymentRowId?: string; readonly refundId?: string } = {},
): void {
  lane.openReview({ kind: 'effect_failed', subject: itemSubjectOf(call), fact, ...about });
}

/** The item's `subject` for a call: the call's kind and the call's own `subject`, such as `report_refund:re_1`. */
function itemSubjectOf({ kind, subject }: Pick<CallRow, 'kind' | 'subject'>): string {
  return `${kind}:${subject}`;
}

/** True if the item is about this call or an earlier call with the same kind and `subject`. */
export function isAbout(item: Pick<ReviewRow, 'subject'>, call: Pick<CallRow, 'kind' | 'subject'>): boolean {
  return item.subject === itemSubjectOf(call);
}

/** The call's `subject`, taken from the item about the call. */
export function subjectOfCall({ subject }: Pick<ReviewRow, 'subject'>): string {
  return subject.slice(subject.indexOf(':') + 1);
}

/** The rule for one kind of call. The engine stores a call's key and bytes before the first send. */
export type CallRule<K extends CallKind> = SentCall & {
  readonly replied: (lane: Lane, call: Call, reply: ReplyTo<K>) => void;
} & (K extends BillingCallKind ? unknown : { readonly send: Send<Omit<ReplyTo<K>, 'kind'>> });

/** Sends the stored bytes of a call one time. The engine adds the kind of the call to the reply. */
export type Send<Reply = object> = (peers: Peers, row: CallRow) => Promise<CallOutcome<Reply>>;

/** The rule for one kind of call, without its part for the reply. */
export type SentCall = {
  /**
   * If several rules make this kind of call (see `oneOf`): true if the call with this `subject` belongs to this rule.
   * Absent: every call of the kind belongs to this rule.
   */
  readonly of?: (lane: LaneRows, subject: string) => boolean;
  /** The engine sends low numbers first: 0 marks, 1 requests to the MoR, 2 refunds on Stripe, 3 relays and retries. */
  readonly order: 0 | 1 | 2 | 3;
  /**
   * If true, Crossbill reads the invoice at Stripe before it sends the call, because this call or a later call changes
   * the invoice. A function decides this for each invoice.
   */
  readonly readFirst?: true | ((invoice: InvoiceRow, lane: Lane) => boolean);
  /**
   * True if Stripe may already show the effect although this database never tried the call, as after a restore. If the
   * invoice is old, Stripe may also have forgotten the key. Crossbill then searches Stripe for the effect first.
   */
  readonly mayBeThere?: (lane: LaneRows) => boolean;
  /** True: the engine does not send the call for now, even if its time has come. */
  readonly waits?: (lane: Lane) => boolean;
  /** Before this time the engine neither sends the call nor searches for its effect. Null: there is no such time. */
  readonly notBefore?: (lane: Lane, call: Call) => Date | null;
  /**
   * The engine runs this for each call without a reply. Returns the reason to take the call back. Null: Crossbill still
   * wants the effect of the call.
   */
  readonly unwanted?: (lane: Lane, call: Call) => string | null;
  /** Runs before the engine withdraws the call, to update the rows about the call. */
  readonly takenBack?: (lane: Lane, call: Call, why: string) => void;
  /** Runs after Stripe or the MoR refused the call for good. */
  readonly refused: (lane: Lane, call: Call, failure: CallFailure) => void;
  /** Runs after a try without a usable reply. The engine sends the call again later. */
  readonly silent?: (lane: Lane, call: Call, failure: CallFailure) => void;
  /**
   * Runs if the call had no effect and nobody can pay the invoice any more. If the function returns true, the engine
   * withdraws the call. If the function returns false or is absent, the engine sends the call under the next key.
   */
  readonly withdrawn?: (lane: Lane, call: Call) => boolean;
  /** Runs if nobody can find out whether the call had an effect. */
  readonly untraceable?: (lane: Lane, call: Call, why: string) => void;
  /** Carries out a person's choice for the item about the refusal. */
  readonly chosen?: ChoiceRule;
  /** Sends the call to the MoR or the relay. Absent: the call goes to Stripe. */
  readonly send?: Send;
};

/** The rules of all calls. */
export type CallRules = { readonly [K in CallKind]: CallRule<K> };

/**
 * Joins several rules for one kind of call, such as the rules of refunds/ and returns/. A call belongs to the first of
 * `rules` whose `of` returns true; if there is none, it belongs to `others`. The engine sends all these calls by the
 * settings of `others`, and gives each reply to the call's own rule.
 */
export function oneOf<K extends CallKind>(others: CallRule<K>, ...rules: readonly CallRule<K>[]): CallRule<K> {
  const ruleOf = (lane: Lane, subject: string): CallRule<K> =>
    rules.find(({ of }) => of?.(lane, subject) === true) ?? others;
  return {
    ...others,
    replied: (lane, call, reply) => ruleOf(lane, call.row.subject).replied(lane, call, reply),
    refused: (lane, call, failure) => ruleOf(lane, call.row.subject).refused(lane, call, failure),
    chosen: (lane, r, choice) => ruleOf(lane, subjectOfCall(r)).chosen?.(lane, r, choice) ?? null,
  };
}

/** Calls of the core that features make too, such as the credit note for a loss: each reply goes to its own rule. */
export function sharedCalls<T extends Partial<CallRules>>(
  core: T,
  others: readonly { readonly calls?: Partial<CallRules> }[],
): T {
  const joined = Object.entries(core).map(([kind, rule]) => {
    const added = others.flatMap(({ calls }) => calls?.[kind as CallKind] ?? []);
    return [kind, oneOf(rule as CallRule<CallKind>, ...(added as CallRule<CallKind>[]))];
  });
  return Object.fromEntries(joined) as T;
}
