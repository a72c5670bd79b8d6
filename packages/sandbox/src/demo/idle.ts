// Waits until everything is at rest: no work is under way, the daemon has decided every event, and the daemon, Stripe
// and the MoR agree.
import { setTimeout as sleep } from 'node:timers/promises';
import { disagreements, type Finding } from './check.js';
import { readSides, type Sides } from './sides.js';
import { type World } from './world.js';
import { connectAlone } from './connect.js';

/** A wait fails after this real time in milliseconds. A killed worker's lease alone takes up to 25 s. */
const TIMEOUT_MS = 120_000;
const POLL_MS = 60;
const MINUTE_SEC = 60;
const HOUR_SEC = 3_600;
/** Seconds to advance the virtual clock, so a sender retries or releases a held delivery. */
const LEAP_SEC = 600;
/** The most advances in a row: three days, as long as senders retry. */
const LEAPS_AT_MOST = 432;

/** A wait failed. `open` lists the work still open, one sentence each. */
export class NotIdle extends Error {
  constructor(readonly open: readonly string[]) {
    super(`not at rest after ${TIMEOUT_MS / 1000} s`);
  }
}

const UNDER_WAY_SQL = `
  select lane from open_call where kind = 'relay_event' and status = 'pending'
  union
  select key from lane where lease_until > now() and key not like 'job:%'
  limit 100`;

type Traffic = { readonly sending: number; readonly waiting: number };

export class Idle {
  /** Virtual time of the first delivery to check. All earlier deliveries are acknowledged or given up. */
  private since = '1970-01-01T00:00:00.000Z';

  constructor(private readonly world: World) {}

  /** Waits until no delivery is under way and the daemon has decided every event. Invoices may still be drafts. */
  async decided(): Promise<void> {
    await this.until(async () => {
      const { sending } = await this.traffic();
      if (sending > 0) return [`${sending} deliveries under way`];
      return this.undecided();
    });
  }

  /** Waits until everything is at rest. Advances the virtual clock for waiting deliveries and for drafts. */
  async settled(): Promise<Sides> {
    let agreed: Sides | null = null;
    let leaps = 0;
    const leap = async (sec: number): Promise<void> => {
      leaps += 1;
      if (leaps > LEAPS_AT_MOST) throw new NotIdle(['deliveries do not arrive, three virtual days long']);
      await this.world.control.post('/_sandbox/clock', { advance_sec: sec });
    };
    await this.until(async () => {
      const { sending, waiting } = await this.traffic();
      if (sending > 0) return [`${sending} deliveries under way`];
      if (waiting > 0) {
        if (await this.world.daemon.isReady()) await leap(LEAP_SEC);
        return [`${waiting} deliveries wait for their next try`];
      }
      const undecided = await this.undecided();
      if (undecided.length > 0) return undecided;
      const planned = this.plannedCharges();
      if (planned > 0) {
        await leap(MINUTE_SEC);
        return [`the MoR has ${planned} charges to make`];
      }
      const sides = await readSides(this.world.api, this.world.control, this.world.notified);
      const findings = disagreements(sides);
      const drafts = sides.stripe.invoices.filter((i) => i.status === 'draft').length;
      if (findings.length === 0 && drafts === 0) {
        agreed = sides;
        return [];
      }
      if (drafts > 0) await leap(HOUR_SEC / 4);
      return [...findings.map(shown), ...(drafts > 0 ? [`${drafts} drafts`] : [])];
    });
    this.since = (await this.world.control.get('/_sandbox/clock')).text('now');
    return agreed ?? readSides(this.world.api, this.world.control, this.world.notified);
  }

  private async until(open: () => Promise<readonly string[]>): Promise<void> {
    const deadline = performance.now() + TIMEOUT_MS;
    for (;;) {
      const what = await open();
      if (what.length === 0) return;
      if (performance.now() > deadline) throw new NotIdle(what);
      await sleep(POLL_MS);
    }
  }

  /** Reads the sandbox's log: the last state of each event at each receiver. */
  private async traffic(): Promise<Traffic> {
    const log = await this.world.control.get(`/_sandbox/deliveries?since=${encodeURIComponent(this.since)}`);
    const last = new Map<string, string>();
    for (const d of log.list('data')) {
      const state = d.text('state');
      if (state !== 'duplicate') last.set(`${d.text('event_id')} ${d.text('endpoint_id')}`, state);
    }
    const states = [...last.values()];
    const count = (...wanted: string[]): number => states.filter((s) => wanted.includes(s)).length;
    return { sending: count('sending'), waiting: count('retry', 'held') };
  }

  /** Charges that the MoR makes within seconds, because it knows the invoices. */
  private plannedCharges(): number {
    return [...this.world.sandbox.cards.book.heard.values()].reduce((sum, heard) => sum + heard.planned, 0);
  }

  private async undecided(): Promise<readonly string[]> {
    const { api } = this.world;
    const received = (await api.get('/v1/events?status=received&limit=100')).list('data');
    const marking = (await api.get('/v1/invoices?status=marking&limit=100')).list('data');
    return [
      ...received.map((e) => `event ${e.text('event_id')} (${e.text('type')}) is not decided`),
      ...marking.map((i) => `invoice ${i.text('id')} is being marked paid`),
      ...(await this.underWay()).map((lane) => `a worker has ${lane}, or the MoR has still to hear of it`),
    ];
  }

  /**
   * Lists the work that the daemon's API does not show: lanes under way and invoices waiting for their relay. The clock
   * must not advance a day before this work ends: Stripe would forget the keys of unanswered calls, and the MoR would
   * learn of an invoice too late.
   */
  private async underWay(): Promise<readonly string[]> {
    const database = await connectAlone(this.world.databaseUrl, { name: 'crossbill-demo', statementMs: 10_000 });
    try {
      const found = await database.query<{ lane: string }>(UNDER_WAY_SQL);
      return found.rows.map((row) => row.lane);
    } finally {
      await database.end();
    }
  }
}

export function shown(finding: Finding): string {
  return `${finding.about}: ${finding.what}`;
}
