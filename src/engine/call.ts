// A stored call: the rows behind it, the reply, and the rule that its subject declares for it.
import { type Draft } from '../domain/row.js';
import { type EffectFact } from '../domain/facts/effect.js';
import { type Refused } from '../domain/facts/parts.js';
import {
  type InvoiceRow,
  type LaneRows,
  type OutboxKind,
  type OutboxRow,
  type PaymentRow,
  type RefundRow,
  type ReviewRow,
} from '../domain/model.js';
import { type MorObjectRow } from '../domain/mor-object.js';
import { type BillingAnswer } from '../domain/ports/billing-platform.js';
import { type CallFailure, said } from '../domain/ports/call.js';
import { type LinkFacts, type ProformaMade } from '../domain/ports/mor-channels.js';
import { type RefundAnswer } from '../domain/ports/payment-gateway.js';
import { CUT_OFF_AFTER_MS } from '../policy.js';
import { type ChoiceRule } from './commanded.js';
import { type Lane } from './draft.js';
import { isCallOf } from './payment.js';

/** A peer's reply to a stored call, by its kind. */
export type Answer =
  | BillingAnswer
  | { readonly kind: 'create_proforma'; readonly made: ProformaMade }
  | { readonly kind: 'create_payment_link'; readonly link: LinkFacts }
  | { readonly kind: 'create_refund'; readonly refund: RefundAnswer }
  | { readonly kind: 'relay_event' }
  | { readonly kind: 'retry_charge' };

/** The reply to a call of this kind. */
export type AnswerTo<K extends OutboxKind> = Extract<Answer, { readonly kind: K }>;

/** Each row is looked up when a rule asks for it; undefined: the lane has no such row. */
export type Call = {
  readonly row: OutboxRow;
  readonly payment: Draft<PaymentRow> | undefined;
  readonly refund: Draft<RefundRow> | undefined;
  readonly object: Draft<MorObjectRow> | undefined;
};

