// The soak: one shop over months of virtual time, with random trouble and a scheduled verify. At the end, after the
// trouble, verify must be clean and each open item must have a cause.
import { type DecisionSettings } from '#src/shared/domain/settings.js';
import { randomFaults } from '../machine/faults.js';
import { People, type Subscriber } from '../acts/people.js';
import { happenings, outcomes } from '../stories/random.js';
import { brokenWhenIdle } from '../rules/idle-rules.js';
import { type RunResult, verify, whatHappened } from './run.js';
import { Seeded } from '../machine/seeded.js';
import { type SimRepository } from '../machine/sim-repository.js';
import { World } from '../machine/world.js';

export type SoakOptions = { readonly seed: number; readonly customers: number; readonly months: number };

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const MONTH_DAYS = 30;
/** The share of database steps with a fault. Calls to Stripe and the MoR fail four times as often. */
const FAULT_RATE = 0.004;
/** Random acts for each customer and day. */
const HAPPENINGS = 0.04;
/** Real milliseconds between two lines of progress, so a person can see whether the soak hangs. */
const NOTIFIED_EVERY_MS = 10_000;
/** How long the soak goes on after the last day: bank debits and their refunds take a week, retries take longer. */
const ALL_OVER_MS = 14 * DAY;
const MB = 1024 ** 2;
/** A shop of hundreds of customers needs a third of this memory. A soak above the limit has a leak. */
const MOST_MEMORY_MB = 1_500;

/** Random acts too slow for a run over months. */
const LEFT_OUT = new Set(['verify runs']);

