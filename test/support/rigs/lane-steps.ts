// The steps a worker makes with a lane, for tests of their SQL statements, and the statements themselves.
import { FACTS } from '../builders/item-facts.js';
import { expect } from '@jest/globals';
import type pg from 'pg';
import { newPayment } from '../../../src/core/books/rules/payment-rows.js';
import { type Ctx } from '../../../src/engine/context.js';
import { ensureInvoice, openReview } from './decide.js';
import { putPayment } from '../builders/put-rows.js';
import { type RecordedOutcome, type LaneWork } from '../../../src/engine/lane.repository.js';
import { paymentCollected } from '../../../src/shared/domain/postings.js';

type Work = LaneWork<null>['decide'];

/** A step in the middle of a claim: it decides the events and writes a log row, an item and a ledger entry. */
export const decided: Work = ({ state, events, now }) => {
  expect(events).toHaveLength(1);
  const ctx = { now, newId: (prefix: string) => `${prefix}_${state.lane}` } as Ctx;
  const { state: known } = ensureInvoice(state, ctx);
  const payment = newPayment(ctx, { invoiceId: state.lane, customerId: 'cus_1', currency: 'EUR', amount: 1n });
  const item = { kind: 'dispute', subject: state.lane, fact: FACTS.dispute } as const;
  const next = openReview(putPayment(known, payment), ctx, item);
  const outcomes = events.map((e): RecordedOutcome => ({ id: e.id, status: 'done', reason: null }));
  const entries = [paymentCollected(payment, 1n, now, null)];
  return { state: { ...next, entries }, outcomes, dueAt: null, value: null };
};

/** The last step of a claim: it writes the read model, and the lane leaves the queue. */
export const rested: Work = ({ state, now }) => {
  const payments = state.payments.map((p) => ({ ...p, declineCode: now.toISOString() }));
  return { state: { ...state, payments }, outcomes: [], dueAt: null, isIdle: true, value: null };
};

export type Statement = { readonly name: string; readonly text: string; readonly values: unknown[] };

/** Records the prepared statements that a pool's connections send from now on. */
export function listenTo(pool: pg.Pool, sent: Statement[]): void {
  const heard = new WeakSet<pg.PoolClient>();
  pool.on('acquire', (client) => {
    if (heard.has(client)) return;
    heard.add(client);
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const hear = (first: unknown, ...rest: unknown[]): unknown => {
      if (typeof first === 'object' && first !== null && 'name' in first) sent.push(first as Statement);
      return query(first, ...rest);
    };
    Object.assign(client, { query: hear });
  });
}

export type Plan = { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };

/** The number of pages a statement touched. */
export const pagesIn = (plan: Plan | undefined): number =>
  (plan?.['Shared Hit Blocks'] ?? Infinity) + (plan?.['Shared Read Blocks'] ?? Infinity);

/** A statement can run only once, so the run for its plan writes the next rows. */
export function nextTime(value: unknown): unknown {
  if (isVersions(value)) return value.map((n) => n + 1_000);
  return typeof value === 'string' ? value.replaceAll('"reason":"payment_collected"', '"reason":"asked_again"') : value;
}

/**
 * If the last step runs again, its lane is gone from the queue and it may write nothing. So it runs without a claim.
 */
export const unclaimed = (values: readonly unknown[]): unknown[] =>
  // In the values the fences of the log rows follow their versions.
  values.map((value, i) => (isVersions(values[i - 1]) && Array.isArray(value) ? value.map(() => null) : value));

/**
 * SQL for the rows that must come before those of `nextTime`; otherwise the statement writes nothing. Null: the
 * statement writes no log row.
 */
export function rowsBefore(values: readonly unknown[]): string | null {
  const [first] = values.find(isVersions) ?? [];
  if (first === undefined) return null;
  return `insert into lane_log (lane, version, at, at_rest, snapshot, change, bodies)
          select distinct on (lane) lane, ${first + 999}, at, at_rest, snapshot, change, bodies from lane_log order by lane
          on conflict do nothing`;
}

const isVersions = (value: unknown): value is readonly number[] => Array.isArray(value) && typeof value[0] === 'number';
