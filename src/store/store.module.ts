// The store as a Nest module: the domain's ports go out, PostgreSQL stays inside.
import { type DynamicModule, Global, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CONFIG, type Config } from '../config/index.js';
import { HomelessEvents } from '../mor-objects/homeless-events.js';
import { Books } from '../domain/ports/books.js';
import { DayBooks } from '../domain/ports/day-books.js';
import { DoorBooks } from '../domain/ports/door-books.js';
import { RetryBooks } from '../domain/ports/retry-books.js';
import { EnrolmentBooks } from '../domain/ports/enrolment-books.js';
import { DisputeBooks } from '../domain/ports/dispute-books.js';
import { Exports } from '../domain/ports/exports.js';
import { LedgerSums } from '../domain/ports/ledger-sums.js';
import { Clock } from '../domain/ports/clock.js';
import { ChargeLooks } from '../domain/ports/charge-looks.js';
import { CustomerLinks } from '../domain/ports/customer-links.js';
import { ConsoleSessions } from '../domain/ports/console-sessions.js';
import { EventsDesk } from '../domain/ports/events-desk.js';
import { Inbox } from '../domain/ports/inbox.js';
import { DoorsLog, LossBooks } from '../domain/ports/loss.js';
import { LaneStore } from '../engine/lane-store.js';
import { MarkLookups } from '../domain/ports/mark-lookups.js';
import { Onboardings } from '../domain/ports/onboarding.js';
import { Notifications } from '../domain/ports/notifications.js';
import { PaymentMethods } from '../domain/ports/payment-methods.js';
import { ReviewDesk } from '../domain/ports/review-desk.js';
import { RequestBudget } from '../domain/ports/request-budget.js';
import { AuditLog, Requests, Signups } from '../domain/ports/signups.js';
import { ShadowBooks } from '../domain/ports/shadow-books.js';
import { SearchBooks } from '../domain/ports/search-books.js';
import { VerifyBooks } from '../domain/ports/verify-books.js';
import { BodyMonths } from '../domain/ports/body-months.js';
import { GATHER_MS } from '../policy.js';
import { PgBodyMonths } from './event-bodies.js';
import { DatabaseTime, ServerTime } from './database-time.js';
import { Database } from './database.js';
import { PgEventsDesk } from './event-queries.js';
import { PgInbox } from './inbox-store.js';
import { PgLaneStore } from '../engine/pg-lane-store.js';
import { PgAuditLog } from './pg-audit.js';
import { PgHomelessEvents } from '../mor-objects/homeless-events.store.js';
import { PgBooks } from './pg-books.js';
import { PgChargeLooks } from './pg-charge-looks.js';
import { PgCustomerLinks } from './pg-customer-links.js';
import { PgDayBooks } from './pg-day-books.js';
import { PgDoorBooks } from './pg-door-books.js';
import { PgRetryBooks } from './pg-retry-books.js';
import { PgEnrolmentBooks } from './pg-enrolment-books.js';
import { PgDisputeBooks } from './pg-dispute-books.js';
import { PgDoorsLog } from './pg-doors-log.js';
import { PgConsoleSessions } from './pg-console-sessions.js';
import { PgMarkLookups } from './pg-mark-lookups.js';
import { PgExports } from './pg-exports.js';
import { PgLedgerSums } from './pg-ledger-sums.js';
import { PgLossBooks } from './pg-loss-books.js';
import { PgNotifications } from './pg-notifications.js';
import { PgOnboardings } from './pg-onboarding.js';
import { PgPaymentMethods } from './pg-payment-methods.js';
import { PgRequestBudget } from './pg-request-budget.js';
import { PgSearchBooks } from './pg-search-books.js';
import { PgShadowBooks } from './pg-shadow-books.js';
import { PgVerifyBooks } from './pg-verify-books.js';
import { PgReviewDesk } from './review-queries.js';
import { PgRequests, PgSignups } from './signup-store.js';

@Injectable()
class CloseDatabase implements OnApplicationShutdown {
  constructor(private readonly db: Database) {}

  async onApplicationShutdown(): Promise<void> {
    await this.db.close();
  }
}

/** Every port of the domain that PostgreSQL answers. */
const PORTS = [
  { provide: Inbox, useClass: PgInbox },
  {
    provide: LaneStore,
    // In shadow mode nothing happens that anybody should hear of.
    useFactory: (db: Database, time: DatabaseTime, { notifyUrl, notifyFormat, shadow }: Config) =>
      new PgLaneStore(db, time, notifyUrl === null || shadow ? null : notifyFormat, GATHER_MS),
    inject: [Database, DatabaseTime, CONFIG],
  },
  {
    provide: Notifications,
    useFactory: (db: Database, time: DatabaseTime, { notifyUrl }: Config) =>
      new PgNotifications(db, time, notifyUrl?.reveal() ?? null),
    inject: [Database, DatabaseTime, CONFIG],
  },
  { provide: Books, useClass: PgBooks },
  { provide: ChargeLooks, useClass: PgChargeLooks },
  { provide: CustomerLinks, useClass: PgCustomerLinks },
  { provide: DayBooks, useClass: PgDayBooks },
  { provide: DoorBooks, useClass: PgDoorBooks },
  { provide: RetryBooks, useClass: PgRetryBooks },
  { provide: EnrolmentBooks, useClass: PgEnrolmentBooks },
  { provide: DisputeBooks, useClass: PgDisputeBooks },
  { provide: SearchBooks, useClass: PgSearchBooks },
  { provide: Exports, useClass: PgExports },
  { provide: LedgerSums, useClass: PgLedgerSums },
  { provide: HomelessEvents, useClass: PgHomelessEvents },
  { provide: EventsDesk, useClass: PgEventsDesk },
  { provide: BodyMonths, useClass: PgBodyMonths },
  { provide: Signups, useClass: PgSignups },
  { provide: PaymentMethods, useClass: PgPaymentMethods },
  { provide: Requests, useClass: PgRequests },
  { provide: MarkLookups, useClass: PgMarkLookups },
  { provide: VerifyBooks, useClass: PgVerifyBooks },
  { provide: DoorsLog, useClass: PgDoorsLog },
  { provide: LossBooks, useClass: PgLossBooks },
  { provide: Onboardings, useClass: PgOnboardings },
  { provide: ConsoleSessions, useClass: PgConsoleSessions },
  { provide: ShadowBooks, useClass: PgShadowBooks },
  { provide: AuditLog, useClass: PgAuditLog },
  { provide: ReviewDesk, useClass: PgReviewDesk },
  {
    provide: RequestBudget,
    useFactory: (db: Database, clock: Clock, time: DatabaseTime, config: Config) =>
      new PgRequestBudget(db, clock, time, config.stripeMaxRps),
    inject: [Database, Clock, DatabaseTime, CONFIG],
  },
];

@Global()
@Module({})
export class StoreModule {
  /** `db` is open and its schema current; it is closed with the application. */
  static of(db: Database): DynamicModule {
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
        { provide: DatabaseTime, useClass: ServerTime },
        CloseDatabase,
        ...PORTS,
      ],
      exports: [Database, ...PORTS.map(({ provide }) => provide)],
    };
  }
}
