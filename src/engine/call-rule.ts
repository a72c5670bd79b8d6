// The rule of a stored call, as its subject declares it: its place in the queue, its reply, a refusal, silence, and whether anybody wants it.
import { type InvoiceRow, type LaneRows, type OutboxKind } from '../domain/model.js';
import { type CallFailure } from '../domain/ports/call.js';
import { type AnswerTo, type Call, callOf, subjectOfCall } from './call.js';
import { type Lane } from './draft.js';
import { type ChoiceRule } from './commanded.js';

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

/** Takes back each call that nobody wants any more and that has no reply. The one loop for the calls of all subjects. */
export function takeBackUnwanted(lane: Lane, rules: CallRules): void {
  for (const row of lane.toState().messages) {
    const { unwanted, takenBack } = rules[row.kind];
    if (row.status !== 'pending' || unwanted === undefined) continue;
    const call = callOf(lane, row);
    const why = unwanted(lane, call);
    if (why === null) continue;
    takenBack?.(lane, call, why);
    lane.takeBack(row.id, why);
  }
}

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
