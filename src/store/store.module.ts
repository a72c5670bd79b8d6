// The store as a Nest module: the domain's ports go out, PostgreSQL stays inside.
import { type DynamicModule, Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ChannelEvents } from '../domain/ports/channel-events.js';
import { Books } from '../domain/ports/books.js';
import { Clock, Ids } from '../domain/ports/clock.js';
import { EndedSessions } from '../domain/ports/ended-sessions.js';
import { EventsDesk } from '../domain/ports/events-desk.js';
import { Inbox } from '../domain/ports/inbox.js';
import { DoorsLog, LossBooks } from '../domain/ports/loss.js';
import { LaneStore } from '../domain/ports/lane-store.js';
import { Onboardings } from '../domain/ports/onboarding.js';
import { ReviewDesk } from '../domain/ports/review-desk.js';
import { RequestBudget } from '../domain/ports/request-budget.js';
import { AuditLog, Requests, Signups } from '../domain/ports/signups.js';
import { ShadowBooks } from '../domain/ports/shadow-books.js';
import { VerifyBooks } from '../domain/ports/verify-books.js';
import { ServerTime } from './database-time.js';
import { Database } from './database.js';
import { PgEventsDesk } from './event-queries.js';
import { PgInbox } from './inbox-store.js';
import { PgLaneStore } from './lane-store.js';
import { PgAuditLog } from './pg-audit.js';
import { PgChannelEvents } from './pg-channel-events.js';
import { PgBooks } from './pg-books.js';
import { PgDoorsLog } from './pg-doors-log.js';
import { PgEndedSessions } from './pg-ended-sessions.js';
import { PgLossBooks } from './pg-loss-books.js';
import { PgOnboardings } from './pg-onboarding.js';
import { PgRequestBudget } from './pg-request-budget.js';
import { PgShadowBooks } from './pg-shadow-books.js';
import { PgVerifyBooks } from './pg-verify-books.js';
import { PgReviewDesk } from './review-queries.js';
import { PgRequests, PgSignups } from './signup-store.js';

class CloseDatabase implements OnApplicationShutdown {
  constructor(private readonly db: Database) {}

  async onApplicationShutdown(): Promise<void> {
    await this.db.close();
  }
}

@Global()
@Module({})
export class StoreModule {
  /** `db` is open and its schema current; it is closed with the application. `stripeMaxRps`: requests per second of all replicas. */
  static register(db: Database, stripeMaxRps: number): DynamicModule {
    const time = new ServerTime();
    const ports = [
      { provide: Inbox, useFactory: (ids: Ids) => new PgInbox(db, ids, time), inject: [Ids] },
      { provide: LaneStore, useFactory: () => new PgLaneStore(db, time) },
      { provide: Books, useFactory: (clock: Clock) => new PgBooks(db, clock), inject: [Clock] },
      { provide: ChannelEvents, useFactory: () => new PgChannelEvents(db, time) },
      { provide: EventsDesk, useFactory: () => new PgEventsDesk(db, time) },
      { provide: Signups, useFactory: (ids: Ids) => new PgSignups(db, time, ids), inject: [Ids] },
      { provide: Requests, useFactory: () => new PgRequests(db, time) },
      { provide: VerifyBooks, useFactory: () => new PgVerifyBooks(db, time) },
      { provide: DoorsLog, useFactory: () => new PgDoorsLog(db) },
      { provide: LossBooks, useFactory: () => new PgLossBooks(db) },
      { provide: Onboardings, useFactory: () => new PgOnboardings(db, time) },
      { provide: EndedSessions, useFactory: (clock: Clock) => new PgEndedSessions(db, clock), inject: [Clock] },
      { provide: ShadowBooks, useFactory: () => new PgShadowBooks(db) },
      { provide: AuditLog, useFactory: (clock: Clock) => new PgAuditLog(db, clock), inject: [Clock] },
      { provide: ReviewDesk, useFactory: () => new PgReviewDesk(db) },
      {
        provide: RequestBudget,
        useFactory: (clock: Clock) => new PgRequestBudget(db, clock, time, stripeMaxRps),
        inject: [Clock],
      },
    ];
    return {
      module: StoreModule,
      // The DataSource that is open already, under Nest's own token: whoever wants a repository injects it as usual.
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => ({ type: 'postgres' }),
          dataSourceFactory: () => Promise.resolve(db.orm),
        }),
      ],
      providers: [
        { provide: Database, useValue: db },
        { provide: CloseDatabase, useFactory: () => new CloseDatabase(db) },
        ...ports,
      ],
      exports: [Database, ...ports.map((p) => p.provide)],
    };
  }
}
