// The loop of a worker: it claims due lanes and works on as many at once as the settings allow.
import { Inject, Injectable } from '@nestjs/common';
import { setMaxListeners } from 'node:events';
import { Clock } from '../shared/domain/ports/clock.js';
import {
  ReplyLost,
  type Claim,
  EventFailed,
  LaneFenced,
  LaneRepository,
  LaneUnreadable,
  reasonOf,
} from './lane.repository.js';
import { StoreUnavailable } from '../shared/domain/errors.js';
import { DECISION_TRIES, STUCK_LANE_EVERY_MS } from '../shared/policy.js';
import { LaneSignal } from './lane-signal.js';
import { type LaneDone, WorkLaneService } from './work-lane.service.js';

/** The injection token of `LaneWorkerOptions`. */
export const LANE_WORKER = Symbol('LANE_WORKER');

export type LaneWorkerOptions = {
  /** This process's name as the holder of leases. */
  readonly owner: string;
  /**
   * How many lanes may wait for a call at the same time. The worker takes an eighth more lanes, because some lanes
   * write to the database between two calls.
   */
  readonly concurrency: number;
  readonly leaseMs: number;
  /** The pause between two polls without a wake-up, in milliseconds. */
  readonly pollMs: number;
  readonly onDone?: (done: LaneDone) => void;
  readonly onError?: (what: string, error: unknown, claim: Claim | null) => void;
};

const BACK_OFF_MS = 1_000;
/**
 * The pause between two claims while deliveries crowd the webhook endpoints. Even with this pause, the worker claims
 * more lanes a second than Stripe's budget allows calls.
 */
const GIVE_WAY_MS = 200;
const MOST_FAILING = 10_000;
/** The worker renews a lease after this fraction of its duration. Two renewals may fail before the lease ends. */
const RENEW_AFTER = 0.3;
/**
 * How often the worker renews the lease of one claim at most: a quarter of an hour with the usual lease. After that, the
 * lease ends and any worker may claim the lane, because the work on it probably hangs.
 */
const MOST_RENEWALS = 120;

@Injectable()
export class LaneWorker {
  private readonly stopping = new AbortController();
  private readonly inFlight = new Set<Promise<void>>();
  /** For each lane: how often in a row its decision has failed although no event waited. */
  private readonly failing = new Map<string, number>();
  /** Claims waiting for a free place. */
  private readonly ready: Claim[] = [];
  /** The claims of this worker, and the renewals of each so far. */
  private readonly held = new Map<Claim, number>();
  /** Aborted as soon as the worker has no claim. */
  private idle = new AbortController();
  private keeping: Promise<void> | null = null;
  private loop: Promise<void> | null = null;
  private woken = false;
  private tap: (() => void) | null = null;
  private readonly places: number;
  private crowded: () => boolean = () => false;

  constructor(
    private readonly repository: LaneRepository,
    private readonly service: WorkLaneService,
    private readonly signal: LaneSignal,
    private readonly clock: Clock,
    @Inject(LANE_WORKER) private readonly options: LaneWorkerOptions,
  ) {
    this.places = Math.floor((options.concurrency * 9) / 8);
    // The loop listens to this signal, and during an outage each lane does too. So many listeners are no leak, and Node
    // must not warn.
    setMaxListeners(this.places + 2, this.stopping.signal);
  }

  /**
   * While `crowded` returns true, the worker claims at most five times a second: senders of webhooks wait for their
   * reply, and decisions can wait.
   */
  giveWay(crowded: () => boolean): void {
    this.crowded = crowded;
  }

  start(): void {
    const off = this.signal.onLanes(() => {
      this.woken = true;
      this.tap?.();
    });
    this.loop ??= this.run().finally(off);
  }

  /** Stops the worker. Resolves as soon as other workers can continue the lanes of this worker. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.tap?.();
    await this.loop;
    await Promise.allSettled(this.inFlight);
  }

  private async run(): Promise<void> {
    let backlog = false;
    while (!this.stopping.signal.aborted) {
      this.woken = false;
      // Under load one statement claims more lanes than there are free places. A lane begins when a place is free.
      const ahead: number = backlog && !this.crowded() ? Math.ceil(this.places / 2) : 0;
      const wanted = this.places + ahead - this.inFlight.size - this.ready.length;
      if (wanted > 0 && this.ready.length <= ahead / 2) {
        const claims = await this.claim(wanted);
        backlog = claims.length === wanted;
        this.ready.push(...claims);
      }
      this.begin();
      if (this.crowded()) await this.clock.sleep(GIVE_WAY_MS, this.stopping.signal);
      else await this.pause();
    }
    // Gives the unstarted claims back, for any other worker.
    for (const claim of this.ready) this.letGo(claim);
    await Promise.allSettled(this.ready.map((c) => this.repository.release(c.lane, c.fence)));
  }

  private begin(): void {
    while (this.inFlight.size < this.places && !this.stopping.signal.aborted) {
      const claim = this.ready.shift();
      if (claim === undefined) break;
      const work = this.work(claim).finally(() => {
        this.inFlight.delete(work);
        const waited = this.ready.length > 0;
        this.begin();
        if (waited && this.ready.length <= this.places / 4) this.tap?.();
      });
      this.inFlight.add(work);
    }
  }

  /** Waits for a wake-up, a free place, or the next poll. */
  private async pause(): Promise<void> {
    if (this.stopping.signal.aborted || (this.woken && this.ready.length === 0)) return;
    const waiting = new AbortController();
    this.tap = () => waiting.abort();
    await this.clock.sleep(this.options.pollMs, waiting.signal);
    this.tap = null;
  }

