// The loop of a worker: claims due lanes and works each by the flow, as many at once as the settings allow.
import { Inject, Injectable } from '@nestjs/common';
import { setMaxListeners } from 'node:events';
import { Clock } from '../domain/ports/clock.js';
import { AnswerLost, type Claim, LaneFenced, LaneStore, LaneUnreadable } from './lane-store.js';
import { StoreUnavailable } from '../domain/errors.js';
import { DECISION_TRIES, STUCK_LANE_EVERY_MS } from '../policy.js';
import { Wake } from './wake.js';
import { type LaneDone, WorkLaneFlow } from './work-lane.flow.js';

/** The injection token of `LaneWorkerOptions`. */
export const LANE_WORKER = Symbol('LANE_WORKER');

export type LaneWorkerOptions = {
  /** This process's name in the leases. */
  readonly owner: string;
  /** How many lanes may wait for a call at once. An eighth more are at work, since a lane also writes between its calls. */
  readonly concurrency: number;
  readonly leaseMs: number;
  /** The slow poll under the wake-ups, in milliseconds. */
  readonly pollMs: number;
  readonly onDone?: (done: LaneDone) => void;
  readonly onError?: (what: string, error: unknown, claim: Claim | null) => void;
};

const BACK_OFF_MS = 1_000;
/** Between two claims while deliveries crowd the endpoints: still more lanes a second than Stripe's budget allows calls. */
const GIVE_WAY_MS = 200;
const MOST_FAILING = 10_000;
/** A lease is renewed after this part of it: two renewals may fail before it runs out. */
const RENEW_AFTER = 0.3;
/** After a quarter of an hour, at the usual lease, a call never ends: then any worker may go on. */
const MOST_RENEWALS = 120;

@Injectable()
export class LaneWorker {
  private readonly stopping = new AbortController();
  private readonly inFlight = new Set<Promise<void>>();
  /** Lanes with failures and no event to blame, and how many in a row. */
  private readonly failing = new Map<string, number>();
  /** Claimed, and waiting for a place. */
  private readonly ready: Claim[] = [];
  /** Claims under renewal, and how often each was renewed. */
  private readonly held = new Map<Claim, number>();
  /** Aborted while nothing is held. */
  private idle = new AbortController();
  private keeping: Promise<void> | null = null;
  private loop: Promise<void> | null = null;
  private woken = false;
  private tap: (() => void) | null = null;
  private readonly places: number;
  private crowded: () => boolean = () => false;

  constructor(
    private readonly store: LaneStore,
    private readonly flow: WorkLaneFlow,
    private readonly wake: Wake,
    private readonly clock: Clock,
    @Inject(LANE_WORKER) private readonly options: LaneWorkerOptions,
  ) {
    this.places = Math.floor((options.concurrency * 9) / 8);
    // The loop listens, and each lane in an outage: no leak, so no warning.
    setMaxListeners(this.places + 2, this.stopping.signal);
  }

  /** While `crowded` is true workers claim at most five times a second: senders wait for their answers, and decisions can. */
  giveWay(crowded: () => boolean): void {
    this.crowded = crowded;
  }

  start(): void {
    const off = this.wake.onLanes(() => {
      this.woken = true;
      this.tap?.();
    });
    this.loop ??= this.run().finally(off);
  }

  /** Claims nothing more, and waits until another worker can go on with each lane at hand. */
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
      // Under load one statement claims many lanes ahead; each begins once a place is free.
      const ahead: number = backlog && !this.crowded() ? Math.ceil(this.places / 2) : 0;
      const wanted = this.places + ahead - this.inFlight.size - this.ready.length;
      if (wanted > 0 && this.ready.length <= ahead / 2) {
        const claims = await this.claim(wanted);
        backlog = claims.length === wanted;
        this.ready.push(...claims);
      }
      this.begin();
      if (this.crowded()) await this.clock.sleep(GIVE_WAY_MS, this.stopping.signal);
      else await this.rest();
    }
    // Claims without work go back, for any other worker.
    for (const claim of this.ready) this.letGo(claim);
    await Promise.allSettled(this.ready.map((c) => this.store.release(c.lane, c.fence)));
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

  /** Until something is due, a place is free, or the slow poll comes round. */
  private async rest(): Promise<void> {
    if (this.stopping.signal.aborted || (this.woken && this.ready.length === 0)) return;
    const waiting = new AbortController();
    this.tap = () => waiting.abort();
    await this.clock.sleep(this.options.pollMs, waiting.signal);
    this.tap = null;
  }

  private async claim(limit: number): Promise<readonly Claim[]> {
    try {
      const claims = await this.store.claim(this.options.owner, limit, this.options.leaseMs);
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
      const done = await this.flow.run(claim, this.stopping.signal); // its own statement: `onDone` may be left out
      this.failing.delete(claim.lane);
      this.options.onDone?.(done);
    } catch (e) {
      if (e instanceof LaneFenced) return; // another worker has it: nothing was written here
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
   * Work may outlast a lease: a search through thousands of records, a pause on Stripe's request. One statement keeps the lanes ours: for
   * another worker the search would start over, and no worker would ever write its result down.
   */
  private async keepLeases(): Promise<void> {
    const { leaseMs } = this.options;
    while (this.held.size > 0) {
      await this.clock.sleep(leaseMs * RENEW_AFTER, this.idle.signal);
      const asked = [...this.held].filter(([, times]) => times < MOST_RENEWALS);
      if (asked.length === 0) continue;
      const claims = asked.map(([claim]) => claim);
      // A failed renewal is tried again. If none succeeds, the fence stops this worker's writes.
      const ours = await this.store.renew(claims, leaseMs).catch(() => null);
      for (const [claim, times] of asked) {
        if (!this.held.has(claim)) continue;
        this.held.set(claim, ours?.has(claim.lane) === false ? MOST_RENEWALS : times + 1);
      }
    }
  }

  /** After failed decisions an event waits, and is parked in the end. A failure of the database is not the lane's. */
  private async giveBack(claim: Claim, error: unknown): Promise<void> {
    try {
      // Given back at once, the next try would look like the first. So the lease runs out, as after a crash (CUT_OFF_AFTER_MS).
      if (error instanceof AnswerLost) return;
      if (error instanceof StoreUnavailable) {
        await this.clock.sleep(BACK_OFF_MS, this.stopping.signal);
        await this.store.release(claim.lane, claim.fence);
        return;
      }
      const reason = error instanceof Error ? `${error.name}: ${error.message}` : 'the decision failed';
      const blamed =
        !(error instanceof LaneUnreadable) &&
        (await this.store.postpone(claim.lane, claim.fence, reason, 2 * BACK_OFF_MS, DECISION_TRIES));
      if (!blamed) await this.wait(claim, reason);
    } catch (again) {
      // The lease runs out; then any worker goes on.
      this.options.onError?.('a lane could not be given back', again, claim);
    }
  }

  /** With no event to park, the lane waits longer each time, and in the end gets an item for a person. */
  private async wait(claim: Claim, reason: string): Promise<void> {
    const failures = (this.failing.get(claim.lane) ?? 0) + 1;
    if (this.failing.size >= MOST_FAILING) this.failing.clear();
    this.failing.set(claim.lane, failures);
    const stuck = failures >= DECISION_TRIES;
    const waitMs = stuck ? STUCK_LANE_EVERY_MS : BACK_OFF_MS * 2 ** failures;
    await this.store.release(claim.lane, claim.fence, waitMs);
    // Each time: an earlier item may have failed, or a person's `retry` did not help. An open item stays as it is.
    if (stuck) await this.flow.tellStuck(claim, reason, waitMs);
  }
}
