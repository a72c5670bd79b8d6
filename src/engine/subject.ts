// What a subject tells the engine: how it takes in an answer, what it settles, which errand it needs, what a person may make it do.
// The table of them all is decisions/subjects.ts.
import { type OwnType } from '../domain/events/own-event.js';
import { type MorServiceType, type ServiceEvent } from '../domain/events/mor-service-event.js';
import { type ReviewKind } from '../domain/fact.js';
import {
  type InvoiceRow,
  type LaneRows,
  type LaneState,
  type OutboxKind,
  type OutboxRow,
  type Resolution,
  type ReviewRow,
} from '../domain/model.js';
import { type CallFailure } from '../domain/ports/call.js';
import { type Answer, type AnswerTo, type Call } from './call.js';
import { type Ctx } from './change.js';
import { type Commanded, type Refusal } from './commanded.js';
import { type Errand } from './errand.js';
import { type Lane, type Rule } from './draft.js';
import { type OwnLaneEvent, type PaymentEvent, type Verdict } from './event.js';
import { declares, type ItemRule } from './items.js';

/** The call to somebody else that is needed next; `due` says whether a time has come, and asks for a look then if it has not. */
export type ErrandRule = (s: LaneState, ctx: Ctx, due: (at: Date | null) => boolean) => Errand | null;

/** What becomes of a call that was decided: key and bytes are stored before it is sent. */
export type CallRule<A extends Answer> = {
  /** Of calls that several subjects make: whether one with this subject is of this rule (see `oneOf`). Left out: all are. */
  readonly of?: (lane: LaneRows, subject: string) => boolean;
  /** Lower goes first. Marks go before mirrors, and what helps nobody but the MoR goes last. */
  readonly order: 0 | 1 | 2 | 3;
  /** It writes to the invoice itself, or leads to a write or a charge: the invoice is read afresh before, always or as the rule says. */
  readonly readFirst?: true | ((i: InvoiceRow, ctx: Ctx) => boolean);
  /**
   * Its effect may be on Stripe although this database knows nothing of it, as after a restored backup. Once the invoice is so old that
   * Stripe may have forgotten the key, it is looked for before the first try.
   */
  readonly mayBeThere?: (s: LaneState) => boolean;
  /** It is not to be sent yet, whatever its time. */
  readonly waits?: (s: LaneState, ctx: Ctx) => boolean;
  /** Why nobody wants it any more; null: it still counts. The engine asks of each call without a reply, and takes it back. */
  readonly unwanted?: (lane: Lane, call: Call) => string | null;
  /** What follows once the engine has taken it back. */
  readonly takenBack?: (lane: Lane, call: Call, why: string) => void;
  /** It was answered. */
  readonly answered: (s: LaneState, m: OutboxRow, answer: A, ctx: Ctx) => LaneState;
  /** It was refused for good. */
  readonly refused: (s: LaneState, m: OutboxRow, f: CallFailure, ctx: Ctx) => LaneState;
  /** Nobody answered; the engine sends it again. */
  readonly silent?: (s: LaneState, m: OutboxRow, f: CallFailure, ctx: Ctx) => LaneState;
  /** It had no effect, and the invoice cannot be paid any more. Left out: it is sent under a next key all the same. */
  readonly withdrawn?: (s: LaneState, m: OutboxRow, ctx: Ctx) => LaneState | null;
  /** Neither sent nor looked for before. Null: at once. */
  readonly notBefore?: (s: LaneState, m: OutboxRow, ctx: Ctx) => Date | null;
  /** Whether it had its effect cannot be found out, and each look would find more to go through. */
  readonly untraceable?: (s: LaneState, m: OutboxRow, why: string, ctx: Ctx) => LaneState;
  /** What a person's choice makes of the item that it failed. */
  readonly resolve?: ReviewRule;
};

export type Choice = { readonly resolution: Resolution; readonly note: string | null; readonly by: string };

/** Carries out what a person chose for an open item. The item is closed by it, whatever comes of what it starts. */
export type ReviewRule = (s: LaneState, r: ReviewRow, choice: Choice, ctx: Ctx) => Commanded<null>;

/** The same on the draft. Returns why the choice cannot be carried out, or null. */
export type ChoiceRule = (lane: Lane, item: ReviewRow, choice: Choice) => Refusal | null;

/** A choice that was carried out. */
export function carriedOut(state: LaneState): Commanded<null> {
  return { ok: true, state, value: null };
}

/** Nothing more follows from the choice than that the item is closed. */
export const nothingMore: ReviewRule = (s) => carriedOut(s);

/** The rules of events, by type. Each returns the verdict on its event. */
export type EventRules = {
  readonly [K in MorServiceType]?: (lane: Lane, e: ServiceEvent<K>) => Verdict;
} & { readonly [K in PaymentEvent['type']]?: (lane: Lane, e: PaymentEvent) => Verdict } & {
  readonly [K in OwnType]?: (lane: Lane, e: OwnLaneEvent<K>) => Verdict;
};

/**
 * How a subject joins the engine. Write `… satisfies Subject`: `decisions/` puts the parts of all subjects into typed records, so a forgotten
 * event, call or choice does not compile.
 */
export type Subject = {
  /** False: the lane has nothing of the subject, and its rules at rest are not asked. */
  readonly when?: (lane: LaneRows) => boolean;
  readonly events?: EventRules;
  readonly calls?: { readonly [K in OutboxKind]?: CallRule<AnswerTo<K>> };
  /** Once, before the money is looked at. */
  readonly first?: readonly Rule[];
  /** Again and again until nothing changes: the rules of several subjects make work for each other. */
  readonly money?: readonly Rule[];
  /** Once, when the money is at rest. */
  readonly rest?: readonly Rule[];
  readonly items?: readonly ItemRule[];
  readonly lookups?: readonly ErrandRule[];
  readonly choices?: { readonly [K in Exclude<ReviewKind, 'effect_failed'>]?: ReviewRule };
};

/** A subject's rules at rest, and then its items. */
export function atRest({ when, rest = [], items = [] }: Subject): Rule {
  const rules = [...rest, declares(...items)];
  return (lane) => {
    if (when === undefined || when(lane.toState())) for (const rule of rules) rule(lane);
  };
}
