// The engine: workers claim the due lanes, decide, and carry out the calls. Requests from people change the same lanes.
import { hostname } from 'node:os';
import { Global, Module } from '@nestjs/common';
import { CONFIG, type Config, notifies } from '../shared/config/index.js';
import { Ids } from '../shared/domain/ports/clock.js';
import { MorModule } from '../frames/mor/mor.module.js';
import { LOG, type Logger, Metrics } from '../shared/observe/index.js';
import { GATHER_MS, LEASE_MS } from '../shared/policy.js';
import { EventParser } from '../shared/domain/events/stored-event.js';
import { DatabaseTime } from '../frames/store/database-time.js';
import { Database } from '../frames/store/database.js';
import { Decider } from './decider.js';
import { LaneRepository } from './lane.repository.js';
import { PgLaneRepository } from './pg-lane.repository.js';
import { DECISION_SETTINGS, DecisionContext, decisionSettings } from './decision-context.js';
import { LaneChanges } from './lane-changes.js';
import { LANE_WATCH, watchLanes, watchSteps } from './lane-trace.js';
import { LANE_WORKER, LaneWorker, type LaneWorkerOptions } from './lane-worker.js';
import { LIVE_MODE, liveMode, OwnAccount } from './own-account.js';
import { ParsedEvents } from './parsed-events.js';
import { LaneSignal } from './lane-signal.js';
import { WorkLaneService } from './work-lane.service.js';
import { ReadModel } from './read-model.js';

/**
 * The pause of the lane worker between two polls, in milliseconds. The worker finds a due lane within a second, even
 * without a wake-up.
 */
const POLL_MS = 400;

/** `DecisionsModule` stands above this module and provides the `Decider`. */
@Global()
@Module({
  imports: [MorModule],
  providers: [
    ReadModel,
    { provide: DECISION_SETTINGS, useFactory: decisionSettings, inject: [CONFIG] },
    { provide: LIVE_MODE, useFactory: liveMode, inject: [CONFIG] },
    {
      provide: LANE_WATCH,
      useFactory: (log: Logger, { subjects }: Decider) => watchSteps(log, subjects),
      inject: [LOG, Decider],
    },
    { provide: LANE_WORKER, useFactory: workerOptions, inject: [CONFIG, Ids, Metrics, LOG] },
    {
      provide: LaneRepository,
      useFactory: (db: Database, time: DatabaseTime, config: Config, decider: Decider, parsed: ParsedEvents) =>
        new PgLaneRepository(db, time, {
          tell: notifies(config) ? decider.tellAs(config) : null,
          writes: decider.subjects.writes,
          gatherMs: GATHER_MS,
          parsed,
        }),
      inject: [Database, DatabaseTime, CONFIG, Decider, ParsedEvents],
    },
    { provide: ParsedEvents, useFactory: (parser: EventParser) => new ParsedEvents(parser), inject: [EventParser] },
    LaneSignal,
    DecisionContext,
    LaneChanges,
    OwnAccount,
    WorkLaneService,
    LaneWorker,
  ],
  exports: [DECISION_SETTINGS, ParsedEvents, LaneSignal, DecisionContext, LaneChanges, LaneRepository, ReadModel],
})
export class EngineModule {}

function workerOptions(config: Config, ids: Ids, metrics: Metrics, log: Logger): LaneWorkerOptions {
  return {
    owner: `${hostname()}:${process.pid}:${ids.next('w')}`,
    concurrency: config.workerConcurrency,
    leaseMs: LEASE_MS,
    pollMs: POLL_MS,
    ...watchLanes(metrics, log),
  };
}
