// The rules about the lane logs: each log is complete, and the read model agrees with it.
import { fromRow } from '#src/frames/store/codec.js';
import { fold, type LoggedRow } from '#src/engine/lane-log.js';
import { listedRefunds, openCalls } from '#src/engine/read-rows.js';
import { INVOICE } from '#src/shared/domain/invoice-row.js';
import { type LaneState } from '#src/shared/domain/model.js';
import { PAYMENT } from '#src/shared/domain/payment-row.js';
import { REFUND } from '#src/shared/domain/refund-row.js';
import { REVIEW } from '#src/shared/domain/review-row.js';
import { MOR_OBJECT } from '#src/shared/domain/mor-object.js';
import { type Row as Declared } from '#src/shared/domain/row.js';
import { type Snapshot } from '../machine/sim-repository.js';

export function logRules(seen: Snapshot): string[] {
  return [...seen.log].flatMap(([lane, rows]) => {
    const gaps = gapsIn(lane, rows);
    // If a log row is missing, skip the other checks: they compare a state made from the whole log.
    return gaps.length > 0 ? gaps : [...forgottenIn(lane, rows), ...behind(seen, lane, fold(lane, rows).shown)];
  });
}

/**
 * L1: the versions of a log are 1, 2, 3 and so on. A missing row loses facts for good, since no later row repeats them.
 */
function gapsIn(lane: string, rows: readonly LoggedRow[]): string[] {
  const at = rows.findIndex((r, n) => r.version !== n + 1);
  return at < 0 ? [] : [`L1: the log of ${lane} has no row ${at + 1}, and goes on with ${rows[at]?.version ?? 0}`];
}

const PARTS = ['payments', 'refunds', 'objects', 'reviews', 'calls'] as const;

/** L2: a log row with a snapshot contains the whole state of the lane. */
function forgottenIn(lane: string, rows: readonly LoggedRow[]): string[] {
  return rows.flatMap((row, n) => {
    if (!row.snapshot || n === 0) return [];
    const [before, after] = [fold(lane, rows.slice(0, n)).state, fold(lane, rows.slice(0, n + 1)).state];
    return PARTS.flatMap((part) => {
      const kept = new Set(after[part].map((x) => x.id));
      const gone = before[part].filter((x) => !kept.has(x.id));
      return gone.map((x) => `L2: the snapshot ${row.version} of ${lane} leaves ${x.id} of its ${part} out`);
    });
  });
}

type Row = Readonly<Record<string, unknown>>;

/** L3: at the end of a run, the read model of a lane agrees with the lane's log. */
function behind(seen: Snapshot, lane: string, shown: LaneState): string[] {
  const differing = <T extends object>(
    codec: Declared<T, unknown>,
    key: keyof T & string,
    wanted: readonly T[],
    rows: readonly object[],
  ): string[] => {
    const stored = new Map(rows.map((r) => fromRow(codec, r as Record<string, unknown>)).map((r) => [r[key], r]));
    return wanted
      .filter((row) => textOf(stored.get(row[key])) !== textOf(row))
      .map((row) => `L3: the row of ${codec.table} ${String(row[key])} is not what the log of ${lane} says`);
  };
  const own = <T extends { readonly invoice_id: string | null }>(rows: readonly T[]): readonly T[] =>
    rows.filter((r) => r.invoice_id === lane);
  const wanted = new Set(openCalls(shown).map((m) => m.id));
  const calls = new Set(seen.openCalls.filter((c) => c.lane === lane).map((c) => c.id));
  const same = wanted.size === calls.size && [...wanted].every((id) => calls.has(id));
  return [
    ...differing(INVOICE, 'invoiceId', shown.invoice === null ? [] : [shown.invoice], own(seen.invoices)),
    ...differing(PAYMENT, 'id', shown.payments, own(seen.payments)),
    ...differing(REFUND, 'id', listedRefunds(shown), seen.refunds),
    ...differing(MOR_OBJECT, 'id', shown.objects, own(seen.objects)),
    ...differing(REVIEW, 'id', shown.reviews, seen.reviews),
    ...(same
      ? []
      : [`L3: ${[...calls].join(', ') || 'no call'} of ${lane} counts as open, not ${[...wanted].join(', ')}`]),
  ];
}

/** Returns the same text for equal values, whatever the order of their members. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, v: unknown) => {
    if (typeof v === 'bigint') return v.toString();
    if (typeof v !== 'object' || v === null || Array.isArray(v)) return v;
    return Object.fromEntries(Object.entries(v as Row).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
