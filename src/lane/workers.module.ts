// The loops as a Nest module.
import { hostname } from 'node:os';
import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { Clock, Ids } from '../domain/ports/clock.js';
import { DoorsLog } from '../domain/ports/loss.js';
import { LaneStore } from '../domain/ports/lane-store.js';
import { Signups } from '../domain/ports/signups.js';
import { VerifyBooks } from '../domain/ports/verify-books.js';
import { LossWindowFlow } from '../verify/loss-window.flow.js';
import { VerifyFlow } from '../verify/verify.flow.js';
import { Wake } from './wake.js';
import { OnboardingFlow } from '../onboarding/onboarding.flow.js';
import { WorkLaneFlow } from './work-lane.flow.js';
import { Metrics } from '../observe/index.js';
import { DoorWatch } from '../intake/door-watch.js';
import { Housekeeping } from '../events/housekeeping.js';
import { OnboardingPoller } from '../onboarding/onboarding-poller.js';
import { LaneWorker, type LaneWorkerOptions } from './lane-worker.js';
import { VerifyJob, type VerifyJobReports } from '../verify/verify-job.js';

@Module({})
export class WorkersModule {
  static register(
    options: Pick<LaneWorkerOptions, 'concurrency' | 'leaseMs' | 'pollMs'> & {
      readonly onDone: NonNullable<LaneWorkerOptions['onDone']>;
      readonly onError: NonNullable<LaneWorkerOptions['onError']>;
      readonly onVerified: VerifyJobReports['onRun'];
    },
  ): DynamicModule {
    return {
      module: WorkersModule,
      imports: [ScheduleModule.forRoot()],
      providers: [
        {
          provide: LaneWorker,
          useFactory: (store: LaneStore, flow: WorkLaneFlow, wake: Wake, clock: Clock, ids: Ids) =>
            new LaneWorker(store, flow, wake, clock, {
              ...options,
              owner: `${hostname()}:${process.pid}:${ids.next('w')}`,
            }),
          inject: [LaneStore, WorkLaneFlow, Wake, Clock, Ids],
        },
        {
          provide: OnboardingPoller,
          useFactory: (flow: OnboardingFlow) => new OnboardingPoller(flow, (what, e) => options.onError(what, e, null)),
          inject: [OnboardingFlow],
        },
        {
          provide: Housekeeping,
          useFactory: (signups: Signups) => new Housekeeping(signups, (what, e) => options.onError(what, e, null)),
          inject: [Signups],
        },
        {
          provide: DoorWatch,
          useFactory: (
            doors: DoorsLog,
            loss: LossWindowFlow,
            books: VerifyBooks,
            clock: Clock,
            ids: Ids,
            job: VerifyJob,
          ) =>
            new DoorWatch(
              doors,
              loss,
              books,
              clock,
              ids,
              () => job.afterOutage(),
              (what, e) => options.onError(what, e, null),
            ),
          inject: [DoorsLog, LossWindowFlow, VerifyBooks, Clock, Ids, VerifyJob],
        },
        {
          provide: VerifyJob,
          useFactory: (flow: VerifyFlow, books: VerifyBooks, clock: Clock, metrics: Metrics) =>
            new VerifyJob(flow, books, clock, metrics, {
              onRun: options.onVerified,
              onError: (what, e) => options.onError(what, e, null),
            }),
          inject: [VerifyFlow, VerifyBooks, Clock, Metrics],
        },
      ],
      exports: [LaneWorker, DoorWatch, VerifyJob],
    };
  }
}
