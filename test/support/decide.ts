// The engine's steps and the subjects' rules as functions from state to state, for tests that pass states as values.
import { SUBJECTS } from '../../src/core/lanes/subjects.js';
import {
  type InvoiceRow,
  type LaneState,
  type CallKind,
  type CallRow,
  type ReviewRow,
} from '../../src/shared/domain/model.js';
import { type CallFailure } from '../../src/shared/domain/ports/call.js';
import * as answers from '../../src/engine/calls.js';
import { type ReplyTo, type Call, callOf, type CallRule } from '../../src/engine/call.js';
import { type Ctx } from '../../src/engine/context.js';
import { carryOut, type Refusal, type Result, type Choice, type ChoiceRule } from '../../src/engine/commanded.js';
import { Lane, type DecideAgain, type Rule } from '../../src/engine/lane.js';
import { type NextRequest } from '../../src/engine/lookup.js';
import { type ChannelEvent, type LaneEvent, type EventOutcome } from '../../src/engine/event.js';
import * as facts from '../../src/core/books/rules/invoice-facts.js';
import * as reviews from '../../src/core/reviews/resolve-review.js';
import * as settling from '../../src/engine/settle.js';
import * as events from '../../src/engine/apply-event.js';

/** The verdict on an event, and the lane after the event. */
export type Applied = { readonly state: LaneState; readonly verdict: EventOutcome };

/** The value that a request returns, and the lane after the request. */
export type Commanded<T> = { readonly ok: true; readonly state: LaneState; readonly value: T } | Refusal;

/** Runs a rule on a state. Returns the new state, or the same object if the rule changed nothing. */
export function decide(s: LaneState, ctx: Ctx, rule: Rule): LaneState {
  const lane = new Lane(s, ctx);
  rule(lane);
  return lane.toState();
}

export function asEventRule<E>(take: (lane: Lane, e: E) => EventOutcome): (s: LaneState, e: E, ctx: Ctx) => Applied {
  return (s, e, ctx) => {
    const lane = new Lane(s, ctx);
    const outcome = take(lane, e);
    return { state: lane.toState(), verdict: outcome };
  };
}

export function asCommand<T>(act: (lane: Lane) => Result<T>): (s: LaneState, ctx: Ctx) => Commanded<T> {
  return (s, ctx) => {
    const lane = new Lane(s, ctx);
    const done = carryOut(lane, act);
    return done.ok ? { ...done, state: lane.toState() } : done;
  };
}

type Chosen = (s: LaneState, r: ReviewRow, choice: Choice, ctx: Ctx) => Commanded<null>;

export function asReview(choose: ChoiceRule): Chosen {
  return (s, r, choice, ctx) => {
    const lane = new Lane(s, ctx);
    return choose(lane, r, choice) ?? { ok: true, state: lane.toState(), value: null };
  };
}

/** Turns the rule of a call into functions on states. */
export function onStates<K extends CallKind>(rule: CallRule<K>) {
  const on =
    <T>(act: (lane: Lane, call: Call, of: T) => unknown) =>
    (s: LaneState, m: CallRow, of: T, ctx: Ctx): LaneState =>
      decide(s, ctx, (lane) => void act(lane, callOf(lane, m), of));
  return {
    answered: on<ReplyTo<K>>(rule.replied),
    refused: on<CallFailure>(rule.refused),
    silent: on<CallFailure>((lane, call, f) => rule.silent?.(lane, call, f)),
    untraceable: on<string>((lane, call, why) => rule.untraceable?.(lane, call, why)),
    withdrawn: (s: LaneState, m: CallRow, ctx: Ctx): LaneState | null => {
      const lane = new Lane(s, ctx);
      return rule.withdrawn?.(lane, callOf(lane, m)) === true ? lane.toState() : null;
    },
    notBefore: (s: LaneState, m: CallRow, ctx: Ctx): Date | null => {
      const lane = new Lane(s, ctx);
      return rule.notBefore?.(lane, callOf(lane, m)) ?? null;
    },
    waits: (s: LaneState, ctx: Ctx): boolean => rule.waits?.(new Lane(s, ctx)) === true,
    resolve: asReview(rule.chosen ?? (() => null)),
  };
}

