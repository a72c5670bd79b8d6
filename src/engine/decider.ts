// The engine's port to the rules of payments, refunds, disputes and so on. `core/lanes/` implements it, so the engine
// imports none of them.
import { type EventSource } from '../shared/domain/ports/inbox.js';
import { type CallRow } from '../shared/domain/call-row.js';
import { type ReviewKind } from '../shared/domain/fact.js';
import { type InvoiceRow } from '../shared/domain/invoice-row.js';
import { type LedgerEntry } from '../shared/domain/ledger-entry.js';
import { type LaneState } from '../shared/domain/model.js';
import { type NewNotification, type NotifyAs, type Notice } from '../shared/domain/notification.js';
import { type CallRules } from './call.js';
import { type Lane, type Rule } from './lane.js';
import { type Elsewhere, type Ports } from './context.js';
import { type Customers, type NextRequest, type RequestRule, type Signups } from './lookup.js';
import { type ChannelEvent, type LaneEvent, type EventOutcome } from './event.js';
import { type Claim, type RecordedOutcome } from './lane.repository.js';
import { type ChoiceRule } from './commanded.js';
import { type LogLine, type StepWrite } from './subject.js';

/** The rules of all subjects, such as refunds/, in order. Every rule is pure. */
export type Subjects = {
  /** Records the facts of an event. */
  readonly applyEvent: (lane: Lane, event: LaneEvent | ChannelEvent) => EventOutcome;
  /** The MoR's id of the payment in the event. Null: the event has none. */
  readonly paymentNamedIn: (event: LaneEvent | ChannelEvent) => string | null;
  /** Gives the payment the MoR's id from an event, unless another invoice's payment has this id. */
  readonly learnName: (lane: Lane, event: LaneEvent | ChannelEvent) => void;
  /** The read of Stripe's facts about the lane. `wantedBy`: types of events whose decision always needs it. */
  readonly freshRead: {
    readonly request: (lane: string) => NextRequest;
    /** True if the last read is recent enough for a call. */
    readonly isFresh: (invoice: InvoiceRow | null, now: Date) => boolean;
    readonly wantedBy: ReadonlySet<string>;
  };
  /** The MoR's charges in these entries. Each charge belongs to one lane. */
  readonly chargesIn: (entries: readonly LedgerEntry[]) => readonly string[];
  /** The rules of stored calls, by kind. */
  readonly calls: CallRules;
  /**
   * The rules for a person's choices, by kind of review item. An `effect_failed` item is about a call, so the call's
   * rule has its choices.
   */
  readonly reviews: Readonly<Record<Exclude<ReviewKind, 'effect_failed'>, ChoiceRule>>;
  /** These rules run before `untilStable`. */
  readonly before: readonly Rule[];
  /** These rules run until nothing changes: each rule may make work for the others. */
  readonly untilStable: readonly Rule[];
  /** These rules run after `untilStable`. */
  readonly after: readonly Rule[];
  /** The order of a lane's requests to Stripe and the MoR: `requestsFirst`, the stored calls, `requestsLast`. */
  readonly requestsFirst: readonly RequestRule[];
  readonly requestsLast: readonly RequestRule[];
  /** Writes to the subjects' own tables, in the same commit as each step. */
  readonly writes: readonly StepWrite[];
  readonly ports: Ports;
  /** The lines in the log about a commit, usually none. */
  readonly logLines: (before: LaneState, after: LaneState) => readonly LogLine[];
};

/** An event with its verdict. `eventId` is the sender's id of the event. */
export type DecidedEvent = RecordedOutcome & {
  readonly type: string;
  readonly source: EventSource;
  readonly eventId: string;
};

/** Makes the notifications of a step. Returns the notifications, and the lane with a line in its timeline for each. */
export type TellStep = (
  before: LaneState,
  after: LaneState,
  at: Date,
) => { readonly after: LaneState; readonly notified: readonly NewNotification[] };

export abstract class Decider {
  abstract readonly subjects: Subjects;
  abstract readonly customers: Customers;
  abstract readonly signups: Signups;
  /** Finds payment ids and charges of this lane in the records of other lanes. Null: other lanes have none of them. */
  abstract heldElsewhere(
    lane: string,
    names: { readonly payments: readonly string[]; readonly charges: readonly string[] },
  ): Promise<Elsewhere | null>;
  /** Reads facts about other lanes for the rule of a refused call. */
  abstract refusedBecause(call: CallRow): Promise<Elsewhere>;
  /** Returns a function to give a notification its id and its exact bytes in this format. Null: nobody is notified. */
  abstract putDownAs(as: NotifyAs): ((notice: Notice, at: Date) => NewNotification) | null;
  /** Returns a function to make the notifications of a step in this format. Null: nobody is notified. */
  abstract tellAs(as: NotifyAs): TellStep | null;
  /**
   * Works a lane of events without an invoice id. Finds the invoice of each event and moves the event to the invoice's
   * lane. Returns the events it decided without a move.
   */
  abstract route(claim: Claim): Promise<readonly DecidedEvent[]>;
}
