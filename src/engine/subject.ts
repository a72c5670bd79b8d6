// How a subject, the code of one noun such as refunds/, joins the engine: with rules for events, calls, items, lookups
// and choices. core/lanes/subjects.ts lists all subjects.
import { type OwnType } from '../shared/domain/events/own-event.js';
import { type ReviewKind } from '../shared/domain/fact.js';
import { type LaneRows, type LaneState } from '../shared/domain/model.js';
import { type MorObjectKind } from '../shared/domain/mor-object.js';
import { type CallRules } from './call.js';
import { type Ports } from './context.js';
import { type ChoiceRule } from './commanded.js';
import { type RequestRule } from './lookup.js';
import { type Lane, type Rule } from './lane.js';
import { type OwnLaneEvent, type PaymentEvent, type EventOutcome } from './event.js';
import { declares, type ItemRule } from './items.js';

/** The rules for events, by type. Each returns the verdict on its event. */
export type EventRules = {
  readonly [K in PaymentEvent['type']]?: (lane: Lane, event: PaymentEvent) => EventOutcome;
} & {
  readonly [K in OwnType]?: (lane: Lane, event: OwnLaneEvent<K>) => EventOutcome;
};

/** A write to the own table of a subject, such as signups/, in the same commit as a lane's step. */
export type StepWrite = {
  /** The first four letters must be unique among the parts of the statement: the statement's name contains them. */
  readonly name: string;
  /** The SQL. Its own parameters begin at `$n`: each is an array with one column of the rows. `$1` is the time. */
  readonly sql: (first: number) => string;
  /** The rows of one step. Empty: nothing to write. */
  readonly rows: (after: LaneState) => readonly (readonly unknown[])[];
};

/** A line at level `info` about a commit. It holds ids, amounts and codes, and no words about the customer. */
export type LogLine = {
  readonly event: `${string}.${string}`;
  readonly message: string;
  /** The fields, by the names in the log. Amounts are whole numbers in smallest units. */
  readonly fields: Readonly<Record<string, string | number | null>>;
};

/**
 * How a subject, such as refunds/, joins the engine. Write `… satisfies Subject`: `core/lanes/` puts the
 * parts of all subjects into typed records, so a forgotten event, call or choice does not compile.
 */
export type Subject = {
  /**
   * The subject's objects. Without one of these kinds in the lane, the engine skips the subject's rules, items and
   * lookups. Most lanes have no object at all, and then no subject of objects is asked. Absent: it has no objects.
   */
  readonly objects?: readonly MorObjectKind[] | 'all';
  /** False: the lane has no other row of the subject, so the engine skips its `rest` rules and items. */
  readonly when?: (lane: LaneRows) => boolean;
  /** True: its `rest` rules, items and lookups run after those of the core. Absent: before them. */
  readonly late?: true;
  readonly events?: EventRules;
  readonly calls?: Partial<CallRules>;
  /** Rules to run before the rules of `money`. */
  readonly before?: readonly Rule[];
  /** Rules to run until nothing changes: the rules of several subjects make work for each other. */
  readonly untilStable?: readonly Rule[];
  /** Rules to run after the rules of `money`. */
  readonly after?: readonly Rule[];
  readonly items?: readonly ItemRule[];
  readonly lookups?: readonly RequestRule[];
  readonly writes?: readonly StepWrite[];
  readonly choices?: { readonly [K in Exclude<ReviewKind, 'effect_failed'>]?: ChoiceRule };
  /** What the subject does for the core and for others. */
  readonly ports?: Partial<Ports>;
};

function hasObjects({ objects: kinds }: Subject, { objects }: LaneRows): boolean {
  if (kinds === undefined) return true;
  return objects.length > 0 && (kinds === 'all' || objects.some((o) => kinds.includes(o.kind)));
}

/** Makes one rule from a subject's `first` rules. */
export function ruleBefore(subject: Subject): Rule {
  const { before = [] } = subject;
  return (lane) => {
    if (hasObjects(subject, lane)) for (const rule of before) rule(lane);
  };
}

/** Makes one rule from a subject's `rest` rules and items. */
export function ruleAfter(subject: Subject): Rule {
  const { when, after = [], items = [] } = subject;
  const rules = [...after, declares(...items)];
  return (lane) => {
    if (hasObjects(subject, lane) && (when === undefined || when(lane))) for (const rule of rules) rule(lane);
  };
}

/** The lookups of these subjects, in order. */
export function lookupsOf(subjects: readonly Subject[]): readonly RequestRule[] {
  return subjects.flatMap((subject) =>
    (subject.lookups ?? []).map(
      (next): RequestRule =>
        (lane) =>
          hasObjects(subject, lane) ? next(lane) : null,
    ),
  );
}