// ---- The steps of the engine, with all subjects in place

type Outcome<F extends (...of: never[]) => unknown> = Parameters<F>[3];

export const applyEvent = (s: LaneState, e: LaneEvent | ChannelEvent, ctx: Ctx): Applied =>
  asEventRule((lane, one: LaneEvent | ChannelEvent) => events.applyEvent(SUBJECTS, lane, one))(s, e, ctx);

export const applyReply = (s: LaneState, id: string, o: Outcome<typeof answers.applyReply>, ctx: Ctx): LaneState =>
  decide(s, ctx, (lane) => answers.applyReply(SUBJECTS.calls, lane, id, o));

export const applyCheck = (s: LaneState, id: string, o: Outcome<typeof answers.applyCheck>, ctx: Ctx): LaneState =>
  decide(s, ctx, (lane) => answers.applyCheck(SUBJECTS.calls, lane, id, o));

export const nextRequestOf = (s: LaneState, ctx: Ctx, decideAgain: DecideAgain): NextRequest | null =>
  settling.nextRequest(SUBJECTS, new Lane(s, ctx, decideAgain));

export const resolveReview = (s: LaneState, id: string, choice: Choice, ctx: Ctx): Commanded<ReviewRow> =>
  asCommand((lane) => reviews.resolveReview(SUBJECTS, lane, id, choice))(s, ctx);

export const settle = (s: LaneState, ctx: Ctx): settling.Settled => settling.settle(SUBJECTS, new Lane(s, ctx));

// ---- Single changes

type Item = Parameters<Lane['openReview']>[0];
type Request = Parameters<Lane['request']>[0];

export const openReview = (s: LaneState, ctx: Ctx, item: Item): LaneState =>
  decide(s, ctx, (lane) => lane.openReview(item));

export const closeReviews = (s: LaneState, ctx: Ctx, ...of: Parameters<Lane['closeItems']>): LaneState =>
  decide(s, ctx, (lane) => lane.closeItems(...of));

export const openReviewOf = (s: LaneState, kind: ReviewRow['kind'], subject: string): ReviewRow | undefined =>
  s.reviews.find((r) => r.kind === kind && r.subject === subject && r.status === 'open');

export const addCallRow = (s: LaneState, ctx: Ctx, m: Request): LaneState => decide(s, ctx, (lane) => lane.request(m));

export const addCall = (s: LaneState, ctx: Ctx, ...of: Parameters<Lane['call']>): LaneState =>
  decide(s, ctx, (lane) => lane.call(...of));

export const takeCallBack = (s: LaneState, { id }: CallRow, why: string, ctx: Ctx): LaneState =>
  decide(s, ctx, (lane) => lane.takeBack(id, why));

export const note = (s: LaneState, ctx: Ctx, ...of: Parameters<Lane['log']>): LaneState =>
  decide(s, ctx, (lane) => lane.log(...of));

export function ensureInvoice(s: LaneState, ctx: Ctx): { readonly state: LaneState; readonly invoice: InvoiceRow } {
  const lane = new Lane(s, ctx);
  const invoice = { ...facts.ensureInvoice(lane) };
  return { state: lane.toState(), invoice };
}

type Taken<F extends (lane: Lane, ...of: never[]) => void> = F extends (lane: Lane, ...of: infer R) => void ? R : never;

export const recordRead = (s: LaneState, ctx: Ctx, ...of: Taken<typeof facts.applyRead>): LaneState =>
  decide(s, ctx, (lane) => facts.applyRead(lane, ...of));

export const applyLateRead = (s: LaneState, ctx: Ctx, ...of: Taken<typeof facts.applyLateRead>): LaneState =>
  decide(s, ctx, (lane) => facts.applyLateRead(lane, ...of));

export const recordEvent = (s: LaneState, ctx: Ctx, ...of: Taken<typeof facts.recordEvent>): LaneState =>
  decide(s, ctx, (lane) => facts.recordEvent(lane, ...of));

export const askAgain = (s: LaneState, ctx: Ctx): LaneState => decide(s, ctx, facts.askAgain);

export const requireRead = (s: LaneState): LaneState =>
  s.invoice === null ? s : { ...s, invoice: { ...s.invoice, readAt: null, readDueAt: null } };
