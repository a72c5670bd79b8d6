// One step of a lane: the decision on the lane's state, without I/O.
import { type LaneWork, LaneFenced } from './lane.repository.js';
import { type Loaded, type QueuedLane } from './lane-reader.js';
import { type LaneState } from '../shared/domain/model.js';
import { type NewRow, wantsSnapshot, logRow, isEmpty, type Folded } from './lane-log.js';
import { type NewNotification } from '../shared/domain/notification.js';
import { type Remembered } from '../shared/domain/request-name.js';
import { type TellStep } from './decider.js';
import { readRowWrites } from './read-rows.js';

export type Step = {
  readonly work: LaneWork<unknown>;
  readonly known: Loaded & { readonly taken: QueuedLane | null };
  readonly value: unknown;
  readonly made: string | null;
  readonly after: LaneState;
  /** The step's row in the log. Null: the step has nothing to write. */
  readonly row: NewRow | null;
  readonly isIdle: boolean;
  readonly dueAt: Date | null;
  readonly outcomes: ReturnType<LaneWork<unknown>['decide']>['outcomes'];
  readonly notified: readonly NewNotification[];
};

/**
 * Decides, and returns the step to write. Throws `LaneFenced`, and the errors of `decide`. `tell` null: Crossbill makes
 * no notifications.
 */
export function decideStep(
  work: LaneWork<unknown>,
  known: Step['known'],
  { at, remembered, tell }: { readonly at: Date; readonly remembered: Remembered; readonly tell: TellStep | null },
): Step {
  if (work.fence !== null && known.taken?.fence !== work.fence) {
    throw new LaneFenced(`lane ${work.lane} was claimed by another worker`);
  }
  const { folded } = known;
  const before = folded.state;
  const decided = work.decide({ state: before, events: work.fence === null ? [] : known.events, remembered, now: at });
  const { after, notified } = tell === null ? { after: decided.state, notified: [] } : tell(before, decided.state, at);
  const isIdle = decided.isIdle === true;
  const snapshot = wantsSnapshot(folded);
  // True: this step also writes the read rows. A step between two calls of a claim writes only the log. The exception
  // is a step that gives a payment the MoR's id: the next calls contain this id, and only the read row keeps the id
  // unique.
  const hasNothingLeft = isIdle || work.fence === null || snapshot || isNamedLate(before, after);
  const behind = (): boolean => hasNothingLeft && readRowWrites([{ before: folded.shown, after }]).length > 0;
  const row = logRow({ before, after, version: folded.version + 1, at, isIdle: hasNothingLeft, snapshot });
  const moreAt = isIdle && decided.outcomes.length >= known.events.length ? known.moreAt : null;
  return {
    work,
    known,
    value: decided.value,
    made: decided.made ?? null,
    after,
    row: isEmpty(row) && after.entries.length === 0 && !behind() ? null : row,
    isIdle,
    dueAt: earliest(decided.dueAt, moreAt),
    outcomes: decided.outcomes,
    notified,
  };
}

/**
 * True if a payment gets the MoR's id in this step, and this step does not book the payment. Then no ledger entry keeps
 * the id unique.
 */
function isNamedLate(before: LaneState, after: LaneState): boolean {
  if (before.payments === after.payments) return false;
  const booked = new Set(after.entries.flatMap((e) => (e.reason === 'payment_collected' ? [e.paymentRowId] : [])));
  return after.payments.some(
    (p) =>
      p.paymentId !== null &&
      !booked.has(p.id) &&
      before.payments.find((x) => x.id === p.id)?.paymentId !== p.paymentId,
  );
}

function earliest(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

/** The lane after the commit of the step. */
export function foldedAfter({ known: { folded }, after, row }: Step): Folded {
  const state = { ...after, attempts: [], entries: [], journal: [] };
  if (row === null) return { ...folded, state };
  return {
    state,
    shown: row.at_rest ? state : folded.shown,
    version: row.version,
    rowsSinceSnapshot: row.snapshot ? 1 : folded.rowsSinceSnapshot + 1,
  };
}