  private async claim(limit: number): Promise<readonly Claim[]> {
    try {
      const claims = await this.repository.claim(this.options.owner, limit, this.options.leaseMs);
      for (const claim of claims) this.held.set(claim, 0);
      if (claims.length > 0 && this.idle.signal.aborted) this.idle = new AbortController();
      if (claims.length > 0) this.keeping ??= this.keepLeases().finally(() => (this.keeping = null));
      return claims;
    } catch (e) {
      this.options.onError?.('lanes could not be claimed', e, null);
      await this.clock.sleep(BACK_OFF_MS, this.stopping.signal);
      return [];
    }
  }

  private async work(claim: Claim): Promise<void> {
    try {
      // This call must stand outside `onDone?.(…)`: if `onDone` is absent, JavaScript skips all in the brackets.
      const done = await this.service.run(claim, this.stopping.signal);
      this.failing.delete(claim.lane);
      this.options.onDone?.(done);
    } catch (e) {
      if (e instanceof LaneFenced) return; // another worker has the lane, and this worker wrote nothing
      this.options.onError?.('a lane could not be worked', e, claim);
      await this.giveBack(claim, e);
    } finally {
      this.letGo(claim);
    }
  }

  private letGo(claim: Claim): void {
    this.held.delete(claim);
    if (this.held.size === 0) this.idle.abort();
  }

  /**
   * Renews the leases during the work. Work may outlast a lease: a search through thousands of records, or a pause on
   * Stripe's request. Without a renewal another worker would start the search again, and no worker would ever store the
   * result.
   */
  private async keepLeases(): Promise<void> {
    const { leaseMs } = this.options;
    while (this.held.size > 0) {
      await this.clock.sleep(leaseMs * RENEW_AFTER, this.idle.signal);
      const asked = [...this.held].filter(([, times]) => times < MOST_RENEWALS);
      if (asked.length === 0) continue;
      const claims = asked.map(([claim]) => claim);
      // The worker tries a failed renewal again. If all renewals fail, the fence stops this worker's writes.
      const ours = await this.repository.renew(claims, leaseMs).catch(() => null);
      for (const [claim, times] of asked) {
        if (!this.held.has(claim)) continue;
        this.held.set(claim, ours?.has(claim.lane) === false ? MOST_RENEWALS : times + 1);
      }
    }
  }

  /**
   * Gives the claim back after an error. After a failed decision the event behind the failure waits, and after several
   * failures Crossbill parks it. If no event is behind the failure, the lane waits.
   * An unavailable database does not count as a failure of the lane.
   */
  private async giveBack(claim: Claim, error: unknown): Promise<void> {
    try {
      // The worker may have sent a call that the log does not show. So the worker does not give the lane back: the
      // lease expires, as after a crash. The next worker then sees a gap of CUT_OFF_AFTER_MS, and takes into account
      // that the call may be on its way.
      if (error instanceof ReplyLost) return;
      if (error instanceof StoreUnavailable) {
        await this.clock.sleep(BACK_OFF_MS, this.stopping.signal);
        await this.repository.release(claim.lane, claim.fence);
        return;
      }
      const failed = error instanceof EventFailed ? { event: error.event, reason: reasonOf(error.cause) } : null;
      const reason = failed?.reason ?? reasonOf(error);
      if (error instanceof LaneUnreadable) {
        // The item comes first: a crash after the release would leave the lane untold for an hour.
        await this.service.tellStuck(claim, reason, STUCK_LANE_EVERY_MS);
        return await this.repository.release(claim.lane, claim.fence, STUCK_LANE_EVERY_MS);
      }
      const isPostponed =
        failed !== null && (await this.repository.postpone(claim, failed, 2 * BACK_OFF_MS, DECISION_TRIES));
      if (!isPostponed) await this.wait(claim, reason);
    } catch (again) {
      // The lease expires. Then any worker may claim the lane.
      this.options.onError?.('a lane could not be given back', again, claim);
    }
  }

  /** Without an event to blame, the lane waits longer after each failure. In the end a person gets an item. */
  private async wait(claim: Claim, reason: string): Promise<void> {
    const failures = (this.failing.get(claim.lane) ?? 0) + 1;
    if (this.failing.size >= MOST_FAILING) this.failing.clear();
    this.failing.set(claim.lane, failures);
    const stuck = failures >= DECISION_TRIES;
    const waitMs = stuck ? STUCK_LANE_EVERY_MS : BACK_OFF_MS * 2 ** failures;
    await this.repository.release(claim.lane, claim.fence, waitMs);
    // The worker opens the item after each failure: the worker may have failed to open an earlier item, or a person's
    // `retry` did not help. An open item stays unchanged.
    if (stuck) await this.service.tellStuck(claim, reason, waitMs);
  }
}
