// The engine's one port to the subjects. `decisions/` implements it, so the engine knows no subject.
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

/** The rules of all subjects, in order. All of them are pure. */
export type Subjects = {
  /** Records the facts of an event. */
  readonly takeEvent: (lane: Lane, e: LaneEvent | ChannelEvent) => Verdict;
  /** The MoR's id of the payment in the event; null: none. */
  readonly paymentNamedIn: (e: LaneEvent | ChannelEvent) => string | null;
  /** Takes the MoR's id of a payment from an event, unless another invoice has it. */
  readonly learnName: (lane: Lane, e: LaneEvent | ChannelEvent) => void;
  /** Stored calls, by kind. */
  readonly calls: CallRules;
  /** The choices for review items, by kind. `effect_failed` is about a call, so the call's rule has its choices. */
  readonly reviews: Readonly<Record<Exclude<ReviewKind, 'effect_failed'>, ChoiceRule>>;
  /** Once, before `untilStill`. */
  readonly first: readonly Rule[];
  /** Repeated until nothing changes: each rule may make work for the others. */
  readonly untilStill: readonly Rule[];
  /** Once, after `untilStill`. */
  readonly last: readonly Rule[];
  /** Errands before the stored calls are sent, and after. */
  readonly errandsFirst: readonly NextErrand[];
  readonly errandsLast: readonly NextErrand[];
  /** Writes to the subjects' own tables, in the commit of each step. */
  readonly writes: readonly StepWrite[];
};

/** An event with its verdict. `eventId`: the sender's. */
export type DecidedEvent = EventVerdict & {
  readonly type: string;
  readonly source: EventSource;
  readonly eventId: string;
};

/** The notifications of a step, and the lane with one line of the timeline for each. */
export type TellStep = (
  before: LaneState,
  after: LaneState,
  at: Date,
) => { readonly after: LaneState; readonly told: readonly NewNotification[] };

export abstract class Decider {
  abstract readonly subjects: Subjects;
  abstract readonly customers: Customers;
  abstract readonly signups: Signups;
  /** Which of a lane's payments (by the MoR's ids) and charges belong to other lanes; null: none of them. */
  abstract heldElsewhere(
    lane: string,
    names: { readonly payments: readonly string[]; readonly charges: readonly string[] },
  ): Promise<Elsewhere | null>;
  /** Facts about other lanes for the rule of a refused call. */
  abstract refusedBecause(call: OutboxRow): Promise<Elsewhere>;
  /** Gives a notification its id and its exact bytes, in this format. */
  abstract putDownIn(format: NotifyFormat): (told: Told, at: Date) => NewNotification;
  /** Makes the notifications of steps, in this format. */
  abstract tellIn(format: NotifyFormat): TellStep;
  /**
   * Works a lane of events without an invoice's name: moves each event to its invoice's lane. Returns the events
   * decided here.
   */
  abstract route(claim: Claim): Promise<readonly DecidedEvent[]>;
}
