// The class `AppContext` has the daemon's parts for one command: settings, database, services, clients of Stripe and the MoR. A
// command has no webhook endpoints and no timers.
import { type Abstract, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { UnknownElementException } from '@nestjs/core/errors/exceptions/unknown-element.exception.js';
import { Problem } from '../api/http/problem.js';
import { type Config, secretValues } from '../../shared/config/index.js';
import { isObject } from '@crossbill/mor/read.js';
import { nameLane } from '../../shared/domain/events/channel-lane.js';
import { AuditLog } from '../../shared/domain/ports/audit-log.js';
import { Clock, Ids } from '../../shared/domain/ports/clock.js';
import { LaneRepository } from '../../engine/lane.repository.js';
import { LaneWorker } from '../../engine/lane-worker.js';
import { LaneSignal } from '../../engine/lane-signal.js';
import { WorkLaneService } from '../../engine/work-lane.service.js';
import { createLogger, type Logger, Metrics } from '../../shared/observe/index.js';
import { databaseUrl } from '../../open-database.js';
import { LEASE_MS } from '../../shared/policy.js';
import { Database } from '../store/database.js';
import { schemaState } from '../store/migrations.js';
import { CliError, EXIT } from './exit-codes.js';
import { type Io } from './io.js';
import { plain } from './table.js';

const POLL_MS = 200;
const LANES_AT_ONCE = 8;
/** The fewest database connections of a command: one for intake, one for a lock, one for work. */
const LEAST_CONNECTIONS = 3;

type Token<T> = Type<T> | Abstract<T>;
/** Returns target and detail of the second audit row (see `AppContext.change`). `made`: the result of the change. */
type About<T> = (made: T) => { readonly target?: string; readonly detail?: Readonly<Record<string, unknown>> };

export class AppContext {
  constructor(
    readonly config: Config,
    readonly db: Database,
    readonly log: Logger,
    private readonly io: Io,
    /** Returns a service, a route, a port or a client, by its class. */
    readonly get: <T>(token: Token<T>) => T,
    readonly close: () => Promise<void>,
  ) {}

  /** Returns the same, or `otherwise` if no feature provides it. */
  find<T>(token: Token<T>, otherwise: T): T {
    try {
      return this.get(token);
    } catch (e) {
      if (e instanceof UnknownElementException) return otherwise;
      throw e;
    }
  }

  /** Waits until `done` returns true. Returns false after `seconds`, or when the operator stops the command. */
  async waitUntil(done: () => Promise<boolean>, seconds: number): Promise<boolean> {
    const end = performance.now() + seconds * 1000;
    for (;;) {
      if (await done()) return true;
      if (performance.now() >= end || this.io.signal.aborted) return false;
      await this.get(Clock).sleep(POLL_MS, this.io.signal);
    }
  }

  /**
   * Works on the due lanes until `done` returns true. A daemon may run at the same time. Returns false after `seconds`,
   * or when the operator stops the command.
   */
  async workUntil(done: () => Promise<boolean>, seconds: number): Promise<boolean> {
    const worker = new LaneWorker(
      this.get(LaneRepository),
      this.get(WorkLaneService),
      this.get(LaneSignal),
      this.get(Clock),
      {
        owner: `cli:${process.pid}:${this.get(Ids).next('w')}`,
        concurrency: LANES_AT_ONCE,
        leaseMs: LEASE_MS,
        pollMs: POLL_MS,
        onError: (what, err, claim) =>
          this.log.error({ event: 'engine.failed', err, ...(claim === null ? {} : nameLane(claim.lane)) }, what),
      },
    );
    worker.start();
    try {
      return await this.waitUntil(done, seconds);
    } finally {
      await worker.stop();
    }
  }

  /**
   * Runs `work` between two rows of the audit trail. `work` begins after the database has stored the first row. A
   * refused or failed change has a second row too.
   */
  async change<T>(
    action: string,
    target: string | null,
    work: () => Promise<T>,
    about: About<T> = () => ({}),
  ): Promise<T> {
    const audit = this.get(AuditLog);
    const row = { actor: `cli:${this.io.user}`, role: 'ops', action, target, source: 'command line' };
    await audit.write({ ...row, outcome: 'begun', status: 0, detail: null });
    // If the second row cannot be written, Crossbill only logs it: the change is done, and the first row is in the
    // trail.
    const end = (entry: Parameters<AuditLog['write']>[0]): Promise<void> =>
      audit
        .write(entry)
        .catch((err: unknown) =>
          this.log.error({ event: 'audit.outcome_lost', err }, "Couldn't audit the outcome of a change"),
        );
    try {
      const made = await work();
      const { target: at = target, detail = null } = about(made);
      await end({ ...row, target: at, outcome: 'done', status: 200, detail });
      return made;
    } catch (e) {
      const code = e instanceof CliError || e instanceof Problem ? e.code : null;
      const refused = e instanceof Problem ? e.getStatus() < 500 : e instanceof CliError && e.exitCode === EXIT.failed;
      const outcome = refused ? { outcome: 'refused', status: 400 } : { outcome: 'failed', status: 500 };
      await end({ ...row, ...outcome, detail: code === null ? null : { code } });
      throw e;
    }
  }
}

/** Writes warnings and errors to stderr, each as one sentence without a stack. */
export function cliLog(io: Io, secrets: readonly string[]): Logger {
  const destination = { write: (line: string) => io.err(`${plain(sentence(line))}\n`) };
  return createLogger({ level: 'warn', secrets, pretty: false, destination });
}

function sentence(line: string): string {
  const record: unknown = JSON.parse(line);
  if (!isObject(record)) return line;
  const { level, msg, err, invoice } = record;
  const about = typeof invoice === 'string' ? ` (${invoice})` : '';
  const why = isObject(err) && typeof err['message'] === 'string' ? `: ${err['message']}` : '';
  return `${String(level)}: ${String(msg)}${about}${why}`;
}

/**
 * Opens the database and builds the services on it. Runs no migration.
 * @throws CliError when the schema is too old
 */
export async function openAppContext(config: Config, io: Io): Promise<AppContext> {
  const log = cliLog(io, secretValues(config));
  const source = await databaseUrl(config.database, log);
  let db: Database | null = null;
  try {
    const { AppModule } = await import('../../app.module.js'); // a command without a database skips this slow import
    db = await Database.open({
      url: source.url,
      poolSize: Math.max(LEAST_CONNECTIONS, Math.min(config.databasePoolSize, LANES_AT_ONCE)),
      onError: (err) => log.warn({ event: 'database.connection_lost', err }, 'a database connection was lost'),
    });
    if ((await schemaState(db.orm)).missing.length > 0) {
      const message = 'The schema of the database is behind. Run `crossbill migrate`.';
      throw new CliError(EXIT.failed, 'schema_behind', message);
    }
    const silent = createLogger({ level: 'silent', secrets: [], pretty: false });
    const metrics = new Metrics({ eventTypes: [], now: () => new Date() });
    const app = await NestFactory.createApplicationContext(
      AppModule.withoutJobs({ config, db, log: silent, metrics }),
      { logger: false, abortOnError: false },
    );
    const close = async (): Promise<void> => {
      await app.close(); // this also closes the database
      await source.stop();
    };
    return new AppContext(config, db, log, io, (token) => app.get(token, { strict: false }), close);
  } catch (e) {
    await db?.close();
    await source.stop();
    throw e;
  }
}
