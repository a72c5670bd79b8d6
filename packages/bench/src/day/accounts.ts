// At the end of the day benchmark, compares the database and the bench's Stripe, MoR and receiver with the plan.
import type pg from 'pg';
import { type PeersSeen } from './peers.js';
import { AMOUNT, type Plan, totalsOf } from './plan.js';
import { type Verified } from './verified.js';

export type Compared = { readonly what: string; readonly expected: number; readonly seen: number };

/** The number of the newest row of each table before the day began. */
export type Before = Readonly<
  Record<'event' | 'entry' | 'invoice' | 'payment' | 'refund' | 'object' | 'notification', string>
>;

export async function beginningOf(db: pg.Client): Promise<Before> {
  const found = await db.query<Before>(
    `select (select coalesce(max(id), 0) from inbox_event) as event, (select coalesce(max(id), 0) from ledger_entry) as entry,
            (select coalesce(max(seq), 0) from invoice) as invoice, (select coalesce(max(seq), 0) from payment) as payment,
            (select coalesce(max(seq), 0) from refund) as refund, (select coalesce(max(seq), 0) from mor_object) as object,
            (select coalesce(max(seq), 0) from notification) as notification`,
  );
  const [row] = found.rows;
  if (row === undefined) throw new Error('the books could not be read');
  return row;
}

/** Counts the lanes under way or due within ten minutes, and the undelivered notifications. Both 0: no work is left. */
export async function unrest(db: pg.Client): Promise<{ readonly lanes: number; readonly notifications: number }> {
  const found = await db.query<{ lanes: number; notifications: number }>(
    `select (select count(*) from lane where key not like 'job:%' and (due_at <= now() + interval '10 minutes' or lease_until > now()))::int as lanes,
            (select count(*) from notification where status = 'pending')::int as notifications`,
  );
  return found.rows[0] ?? { lanes: 0, notifications: 0 };
}

export async function compare(
  db: pg.Client,
  before: Before,
  {
    plan,
    taken,
    seen,
    verified,
  }: { readonly plan: Plan; readonly taken: number; readonly seen: PeersSeen; readonly verified: Verified },
): Promise<readonly Compared[]> {
  const t = totalsOf(plan.renewals);
  const sums = async (sql: string, at: string): Promise<ReadonlyMap<string, number>> => {
    const found = await db.query<{ name: string; n: number }>(sql, [at]);
    return new Map(found.rows.map(({ name, n }) => [name, n]));
  };
  /** Counts the rows newer than `at` by the values of one column. */
  const counted = (table: string, column: string, at: string, place = 'seq'): Promise<ReadonlyMap<string, number>> =>
    sums(`select ${column} as name, count(*)::float8 as n from ${table} where ${place} > $1 group by 1`, at);
  const events = await counted('inbox_event', 'status', before.event, 'id');
  const invoices = await counted('invoice', 'status', before.invoice);
  const marks = await counted('payment', 'mark', before.payment);
  const mirrors = await counted('refund', 'mirror', before.refund);
  const objects = await counted('mor_object', 'kind', before.object);
  const notified = await counted('notification', 'status', before.notification);
  const entries = await sums(
    `select reason || '/' || what as name, n from (
       select reason, count(*)::float8 as entries, sum(amount)::float8 as minor from ledger_entry where id > $1 group by 1) e,
       lateral (values ('entries', entries), ('minor', minor)) as v(what, n)`,
    before.entry,
  );
  const of = (found: ReadonlyMap<string, number>, name: string): number => found.get(name) ?? 0;
  const row = (what: string, expected: number, found: number): Compared => ({ what, expected, seen: found });
  const { stripe, mor, receiver } = seen;
  return [
    row(
      'events in the inbox, of those that were answered 200',
      taken,
      [...events.values()].reduce((a, b) => a + b, 0),
    ),
    row('events that wait or were parked', 0, of(events, 'received') + of(events, 'parked')),
    row('invoices paid', t.paid, of(invoices, 'paid')),
    row('invoices left open for good (uncollectible)', t.uncollectible, plan.renewals - of(invoices, 'paid')),
    row('payments confirmed', t.paid, of(marks, 'confirmed')),
    row('ledger: money collected, entries', t.paid, of(entries, 'payment_collected/entries')),
    row('ledger: money collected, cents', t.paid * AMOUNT, of(entries, 'payment_collected/minor')),
    row('ledger: money marked, cents', t.paid * AMOUNT, of(entries, 'payment_marked/minor')),
    row('ledger: refunds, cents', t.refunded, of(entries, 'refund_paid/minor')),
    row('ledger: disputes lost, entries', t.lost, of(entries, 'dispute_lost/entries')),
    row('refunds mirrored', t.refunds, of(mirrors, 'done')),
    row('disputes', t.disputes, of(objects, 'dispute')),
    row('Stripe: payments reported', t.paid, stripe.reports),
    row('Stripe: payments attached', t.paid, stripe.attached),
    row('Stripe: marked uncollectible', t.uncollectible, stripe.uncollectible),
    row('Stripe: refunds reported', t.refunds, stripe.refunds),
    row('Stripe: credit notes', t.refunds, stripe.creditNotes),
    row('Stripe: second effects', 0, stripe.twice),
    row('the MoR: charged again', t.retries, mor.retries),
    row('the MoR: refunds', t.refunds, mor.refunds),
    row('the MoR: charged or refunded twice', 0, mor.chargedTwice + mor.refundsTwice),
    row('notifications that wait or were given up', 0, of(notified, 'pending') + of(notified, 'dead')),
    row('notifications that the receiver knows', of(notified, 'delivered'), receiver.notified),
    row('notifications that came with other bytes', 0, receiver.changed),
    row('the last verify: exit code', 0, verified.exitCode ?? -1),
    row('the last verify: differences', 0, verified.differences ?? -1),
  ];
}
