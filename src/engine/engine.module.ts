// The engine: what is due is claimed, decided and carried out; what people ask for is decided on the same lanes.
import { hostname } from 'node:os';
import { Module } from '@nestjs/common';
import { RouteEventsFlow } from '../mor-objects/route-events.flow.js';
import { CONFIG, type Config } from '../config/index.js';
import { Ids } from '../domain/ports/clock.js';
import { ChargeLooksStore } from '../enrolment/charge-looks.store.js';
import { EnrolmentStore } from '../enrolment/enrolment.store.js';
import { EnrolmentFlow } from '../enrolment/enrolment.flow.js';
import { MorModule } from '../mor/mor.module.js';
import { LOG, type Logger, Metrics } from '../observe/index.js';
import { LEASE_MS } from './lane-queue.js';
import { FlowContext } from './flow-context.js';
import { LaneChanges } from './lane-changes.js';
import { FLOW_SETTINGS, flowSettings, LIVE_MODE, liveMode } from './lane-settings.js';
import { LANE_WATCH } from './lane-trail.js';
import { LANE_WORKER, LaneWorker, type LaneWorkerOptions } from './lane-worker.js';
import { OwnAccount } from './own-account.js';
import { Wake } from './wake.js';
import { watchLanes, watchSteps } from './watch-lanes.js';
import { WorkLaneFlow } from './work-lane.flow.js';

/** The slow poll of the lane worker, in milliseconds: what it finds was decided for within a second. */
const POLL_MS = 400;

@Module({
  imports: [MorModule],
  providers: [
    { provide: FLOW_SETTINGS, useFactory: flowSettings, inject: [CONFIG] },
    { provide: LIVE_MODE, useFactory: liveMode, inject: [CONFIG] },
    { provide: LANE_WATCH, useFactory: watchSteps, inject: [LOG] },
    { provide: LANE_WORKER, useFactory: workerOptions, inject: [CONFIG, Ids, Metrics, LOG] },
    Wake,
    FlowContext,
    LaneChanges,
    OwnAccount,
    RouteEventsFlow,
    EnrolmentFlow,
    EnrolmentStore,
    ChargeLooksStore,
    WorkLaneFlow,
    LaneWorker,
  ],
  exports: [FLOW_SETTINGS, Wake, FlowContext, LaneChanges, EnrolmentFlow, EnrolmentStore],
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
