// What becomes of a stored call, as its subject decides on the draft: the reply, a refusal, silence, and whether anybody still wants it.
import { type LaneRows, type LaneState, type OutboxKind, type OutboxRow } from '../domain/model.js';
import { type CallFailure } from '../domain/ports/call.js';
import { type Answer, type AnswerTo, type Call, callOf } from './call.js';
import { type Ctx, takeCallBack } from './change.js';
import { Lane } from './draft.js';
import { carriedOut, type CallRule as OldCallRule, type ChoiceRule } from './subject.js';
import { asReview } from './adapter.js';

/** Unchanged by the draft. */
type Same = 'of' | 'order' | 'readFirst' | 'mayBeThere' | 'waits' | 'notBefore' | 'unwanted' | 'takenBack';

export type CallRule<K extends OutboxKind> = Pick<OldCallRule<AnswerTo<K>>, Same> & {
  readonly replied: (lane: Lane, call: Call, reply: AnswerTo<K>) => void;
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

type Unwanted = Pick<OldCallRule<never>, 'unwanted' | 'takenBack'>;

/** Takes back each call that nobody wants any more and that has no reply. The one loop for the calls of all subjects. */
export function takeBackUnwanted(lane: Lane, rules: Readonly<Record<OutboxKind, Unwanted>>): void {
  for (const row of lane.toState().messages) {
    const { unwanted, takenBack } = rules[row.kind];
    if (row.status !== 'pending' || unwanted === undefined) continue;
    const call = callOf(lane, row);
    const why = unwanted(lane, call);
    if (why === null) continue;
    takenBack?.(lane, call, why);
    lane.apply((s, ctx) => takeCallBack(s, row, why, ctx));
  }
}

/** A rule on the draft as a rule of the old kind. */
export function asCallRule<K extends OutboxKind>(rule: CallRule<K>): OldCallRule<AnswerTo<K>> {
  const on = (s: LaneState, m: OutboxRow, ctx: Ctx, act: (lane: Lane, call: Call) => void): LaneState => {
    const lane = new Lane(s, ctx);
    act(lane, callOf(lane, m));
    return lane.toState();
  };
  const { replied, refused, silent, withdrawn, untraceable, chosen, ...same } = rule;
  return {
    ...same,
    answered: (s, m, reply, ctx) => on(s, m, ctx, (lane, call) => replied(lane, call, reply)),
    refused: (s, m, failure, ctx) => on(s, m, ctx, (lane, call) => refused(lane, call, failure)),
    ...(silent && { silent: (s, m, failure, ctx) => on(s, m, ctx, (lane, call) => silent(lane, call, failure)) }),
    ...(withdrawn && {
      withdrawn: (s, m, ctx) => {
        const lane = new Lane(s, ctx);
        return withdrawn(lane, callOf(lane, m)) ? lane.toState() : null;
      },
    }),
    ...(untraceable && {
      untraceable: (s, m, why, ctx) => on(s, m, ctx, (lane, call) => untraceable(lane, call, why)),
    }),
    ...(chosen && { resolve: asReview(chosen) }),
  };
}

/** The rule of a kind of call that several subjects make: a rule whose `of` knows the call, else `others`. All of them go out alike. */
export function oneOf<A extends Answer>(others: OldCallRule<A>, ...rules: readonly OldCallRule<A>[]): OldCallRule<A> {
  const ruleOf = (s: LaneRows, subject: string): OldCallRule<A> =>
    rules.find(({ of }) => of?.(s, subject) === true) ?? others;
  return {
    ...others,
    answered: (s, m, a, ctx) => ruleOf(s, m.subject).answered(s, m, a, ctx),
    refused: (s, m, f, ctx) => ruleOf(s, m.subject).refused(s, m, f, ctx),
    // The item about a refusal is named after the call: its kind, then its subject.
    resolve: (s, r, choice, ctx) =>
      ruleOf(s, r.subject.slice(r.subject.indexOf(':') + 1)).resolve?.(s, r, choice, ctx) ?? carriedOut(s),
  };
}
