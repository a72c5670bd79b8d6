// The engine's steps and the subjects' rules as functions from state to state, for tests that pass states as values.
import { SUBJECTS } from '../../../src/core/lanes/subjects.js';
import { type CallKind, type CallRow } from '../../../src/shared/domain/call-row.js';
import { type InvoiceRow } from '../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type ReviewRow } from '../../../src/shared/domain/review-row.js';
import { type CallFailure } from '../../../src/shared/domain/ports/call.js';
import * as answers from '../../../src/engine/calls.js';
import { type ReplyTo, type Call, callOf, type CallRule } from '../../../src/engine/call.js';
import { type Ctx } from '../../../src/engine/context.js';
import { carryOut, type Refusal, type Result, type Choice, type ChoiceRule } from '../../../src/engine/commanded.js';
import { Lane, type DecideAgain, type Rule } from '../../../src/engine/lane.js';
import { type NextRequest } from '../../../src/engine/lookup.js';
import { type ChannelEvent, type LaneEvent, type EventOutcome } from '../../../src/engine/event.js';
import * as facts from '../../../src/core/books/rules/invoice-facts.js';
import * as reviews from '../../../src/core/reviews/resolve-review.js';
import * as settling from '../../../src/engine/settle.js';
import * as events from '../../../src/engine/apply-event.js';

/** The verdict on an event, and the lane after the event. */
export type Applied = { readonly state: LaneState; readonly verdict: EventOutcome };

/** The value that a request returns, and the lane after the request. */
export type Commanded<T> = { readonly ok: true; readonly state: LaneState; readonly value: T } | Refusal;

/** Runs a rule on a state. Returns the new state, or the same object if the rule changed nothing. */
export function decide(state: LaneState, ctx: Ctx, rule: Rule): LaneState {
  const lane = new Lane(state, ctx);
  rule(lane);
  return lane.toState();
}

export function asEventRule<E>(
  take: (lane: Lane, error: E) => EventOutcome,
): (state: LaneState, error: E, ctx: Ctx) => Applied {
  return (s, e, ctx) => {
    const lane = new Lane(s, ctx);
    const outcome = take(lane, e);
    return { state: lane.toState(), verdict: outcome };
  };
}

export function asCommand<T>(act: (lane: Lane) => Result<T>): (state: LaneState, ctx: Ctx) => Commanded<T> {
  return (s, ctx) => {
    const lane = new Lane(s, ctx);
    const done = carryOut(lane, act);
    return done.ok ? { ...done, state: lane.toState() } : done;
  };
}

type Chosen = (state: LaneState, item: ReviewRow, choice: Choice, ctx: Ctx) => Commanded<null>;

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

export const applyEvent = (state: LaneState, event: LaneEvent | ChannelEvent, ctx: Ctx): Applied =>
  asEventRule((lane, one: LaneEvent | ChannelEvent) => events.applyEvent(SUBJECTS, lane, one))(state, event, ctx);

export const applyReply = (
  state: LaneState,
  id: string,
  callOutcome: Outcome<typeof answers.applyReply>,
  ctx: Ctx,
): LaneState => decide(state, ctx, (lane) => answers.applyReply(SUBJECTS.calls, lane, id, callOutcome));

export const applyCheck = (
  state: LaneState,
  id: string,
  callOutcome: Outcome<typeof answers.applyCheck>,
  ctx: Ctx,
): LaneState => decide(state, ctx, (lane) => answers.applyCheck(SUBJECTS.calls, lane, id, callOutcome));

export const nextRequestOf = (state: LaneState, ctx: Ctx, decideAgain: DecideAgain): NextRequest | null =>
  settling.nextRequest(SUBJECTS, new Lane(state, ctx, decideAgain));

export const resolveReview = (state: LaneState, id: string, choice: Choice, ctx: Ctx): Commanded<ReviewRow> =>
  asCommand((lane) => reviews.resolveReview(SUBJECTS, lane, id, choice))(state, ctx);

export const settle = (state: LaneState, ctx: Ctx): settling.Settled => settling.settle(SUBJECTS, new Lane(state, ctx));

// ---- Single changes

type Item = Parameters<Lane['openReview']>[0];
type Request = Parameters<Lane['request']>[0];

export const openReview = (state: LaneState, ctx: Ctx, item: Item): LaneState =>
  decide(state, ctx, (lane) => lane.openReview(item));

export const closeReviews = (state: LaneState, ctx: Ctx, ...of: Parameters<Lane['closeItems']>): LaneState =>
  decide(state, ctx, (lane) => lane.closeItems(...of));

export const openReviewOf = (state: LaneState, kind: ReviewRow['kind'], subject: string): ReviewRow | undefined =>
  state.reviews.find((r) => r.kind === kind && r.subject === subject && r.status === 'open');

export const addCallRow = (state: LaneState, ctx: Ctx, request: Request): LaneState =>
  decide(state, ctx, (lane) => lane.request(request));

export const addCall = (state: LaneState, ctx: Ctx, ...of: Parameters<Lane['call']>): LaneState =>
  decide(state, ctx, (lane) => lane.call(...of));

export const takeCallBack = (state: LaneState, { id }: CallRow, why: string, ctx: Ctx): LaneState =>
  decide(state, ctx, (lane) => lane.takeBack(id, why));

export const note = (state: LaneState, ctx: Ctx, ...of: Parameters<Lane['log']>): LaneState =>
  decide(state, ctx, (lane) => lane.log(...of));

export function ensureInvoice(state: LaneState, ctx: Ctx): { readonly state: LaneState; readonly invoice: InvoiceRow } {
  const lane = new Lane(state, ctx);
  const invoice = { ...facts.ensureInvoice(lane) };
  return { state: lane.toState(), invoice };
}

type Taken<F extends (lane: Lane, ...of: never[]) => void> = F extends (lane: Lane, ...of: infer R) => void ? R : never;

export const recordRead = (state: LaneState, ctx: Ctx, ...of: Taken<typeof facts.applyRead>): LaneState =>
  decide(state, ctx, (lane) => facts.applyRead(lane, ...of));

export const applyLateRead = (state: LaneState, ctx: Ctx, ...of: Taken<typeof facts.applyLateRead>): LaneState =>
  decide(state, ctx, (lane) => facts.applyLateRead(lane, ...of));

export const recordEvent = (state: LaneState, ctx: Ctx, ...of: Taken<typeof facts.recordEvent>): LaneState =>
  decide(state, ctx, (lane) => facts.recordEvent(lane, ...of));

export const askAgain = (state: LaneState, ctx: Ctx): LaneState => decide(state, ctx, facts.askAgain);

export const requireRead = (state: LaneState): LaneState =>
  state.invoice === null ? state : { ...state, invoice: { ...state.invoice, readAt: null, readDueAt: null } };
