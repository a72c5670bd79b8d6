// The daily verify: found without anyone asking, by one of several replicas, and shown by all of them.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openAppContext, type AppContext as Parts } from '../../src/frames/cli/app-context.js';
import { loadConfig } from '../../src/shared/config/index.js';
import { VerifyRepository } from '../../src/features/verify/verify.repository.js';
import { VerifyService, type VerifyReport } from '../../src/features/verify/verify.service.js';
import { Metrics } from '../../src/shared/observe/index.js';
import { VerifyJob } from '../../src/features/verify/verify-job.js';
import { ManualClock } from '../support/fakes/clock.js';
import { startWorld, type World } from '../support/rigs/world.js';
import { silentIo } from '../support/fakes/silent-io.js';

const DAY_MS = 86_400_000;

describe('the daily verify', () => {
  let world: World;
  let parts: Parts;
  const errors: unknown[] = [];

  beforeAll(async () => {
    world = await startWorld();
    await world.startDaemon();
    parts = await openAppContext(loadConfig(world.env), silentIo());
  });
  afterAll(async () => {
    await parts.close();
    await world.close();
  });

  function replica(clock: ManualClock): { job: VerifyJob; metrics: Metrics; runs: VerifyReport[] } {
    const metrics = new Metrics({ eventTypes: [], now: () => clock.now() });
    const runs: VerifyReport[] = [];
    const job = new VerifyJob(parts.get(VerifyService), parts.get(VerifyRepository), clock, metrics, {
      onRun: (r) => void runs.push(r),
      onError: (_, e) => void errors.push(e),
    });
    return { job, metrics, runs };
  }

  it('only one replica runs the daily verify, and both replicas show the lost delivery from the report', async () => {
    const s = await world.paidSubscriber();
    await world.advance(7_200); // anything younger than two minutes counts as on its way
    await world.fault({ target: 'deliveries', side: 'stripe', action: 'lose', times: 1_000 });
    const lost = await world.renew(s.subscriptionId);
    await world.advance(600);
    await world.control('DELETE', '/faults');

    // The books keep real time; a day passes by giving the right to the next run back.
    const clock = new ManualClock(new Date());
    const [one, two] = [replica(clock), replica(clock)];
    await one.job.tick();
    await two.job.tick();
    expect(errors).toEqual([]);
    expect([one.runs.length, two.runs.length]).toEqual([1, 0]);
    expect(one.runs[0]?.differences).toMatchObject([{ kind: 'event_never_delivered', invoiceId: lost }]);
    for (const { metrics } of [one, two]) {
      const text = await metrics.text();
      expect(text).toContain('crossbill_verify_differences{kind="event_never_delivered"} 1');
      expect(text).toContain('crossbill_verify_differences{kind="charged_not_marked"} 0');
      expect(text).toMatch(/crossbill_verify_last_success_timestamp_seconds 1\d{9}/);
    }

    await parts.get(VerifyRepository).nextRunIn(0);
    clock.advance(DAY_MS);
    await Promise.all([one.job.tick(), two.job.tick()]);
    expect(one.runs.length + two.runs.length).toBe(2);

    // A later installation never expected the event: it does not start with Stripe's past.
    const later = new Date(
      (one.runs[0]?.missing.get(one.runs[0].differences[0]?.eventId ?? '')?.createdAt.getTime() ?? 0) + 1_000,
    );
    await parts.db.pool.query('update installation set began_at = $1', [later]);
    await parts.get(VerifyRepository).nextRunIn(0);
    const third = replica(new ManualClock(new Date(later.getTime() + DAY_MS)));
    await third.job.tick();
    expect(third.runs[0]?.differences).toEqual([]);
  });

  it('the daily verify resumes after a failure of Stripe, and keeps the time of the last complete run', async () => {
    const books = parts.get(VerifyRepository);
    const before = await books.lastComplete();
    await books.nextRunIn(0);
    await world.fault({ side: 'stripe', path: '/v1/events', action: 'status', status: 503, times: 100 });
    const { job, runs } = replica(new ManualClock(new Date()));
    await job.tick();
    await world.control('DELETE', '/faults');
    expect(runs.map((r) => r.outcome)).toEqual(['incomplete']);
    expect(await books.lastComplete()).toEqual(before);
    expect(await books.claimRun(DAY_MS)).toBe(false);
    await books.nextRunIn(0);
    const next = replica(new ManualClock(new Date()));
    await Promise.all([next.job.tick(), job.tick()]);
    const [remaining] = [...next.runs, ...runs.slice(1)];
    expect(remaining).toMatchObject({ resumedFrom: runs[0]?.id, beganAt: runs[0]?.beganAt, outcome: 'clean' });
    expect(next.runs.length + runs.length).toBe(2);
    // A day from the first beginning: nothing waits longer for its comparison.
    const due = await parts.db.pool.query<{ at: Date }>(`select lease_until as at from lane where key = 'job:verify'`);
    const late = (due.rows[0]?.at.getTime() ?? 0) - (runs[0]?.beganAt.getTime() ?? 0) - DAY_MS;
    expect(Math.abs(late)).toBeLessThan(20_000); // the test's own clock stands still meanwhile, the database's does not
  });
});
