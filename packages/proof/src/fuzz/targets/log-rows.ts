// Rows of the lane log: folding a step's rows must give the step's state, whatever texts they contain.
import fc from 'fast-check';
import { emptyLane } from '#src/engine/context.js';
import { type LaneState } from '#src/shared/domain/model.js';
import { type Kind, type Row } from '#src/shared/domain/row.js';
import { maskCards } from '#src/shared/masks/card-numbers.js';
import { fold, LOGGED, type LoggedRow, logRow } from '#src/engine/lane-log.js';
import { oddText, timeText } from '../inputs/texts.js';
import { must, mustBeSame, shown, type Target } from '../target.js';

const NOW = new Date('2026-11-22T12:00:00Z');

type Plan = { readonly [kind: string]: readonly (readonly string[])[] };
const { calls: _, attempts: __, ...TABLES } = LOGGED;
const seeds = fc.array(
  fc.oneof(
    fc.constant(''),
    oddText.filter((t) => t.length < 300),
    timeText,
  ),
  { minLength: 4, maxLength: 12 },
);
const plans: fc.Arbitrary<string> = fc
  .record({
    before: fc.dictionary(fc.constantFrom(...Object.keys(TABLES)), fc.array(seeds, { maxLength: 2 }), { maxKeys: 4 }),
    after: fc.dictionary(fc.constantFrom(...Object.keys(TABLES)), fc.array(seeds, { maxLength: 3 }), { maxKeys: 4 }),
    format: fc.constantFrom(1, 2, 2, 3, 99),
  })
  .map((plan) => JSON.stringify(plan));

/** Makes a row from texts: each column gets a value of its kind. A read masks card numbers in words of others. */
function rowFrom<T>(codec: Row<T, unknown>, from: readonly string[], count: number): T {
  const out: Record<string, unknown> = {};
  for (const [i, [name, { kind }]] of Object.entries<{ readonly kind: Kind }>(codec.columns).entries()) {
    const text = maskCards(from[i % from.length] ?? '').replace(/\0|\p{Surrogate}/gu, '\ufffd');
    const sum = BigInt([...text].reduce((a, ch) => (a * 31 + (ch.codePointAt(0) ?? 0)) % 2 ** 40, 7));
    const key = codec.key.includes(name as keyof T & string);
    if (key) out[name] = `id_${count}`;
    else if (text === '') out[name] = null;
    else if (kind === 'text') out[name] = text;
    else if (kind === 'int') out[name] = Number(sum % 1_000n);
    else if (kind === 'bigint') out[name] = sum * 1_000n - 500n;
    else if (kind === 'time') out[name] = new Date(Number(sum));
    else if (kind === 'bool') out[name] = sum % 2n === 0n;
    else if (kind === 'texts') out[name] = ['surplus'];
    else out[name] = { code: 'said', said: text, deep: [1, null, '__proto__'] }; // each fact has a code
  }
  return out as T;
}

function laneOf(plan: Plan): LaneState {
  const rows = <T>(name: keyof typeof TABLES): T[] =>
    (plan[name] ?? []).map((from, n) => rowFrom(TABLES[name] as unknown as Row<T, unknown>, from, n));
  const [invoice = null] = rows<NonNullable<LaneState['invoice']>>('invoice');
  return {
    ...emptyLane('in_1'),
    invoice,
    payments: rows('payments'),
    refunds: rows('refunds'),
    objects: rows('objects'),
    reviews: rows('reviews'),
  };
}

export const logRows: Target = {
  name: 'log-rows',
  what: "rows of the log: a step's row folds into the same state, and a newer release’s row is refused",
  inputs: plans,
  check(text) {
    const plan = JSON.parse(text) as { before: Plan; after: Plan; format: number };
    const before = laneOf(plan.before);
    const merged = laneOf({ ...plan.before, ...plan.after });
    // A step adds and changes rows, and never removes a row.
    const kept = <T extends { readonly id: string }>(was: readonly T[], is: readonly T[]): T[] => [
      ...is,
      ...was.filter((x) => !is.some((y) => y.id === x.id)),
    ];
    const after: LaneState = {
      ...merged,
      payments: kept(before.payments, merged.payments),
      refunds: kept(before.refunds, merged.refunds),
      objects: kept(before.objects, merged.objects),
      reviews: kept(
        before.reviews,
        merged.reviews.map((r) =>
          filled(
            r,
            before.reviews.find((b) => b.id === r.id),
          ),
        ),
      ),
      invoice: merged.invoice ?? before.invoice,
    };
    const written = [
      logRow({ before: emptyLane('in_1'), after: before, version: 1, at: NOW, isIdle: false, snapshot: false }),
      logRow({ before, after, version: 2, at: NOW, isIdle: true, snapshot: false }),
      logRow({ before: after, after, version: 3, at: NOW, isIdle: true, snapshot: true }),
    ];
    const read = written.map((row): LoggedRow => ({
      ...row,
      change: JSON.parse(row.change) as LoggedRow['change'],
      bodies: null,
    }));
    const sorted = (state: LaneState): string =>
      shown(
        Object.fromEntries(
          Object.entries(state).map(([k, v]: [string, unknown]) => [
            k,
            Array.isArray(v) ? v.map((row) => canon(row)).sort() : v === null || typeof v !== 'object' ? v : canon(v),
          ]),
        ),
      );
    mustBeSame(sorted(fold('in_1', read.slice(0, 2)).state), sorted(after), 'folded from its steps');
    mustBeSame(sorted(fold('in_1', read).state), sorted(after), 'folded from its snapshot');
    const newer = read.map((row) => ({ ...row, change: { ...row.change, f: plan.format } }));
    if (plan.format > 2) {
      let refused = '';
      try {
        fold('in_1', newer);
      } catch (error) {
        refused = error instanceof Error ? error.message : '';
      }
      must(refused !== '', "a newer release's row was read");
    }
  },
};

/** Keeps the old value of each column that is now null: no rule removes a deadline or an answer from a review item. */
function filled<T extends object>(row: T, was: T | undefined): T {
  if (was === undefined) return row;
  const lost = Object.entries(row)
    .filter(([, value]) => value === null)
    .map(([name]) => [name, (was as Record<string, unknown>)[name]] as const);
  return { ...row, ...Object.fromEntries(lost) };
}

/** Prints the row as JSON with ordered members, to compare it. */
function canon(row: unknown): string {
  if (typeof row !== 'object' || row === null) return shown(row);
  return shown(Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))));
}
