// The targets and times of the strikes. A seed draws them before anything starts, so the same seed always strikes in
// the same way.
import { Seeded } from '../simulate/machine/seeded.js';

/** A part that a strike can hit. Only one strike at a time hits a part. */
export type Part =
  | 'daemon 1'
  | 'daemon 2'
  | 'PostgreSQL'
  | 'its network'
  | 'Stripe'
  | 'the MoR'
  | 'the endpoints'
  | 'the peers'
  | 'PgBouncer';

export const KINDS = {
  'daemon killed': 'a daemon killed (kill -9)',
  'daemon stopped': 'a daemon told to stop (SIGTERM)',
  'daemon frozen': 'a daemon frozen for longer than its leases (SIGSTOP)',
  'PostgreSQL killed': 'PostgreSQL killed (kill -9)',
  'PostgreSQL stopped': 'PostgreSQL stopped at once, without a checkpoint (SIGQUIT)',
  'backend killed': 'one session of PostgreSQL killed (kill -9): it recovers from the crash',
  'database cut': 'the way to PostgreSQL cut',
  'database hangs': 'the way to PostgreSQL hanging',
  'database answers lost': 'answers of PostgreSQL lost, commits among them',
  'pooler killed': 'PgBouncer killed (kill -9)',
  'Stripe cut': 'the way to Stripe cut',
  'Stripe hangs': 'the way to Stripe hanging',
  'Stripe answers lost': 'answers of Stripe lost after the effect',
  'MoR cut': 'the way to the MoR cut',
  'MoR hangs': 'the way to the MoR hanging',
  'MoR answers lost': 'answers of the MoR lost after the effect',
  'endpoints cut': 'the way to our endpoints cut',
  'endpoints hang': 'the way to our endpoints hanging',
  'endpoint answers lost': 'answers of our endpoints lost after the commit',
  'peers frozen': 'both peers frozen (SIGSTOP)',
} as const;

export type Kind = keyof typeof KINDS;

export type Strike = {
  readonly kind: Kind;
  readonly part: Part;
  /** In milliseconds after the start. */
  readonly atMs: number;
  /** How long the strike lasts, in milliseconds. A killed part starts again after this time. */
  readonly forMs: number;
};

type Row = readonly [kind: Kind, parts: readonly Part[], weight: number, fromMs: number, toMs: number];

const DAEMONS = ['daemon 1', 'daemon 2'] as const;
/** The shortest and the longest such strike, in milliseconds: longer than a lease (25 s by the database's clock). */
const LONGER_THAN_A_LEASE = [27_000, 40_000] as const;

const ROWS: readonly Row[] = [
  ['daemon killed', DAEMONS, 26, 200, 4_000],
  ['daemon stopped', DAEMONS, 12, 200, 3_000],
  ['daemon frozen', DAEMONS, 5, ...LONGER_THAN_A_LEASE],
  ['PostgreSQL killed', ['PostgreSQL'], 9, 500, 4_000],
  ['PostgreSQL stopped', ['PostgreSQL'], 8, 500, 4_000],
  ['backend killed', ['PostgreSQL'], 5, 0, 0],
  ['database cut', ['its network'], 4, 500, 5_000],
  ['database hangs', ['its network'], 3, 3_000, 15_000],
  ['database answers lost', ['its network'], 6, 100, 1_500],
  ['Stripe cut', ['Stripe'], 4, 1_000, 8_000],
  ['Stripe hangs', ['Stripe'], 3, 3_000, 20_000],
  ['Stripe answers lost', ['Stripe'], 6, 300, 4_000],
  ['MoR cut', ['the MoR'], 4, 1_000, 8_000],
  ['MoR hangs', ['the MoR'], 3, 3_000, 20_000],
  ['MoR answers lost', ['the MoR'], 5, 300, 4_000],
  ['endpoints cut', ['the endpoints'], 4, 1_000, 8_000],
  ['endpoints hang', ['the endpoints'], 3, 2_000, 12_000],
  ['endpoint answers lost', ['the endpoints'], 5, 300, 4_000],
  ['peers frozen', ['the peers'], 3, 2_000, 12_000],
];
const POOLER: Row = ['pooler killed', ['PgBouncer'], 8, 200, 2_000];

/** A killed part needs this time to come back before the next strike. */
const BACK_AFTER_MS = 3_000;
const FIRST_AT_MS = 2_000;

export type ScheduleOptions = {
  readonly seed: string;
  /** How long the strikes go on, in milliseconds. */
  readonly lastsMs: number;
  /** The average time between two strikes, in milliseconds. */
  readonly everyMs: number;
  readonly pooler: boolean;
};

/**
 * Draws the strikes, ordered by time, all before the end. Strikes on different parts may overlap, strikes on one part
 * never do. Pure.
 */
export function drawStrikes({ seed, lastsMs, everyMs, pooler }: ScheduleOptions): readonly Strike[] {
  const random = new Seeded(`chaos:${seed}`);
  const rows = pooler ? [...ROWS, POOLER] : ROWS;
  const busyUntil = new Map<Part, number>();
  const strikes: Strike[] = [];
  for (let atMs = FIRST_AT_MS; atMs < lastsMs; atMs += Math.round(everyMs * (0.4 + 1.2 * random.next()))) {
    const free = rows
      .map(([kind, parts, weight, fromMs, toMs]) => ({
        kind,
        parts: parts.filter((part) => (busyUntil.get(part) ?? 0) <= atMs),
        weight,
        fromMs,
        toMs,
      }))
      .filter((row) => row.parts.length > 0);
    let left = random.next() * free.reduce((sum, row) => sum + row.weight, 0);
    const row = free.find((one) => (left -= one.weight) < 0) ?? free.at(-1);
    if (row === undefined) continue;
    const part = random.pick(row.parts);
    const forMs = random.int(row.fromMs, row.toMs);
    busyUntil.set(part, atMs + forMs + BACK_AFTER_MS);
    strikes.push({ kind: row.kind, part, atMs, forMs });
  }
  return strikes;
}