export function callOf(lane: Lane, row: OutboxRow): Call {
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
 * The refund of a stored call: its request to the MoR has our id of it, and its calls to Stripe have the reference there. The MoR may have
 * named the refund or its payment since.
 */
export function refundOf<R extends RefundRow>(
  { refunds }: { readonly refunds: readonly R[] },
  { subject, paymentRowId, asked }: OutboxRow,
): R | undefined {
  const reference = asked?.kind === 'report_refund' || asked?.kind === 'issue_credit_note' ? asked.refundId : null;
  const isNamed = (r: R): boolean =>
    reference !== null && [r.id, r.processorRefundId, r.morRefundId].includes(reference);
  return refunds.find((r) => r.id === subject || (r.paymentRowId === paymentRowId && isNamed(r)));
}

/** The payment behind a stored call. */
export function paymentOf(s: Pick<LaneRows, 'payments'>, m: OutboxRow): PaymentRow | undefined {
  if (m.kind === 'finalize_invoice') return s.payments.find((p) => p.mark === 'finalizing');
  return s.payments.find((p) => isCallOf(m, p));
}

type AtTime = Pick<Lane, 'now'>;

/** So long after its time, a process may have sent the call and died: no row knows of that try. */
export function mayBeCutOff({ nextTryAt }: OutboxRow, lane: AtTime): boolean {
  return isCutOffSince(nextTryAt, lane);
}

/** So long ago, a process may have sent a call since and died. */
export function isCutOffSince(at: Date, { now }: AtTime): boolean {
  return now.getTime() - at.getTime() >= CUT_OFF_AFTER_MS;
}

/** A redirect. Crossbill follows none; a 303 may come after an effect. */
export function isRedirect({ status }: CallFailure): boolean {
  return status !== null && status >= 300 && status < 400;
}

/** A refusal as a part of an item's fact. */
export function refusalOf(m: OutboxRow, f: CallFailure): Refused {
  return { call: m.kind, status: f.status, error: f.code, said: said(f) };
}

/** Opens the item about a call after its final refusal. */
export function askOfCall(
  lane: Lane,
  m: OutboxRow,
  fact: EffectFact,
  about: { readonly paymentRowId?: string; readonly refundId?: string } = {},
): void {
  lane.ask({ kind: 'effect_failed', subject: itemSubjectOf(m), fact, ...about });
}

/** The subject of the item about a call: the call's kind, then its own subject. */
function itemSubjectOf({ kind, subject }: Pick<OutboxRow, 'kind' | 'subject'>): string {
  return `${kind}:${subject}`;
}

/** The item is about this call, or an earlier one with its kind and subject. */
export function isAbout(item: Pick<ReviewRow, 'subject'>, m: Pick<OutboxRow, 'kind' | 'subject'>): boolean {
  return item.subject === itemSubjectOf(m);
}

/** The subject of the call behind the item. */
export function subjectOfCall({ subject }: Pick<ReviewRow, 'subject'>): string {
  return subject.slice(subject.indexOf(':') + 1);
}

/** Key and bytes are stored before the first send. */
export type CallRule<K extends OutboxKind> = SentCall & {
  readonly replied: (lane: Lane, call: Call, reply: AnswerTo<K>) => void;
};

/** The rule of a call but for its reply. */
export type SentCall = {
  /** Of calls that several subjects make: is a call with this subject of this rule (see `oneOf`)? Left out: all are. */
  readonly of?: (lane: LaneRows, subject: string) => boolean;
  /** Lower goes first. Marks go before mirrors, and calls for the MoR alone go last. */
  readonly order: 0 | 1 | 2 | 3;
  /** It writes to the invoice, or leads to a write or a charge: a fresh read comes before it, always or as the rule says. */
  readonly readFirst?: true | ((i: InvoiceRow, lane: Lane) => boolean);
  /**
   * Stripe may show its effect although this database knows nothing of it, as after a restored backup. If Stripe may have forgotten the key
   * of so old an invoice, Crossbill looks for the effect before the first try.
   */
  readonly mayBeThere?: (lane: LaneRows) => boolean;
  /** It stays unsent for now, whatever its time. */
  readonly waits?: (lane: Lane) => boolean;
  /** Neither a send nor a look before this time. Null: at once. */
  readonly notBefore?: (lane: Lane, call: Call) => Date | null;
  /** Why nobody wants it any more; null: it still counts. The engine asks of each call without a reply, and takes it back. */
  readonly unwanted?: (lane: Lane, call: Call) => string | null;
  /** What follows before the engine takes it back. */
  readonly takenBack?: (lane: Lane, call: Call, why: string) => void;
  /** The peer refused it for good. */
  readonly refused: (lane: Lane, call: Call, failure: CallFailure) => void;
  /** Nobody replied; the engine sends it again. */
  readonly silent?: (lane: Lane, call: Call, failure: CallFailure) => void;
  /** It had no effect, and the invoice can no longer be paid. False or left out: the engine sends it under a next key. */
  readonly withdrawn?: (lane: Lane, call: Call) => boolean;
  /** Nobody can find out whether it had its effect. */
  readonly untraceable?: (lane: Lane, call: Call, why: string) => void;
  /** A person chose what becomes of the item about its refusal. */
  readonly chosen?: ChoiceRule;
};

/** The rules of all calls. */
export type CallRules = { readonly [K in OutboxKind]: CallRule<K> };

/** The rule of a kind of call that several subjects make: a rule whose `of` knows the call, else `others`. All of them go out alike. */
export function oneOf<K extends OutboxKind>(others: CallRule<K>, ...rules: readonly CallRule<K>[]): CallRule<K> {
  const ruleOf = (lane: Lane, subject: string): CallRule<K> =>
    rules.find(({ of }) => of?.(lane.toState(), subject) === true) ?? others;
  return {
    ...others,
    replied: (lane, call, reply) => ruleOf(lane, call.row.subject).replied(lane, call, reply),
    refused: (lane, call, failure) => ruleOf(lane, call.row.subject).refused(lane, call, failure),
    chosen: (lane, r, choice) => ruleOf(lane, subjectOfCall(r)).chosen?.(lane, r, choice) ?? null,
  };
}
