// What a command works with: settings, database, flows and both ways out, without doors and without loops.
import { LEASE_MS } from '../policy.js';
import { type Abstract, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type Config, secretValues } from '../config/index.js';
import { isJsonObject } from '../domain/events/json-body.js';
import { AuditLog } from '../domain/ports/audit-log.js';
import { Clock, Ids } from '../domain/ports/clock.js';
import { LaneStore } from '../engine/lane-store.js';
import { Wake } from '../engine/wake.js';
import { WorkLaneFlow } from '../engine/work-lane.flow.js';
import { createLogger, type Logger, Metrics } from '../observe/index.js';
import { databaseUrl } from '../open-database.js';
import { Database } from '../store/database.js';
import { schemaState } from '../store/migrations.js';
import { LaneWorker } from '../engine/lane-worker.js';
import { CliError, EXIT } from './exit-codes.js';
import { type Io } from './io.js';
import { plain } from './table.js';

export type World = {
  readonly config: Config;
  readonly db: Database;
  readonly log: Logger;
  /** A flow, a port or a client by its class. */
  get<T>(token: Type<T> | Abstract<T>): T;
  /** Works what is due, beside any daemon, until `done` says so; false when `seconds` passed first or the person ended it. */
  workUntil(done: () => Promise<boolean>, seconds: number): Promise<boolean>;
  /** Only looks, until `done` says so. */
  waitUntil(done: () => Promise<boolean>, seconds: number): Promise<boolean>;
  /**
   * Does what a person asked for here between two rows of the audit trail. It does not begin before the first one is written,
   * and what was refused or failed has its second one too. `about` says what was made of it.
   */
  change<T>(
    action: string,
    target: string | null,
    work: () => Promise<T>,
    about?: (made: T) => { readonly target?: string; readonly detail?: Readonly<Record<string, unknown>> },
  ): Promise<T>;
  close(): Promise<void>;
};

/** How a person at the command line is called in the audit trail and the timeline. */
export function actorOf(io: Io): string {
  return `cli:${io.user}`;
}

const LOOK_EVERY_MS = 200;
const LANES_AT_ONCE = 8;
/** One for intake, one that holds a lock, one that works. */
const LEAST_CONNECTIONS = 3;

/** The CLI's own log: warnings and worse, each as one sentence on stderr, without a stack. */
export function cliLog(io: Io, secrets: readonly string[]): Logger {
  const destination = { write: (line: string) => io.err(`${plain(sentenceOf(line))}\n`) };
  return createLogger({ level: 'warn', secrets, pretty: false, destination });
}

/** A record of the log, said to a person. */
function sentenceOf(line: string): string {
  const record: unknown = JSON.parse(line);
  if (!isJsonObject(record)) return line;
  const { level, msg, err, lane } = record;
  const about = typeof lane === 'string' ? ` (${lane})` : '';
  const why = isJsonObject(err) && typeof err['message'] === 'string' ? `: ${err['message']}` : '';
  return `${String(level)}: ${String(msg)}${about}${why}`;
}

/**
 * Opens the database and builds the flows on it. Does not migrate.
 * @throws CliError when the schema is behind
 */
export async function openWorld(config: Config, io: Io): Promise<World> {
  const log = cliLog(io, secretValues(config));
  const source = await databaseUrl(config.database, log);
  let db: Database | null = null;
  try {
    const { AppModule } = await import('../app.module.js'); // only a command that needs the database waits for it
    db = await Database.open({
      url: source.url,
      poolSize: Math.max(LEAST_CONNECTIONS, Math.min(config.databasePoolSize, LANES_AT_ONCE)),
      onError: (err) => log.warn({ event: 'database.connection_lost', err }, 'a database connection was lost'),
    });
    if ((await schemaState(db.orm)).missing.length > 0) {
      throw new CliError(
        EXIT.failed,
        'schema_behind',
        'The schema of the database is behind. Run `crossbill migrate`.',
      );
    }
    const unheard = createLogger({ level: 'silent', secrets: [], pretty: false });
    const metrics = new Metrics({ eventTypes: [], now: () => new Date() });
    const app = await NestFactory.createApplicationContext(
      AppModule.withoutJobs({ config, db, log: unheard, metrics }),
      { logger: false, abortOnError: false },
    );
    return worldOf(
      config,
      db,
      log,
      io,
      (token) => app.get(token, { strict: false }),
      async () => {
        await app.close(); // closes the database with it
        await source.stop();
      },
    );
  } catch (e) {
    await db?.close();
    await source.stop();
    throw e;
  }
}

function worldOf(config: Config, db: Database, log: Logger, io: Io, get: World['get'], close: World['close']): World {
  const waitUntil: World['waitUntil'] = async (done, seconds) => {
    const end = performance.now() + seconds * 1000;
    for (;;) {
      if (await done()) return true;
      if (performance.now() >= end || io.signal.aborted) return false;
      await get(Clock).sleep(LOOK_EVERY_MS, io.signal);
    }
  };
  return {
    config,
    db,
    log,
    get,
    waitUntil,
    async workUntil(done, seconds) {
      const worker = new LaneWorker(get(LaneStore), get(WorkLaneFlow), get(Wake), get(Clock), {
        owner: `cli:${process.pid}:${get(Ids).next('w')}`,
        concurrency: LANES_AT_ONCE,
        leaseMs: LEASE_MS,
        pollMs: LOOK_EVERY_MS,
        onError: (what, err, claim) => log.error({ event: 'engine.failed', err, lane: claim?.lane }, what),
      });
      worker.start();
      try {
        return await waitUntil(done, seconds);
      } finally {
        await worker.stop();
      }
    },
    async change(action, target, work, about = () => ({})) {
      const audit = get(AuditLog);
      const row = { actor: actorOf(io), role: 'ops', action, target, source: 'command line' };
      await audit.write({ ...row, outcome: 'begun', status: 0, detail: null });
      const end = async (entry: Parameters<AuditLog['write']>[0]): Promise<void> => {
        try {
          await audit.write(entry);
        } catch (err) {
          // What was done is done; that it began is on record.
          log.error({ event: 'audit.outcome_lost', err }, "Couldn't audit the outcome of a change");
        }
      };
      try {
        const made = await work();
        const { target: at = target, detail = null } = about(made);
        await end({ ...row, target: at, outcome: 'done', status: 200, detail });
        return made;
      } catch (e) {
        const refused = e instanceof CliError && e.exitCode === EXIT.failed;
        const detail = e instanceof CliError ? { code: e.code } : null;
        await end({ ...row, outcome: refused ? 'refused' : 'failed', status: refused ? 400 : 500, detail });
        throw e;
      }
    },
    close,
  };
}