/** Runs the soak; `progress` receives lines for people. Never throws for errors of the code under test. */
export async function soak(
  { seed, customers, months }: SoakOptions,
  repository: SimRepository,
  keepTrace: boolean,
  progress: (line: string) => void,
): Promise<RunResult> {
  await repository.reset();
  const rng = new Seeded(`soak ${seed}`);
  const settings: DecisionSettings = {
    markMode: rng.pick(['payment_record', 'payment_record', 'out_of_band'] as const),
    draftPolicy: rng.pick(['wait', 'finalize'] as const),
    renewalAlarmAfterHours: 24,
    bankDebitAlarmAfterDays: 10,
    signupChargeCheck: 'psp_reference',
    relay: null,
    recoveryLinks: null,
    retrySchedule: null,
  };
  const world = new World({ seed: `soak ${seed}`, settings, shuffled: true, keepTrace, long: true, repository });
  const shop = new Shop(world, rng, customers);
  const { scheduler } = world;
  const broken: string[] = [];
  let happened: readonly string[] = [];
  let notifiedAt = Date.now();
  let mostMb = 0;
  const tell = (day: number): void => {
    const mb = Math.round(process.memoryUsage().rss / MB);
    mostMb = Math.max(mostMb, mb);
    if (Date.now() - notifiedAt < NOTIFIED_EVERY_MS) return;
    notifiedAt = Date.now();
    progress(
      `soak ${seed}: day ${day} of ${months * MONTH_DAYS}, ${shop.sum()}, ${scheduler.released} steps, ${mb} MB`,
    );
  };
  try {
    scheduler.faults = randomFaults(rng.fork('faults'), FAULT_RATE);
    shop.open();
    for (let day = 1; day <= months * MONTH_DAYS && scheduler.broken.length === 0; day++) {
      await shop.planDay();
      for (let hour = 4; hour <= 24; hour += 4) {
        await scheduler.runUntil(world.at(((day - 1) * 24 + hour) * 60));
        shop.tick();
        tell(day);
      }
      if (day % 5 === 0) await repository.vacuum();
    }
    world.heal();
    await shop.close();
    await scheduler.runUntil(world.now + ALL_OVER_MS);
    await verify(world, broken);
    const seen = await repository.snapshot(new Date(world.now));
    broken.push(...scheduler.broken, ...brokenWhenIdle(world, seen));
    if (mostMb > MOST_MEMORY_MB) broken.push(`memory: ${mostMb} MB at most, and ${MOST_MEMORY_MB} are allowed`);
    const open = seen.reviews.filter((r) => r.status === 'open').length;
    happened = whatHappened(world, seen);
    progress(
      `soak ${seed}: ${shop.sum()}, ${seen.payments.length} payments, ${seen.refunds.length} refunds, ` +
        `${seen.reviews.length} items, ${open} of them open and explained, ${scheduler.injected.length} faults, ${mostMb} MB at most`,
    );
  } catch (error) {
    broken.push(`the run broke: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  } finally {
    world.sandbox.kernel.clock.close();
    world.end();
  }
  return {
    name: `soak ${seed}`,
    story: 'soak',
    broken,
    digest: scheduler.digest(),
    steps: scheduler.released,
    points: [],
    injected: scheduler.injected,
    trace: scheduler.lines,
    happened,
    parts: [],
  };
}

class Shop {
  private readonly people: People;
  private readonly subscribers: Subscriber[] = [];
  private verifies = 0;
  private repairs = 0;

  constructor(
    private readonly world: World,
    private readonly rng: Seeded,
    private readonly customers: number,
  ) {
    this.people = new People(world);
    world.onVerified = (report) => {
      this.verifies++;
      if (report.resumedFrom !== null) world.resumed++;
      if (report.outcome !== 'differences') return;
      this.repairs++;
      world.scheduler.plan(world.now + 10 * MINUTE, 'an operator lets verify repair', () => {
        void world.ask('repair', async (r) => {
          await r.verify.repair(await r.verify.run({ since: new Date(world.now - MONTH_DAYS * DAY) }));
        });
      });
    };
  }

  sum(): string {
    return `${this.people.invoices().length} invoices, ${this.verifies} verifies (${this.world.resumed} resumed), ${this.repairs} repairs`;
  }

  /**
   * Customers join over the first month, so their renewals spread over all days. The sandbox renews their
   * subscriptions.
   */
  open(): void {
    const { world, rng, people } = this;
    for (let n = 0; n < this.customers; n++) {
      const at = world.at(rng.int(1, 27 * 24 * 60));
      world.scheduler.plan(at, `customer ${n} comes`, async () => {
        const trial = rng.chance(0.8);
        const s = await people.subscriber(`c${n}`, rng.int(5, 400) * 10, rng.pick(['eur', 'usd', 'jpy']), trial);
        this.subscribers.push(s);
        if (!trial) void people.signUp(s, rng.pick(['succeed', 'succeed', 'decline', 'bank_debit'] as const));
        else await people.cards(s.customerId, rng.pick(['succeed', 'succeed', 'succeed', 'bank_debit']));
      });
    }
  }

  async planDay(): Promise<void> {
    const { world, rng, people } = this;
    const some = Math.max(1, Math.round(this.customers * HAPPENINGS * (0.5 + rng.next())));
    for (let n = 0; n < some; n++) {
      world.scheduler.plan(world.now + rng.int(1, 24 * 60) * MINUTE, 'something happens', async () => {
        const list = happenings(world, people, rng).filter(([what]) => !LEFT_OUT.has(what));
        const [what, act] = rng.pick(list);
        world.scheduler.tell(what);
        await act();
      });
    }
    for (const { customerId } of this.subscribers) {
      if (rng.chance(0.02)) await people.cards(customerId, [rng.pick(outcomes), 'succeed']);
    }
    for (const i of people.invoices()) {
      if (i.status === 'open' && rng.chance(0.2)) await people.control('/mor/retry', { invoice_id: i.id });
    }
  }

  /** Runs every four hours: starts each replica's verify if due, and sometimes corrects the replica's clock. */
  tick(): void {
    for (const at of [0, 1]) {
      const replica = this.world.replica(at);
      if (replica === null) continue;
      void replica.verifyJob.tick();
      if (this.rng.chance(0.5)) replica.clock.offsetMs = 0;
    }
  }

  /** Cancels every subscription on Stripe, so no more renewals follow. */
  async close(): Promise<void> {
    for (const s of this.subscribers) await this.people.stripe('DELETE', `/v1/subscriptions/${s.subscriptionId}`);
  }
}
