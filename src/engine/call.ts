// A stored call: the rows behind it, its reply, and the rule of its subject.
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

/**
 * A stored call with the rows behind it. The engine finds a row at its first use. Undefined: the lane has no such row.
 */
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
 * The refund of a stored call. A request to the MoR has our id of the refund. A call to Stripe has the refund's
 * reference at Stripe: a name of its time, since the MoR may name the refund or its payment later.
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

/** True if a process may have sent the call since its time and died. No row shows such a try. */
export function mayBeCutOff({ nextTryAt }: OutboxRow, lane: AtTime): boolean {
  return isCutOffSince(nextTryAt, lane);
}

/** True if a process may have sent a call since this time and died. */
export function isCutOffSince(at: Date, { now }: AtTime): boolean {
  return now.getTime() - at.getTime() >= CUT_OFF_AFTER_MS;
}

/** A redirect. Crossbill follows no redirect. A 303 may come after an effect. */
export function isRedirect({ status }: CallFailure): boolean {
  return status !== null && status >= 300 && status < 400;
}

/** A refusal as a part of an item's fact. */
export function refusalOf(m: OutboxRow, f: CallFailure): Refused {
  return { call: m.kind, status: f.status, error: f.code, said: said(f) };
}

/** Opens the item about a call after its last refusal. */
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

/** The rule of a kind of call. The engine stores key and bytes before the first send. */
export type CallRule<K extends OutboxKind> = SentCall & {
  readonly replied: (lane: Lane, call: Call, reply: AnswerTo<K>) => void;
};

/** The rule of a call, without its reply. */
export type SentCall = {
  /**
   * For a kind of call from several subjects (see `oneOf`): does this rule own the call with this subject? Left out: it
   * owns all.
   */
  readonly of?: (lane: LaneRows, subject: string) => boolean;
  /** The lowest order goes first: marks, then mirrors, and calls for the MoR alone at the end. */
  readonly order: 0 | 1 | 2 | 3;
  /**
   * The call writes to the invoice, or leads to a write or a charge. A fresh read comes first: always, or as the
   * function says.
   */
  readonly readFirst?: true | ((i: InvoiceRow, lane: Lane) => boolean);
  /**
   * True if Stripe may show the effect of a call without a try in this database, as after a restored backup. On an old
   * invoice Stripe may have forgotten the key, so Crossbill looks for the effect before the first try.
   */
  readonly mayBeThere?: (lane: LaneRows) => boolean;
  /** True: the call stays unsent for now, whatever its time. */
  readonly waits?: (lane: Lane) => boolean;
  /** The engine neither sends nor looks before this time. Null: at once. */
  readonly notBefore?: (lane: Lane, call: Call) => Date | null;
  /**
   * The reason to take the call back; null: somebody still wants the call. The engine asks this of each call without a
   * reply.
   */
  readonly unwanted?: (lane: Lane, call: Call) => string | null;
  /** Runs before the engine takes the call back. */
  readonly takenBack?: (lane: Lane, call: Call, why: string) => void;
  /** The peer refused the call for good. */
  readonly refused: (lane: Lane, call: Call, failure: CallFailure) => void;
  /** The peer gave no reply. The engine sends the call again. */
  readonly silent?: (lane: Lane, call: Call, failure: CallFailure) => void;
  /**
   * The call had no effect, and nobody can pay the invoice any more. False or left out: the engine sends the call under
   * the next key.
   */
  readonly withdrawn?: (lane: Lane, call: Call) => boolean;
  /** Nobody can find out whether the call had an effect. */
  readonly untraceable?: (lane: Lane, call: Call, why: string) => void;
  /** Carries out a person's choice for the item about the refusal. */
  readonly chosen?: ChoiceRule;
};

/** The rules of all calls. */
export type CallRules = { readonly [K in OutboxKind]: CallRule<K> };

/**
 * Joins the rules of several subjects for one kind of call. The first rule with a fitting `of` takes the reply, else
 * `others`. The engine sends all of them alike.
 */
export function oneOf<K extends OutboxKind>(others: CallRule<K>, ...rules: readonly CallRule<K>[]): CallRule<K> {
  const ruleOf = (lane: Lane, subject: string): CallRule<K> =>
    rules.find(({ of }) => of?.(lane, subject) === true) ?? others;
  return {
    ...others,
    replied: (lane, call, reply) => ruleOf(lane, call.row.subject).replied(lane, call, reply),
    refused: (lane, call, failure) => ruleOf(lane, call.row.subject).refused(lane, call, failure),
    chosen: (lane, r, choice) => ruleOf(lane, subjectOfCall(r)).chosen?.(lane, r, choice) ?? null,
  };
}
