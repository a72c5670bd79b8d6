// The database as a Nest module: its connection, and the ports for all other modules.
import { type DynamicModule, Global, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CONFIG, type Config } from '../../shared/config/index.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { Inbox } from '../../shared/domain/ports/inbox.js';
import { RequestBudget } from '../../shared/domain/ports/request-budget.js';
import { AuditLog } from '../../shared/domain/ports/audit-log.js';
import { Requests } from './requests.js';
import { DatabaseTime, ServerTime } from './database-time.js';
import { Database } from './database.js';
import { PgInbox } from './inbox.repository.js';
import { PgAuditLog } from './audit-log.js';
import { Notifications } from './notifications.js';
import { PgRequestBudget } from './pg-request-budget.js';

@Injectable()
class CloseDatabase implements OnApplicationShutdown {
  constructor(private readonly db: Database) {}

  async onApplicationShutdown(): Promise<void> {
    await this.db.close();
  }
}

/** The stores of tables with several writers. If a table has one writer, such as refunds/, its module has the store. */
const PORTS = [
  { provide: DatabaseTime, useClass: ServerTime },
  { provide: Inbox, useClass: PgInbox },
  {
    provide: Notifications,
    useFactory: (db: Database, time: DatabaseTime, { notifyUrl }: Config) =>
      new Notifications(db, time, notifyUrl?.reveal() ?? null),
    inject: [Database, DatabaseTime, CONFIG],
  },
  Requests,
  { provide: AuditLog, useClass: PgAuditLog },
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
  /** `db` is open and has a current schema. It closes together with the application. */
  static of(db: Database): DynamicModule {
    return {
      module: StoreModule,
      // Provides the open DataSource under Nest's own token, so a class injects a repository as usual.
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => ({ type: 'postgres' }),
          dataSourceFactory: () => Promise.resolve(db.orm),
        }),
      ],
      providers: [{ provide: Database, useValue: db }, CloseDatabase, ...PORTS],
      exports: [Database, ...PORTS.map((port) => ('provide' in port ? port.provide : port))],
    };
  }
}
