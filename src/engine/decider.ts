// The engine's one port: what the subjects decide. `decisions/` implements it, so the engine knows no subject.
import { type EventSource } from '../domain/ports/inbox.js';
import { type LaneState, type OutboxRow, type ReviewKind } from '../domain/model.js';
import { type NewNotification, type NotifyFormat, type Told } from '../domain/notification.js';
import { type CallRules } from './call.js';
import { type Lane, type Rule } from './draft.js';
import { type Elsewhere } from './context.js';
import { type Customers, type NextErrand, type Signups } from './lookup.js';
import { type ChannelEvent, type LaneEvent, type Verdict } from './event.js';
import { type Claim, type EventVerdict } from './lane-store.js';
import { type ChoiceRule } from './commanded.js';
import { type StepWrite } from './subject.js';

/** What the subjects take in, settle and need, and in which order. All of it is pure. */
export type Subjects = {
  /** Records what an event says. */
  readonly takeEvent: (lane: Lane, e: LaneEvent | ChannelEvent) => Verdict;
  /** The MoR's id of a payment that the event names; null: none. */
  readonly paymentNamedIn: (e: LaneEvent | ChannelEvent) => string | null;
  /** Takes the name of a payment from an event, unless it is another invoice's. */
  readonly learnName: (lane: Lane, e: LaneEvent | ChannelEvent) => void;
  /** Stored calls, by kind. */
  readonly calls: CallRules;
  /** Review items, by kind. `effect_failed` is about a call: its rule stands with the call. */
  readonly reviews: Readonly<Record<Exclude<ReviewKind, 'effect_failed'>, ChoiceRule>>;
  /** Once, before the money is looked at. */
  readonly first: readonly Rule[];
  /** Again and again until nothing changes: each may make work for the others. */
  readonly untilStill: readonly Rule[];
  /** Once, when the money is at rest. */
  readonly last: readonly Rule[];
  /** Errands before the stored calls are sent, and after. */
  readonly errandsFirst: readonly NextErrand[];
  readonly errandsLast: readonly NextErrand[];
  /** Writes to the subjects' own tables, in the commit of each step. */
  readonly writes: readonly StepWrite[];
};

/** An event with what became of it. `eventId`: the sender's. */
export type DecidedEvent = EventVerdict & {
  readonly type: string;
  readonly source: EventSource;
  readonly eventId: string;
};

/** What the merchant's backend is told about a step, and the lane with a line for each in its timeline. */
export type TellStep = (
  before: LaneState,
  after: LaneState,
  at: Date,
) => { readonly after: LaneState; readonly told: readonly NewNotification[] };

export abstract class Decider {
  abstract readonly subjects: Subjects;
  /** The looks at customers, for lookups. */
  abstract readonly customers: Customers;
  abstract readonly signups: Signups;
  /** Which of a lane's payments (by the MoR's ids) and charges belong to other lanes; null: none of them. */
  abstract heldElsewhere(
    lane: string,
    names: { readonly payments: readonly string[]; readonly charges: readonly string[] },
  ): Promise<Elsewhere | null>;
  /** Facts about other lanes for the rule of a refused call. */
  abstract refusedBecause(call: OutboxRow): Promise<Elsewhere>;
  /** Writes a notification down in this format: its id and its exact bytes. */
  abstract putDownIn(format: NotifyFormat): (told: Told, at: Date) => NewNotification;
  /** Tells of steps in this format. */
  abstract tellIn(format: NotifyFormat): TellStep;
  /** Works a lane of events that name no invoice: moves each to its invoice's lane. Gives what was decided here. */
  abstract route(claim: Claim): Promise<readonly DecidedEvent[]>;
}
