// Starts and stops one daemon. It listens at once, and serves as soon as the database is ready. A stop loses nothing.
import { type IncomingMessage } from 'node:http';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { PAYMENT_EVENTS } from './core/lanes/subjects.js';
import { MOR_SERVICE_TYPES } from './core/mor-objects/event-rows.js';
import { AppModule, WEBHOOKS } from './app.module.js';
import { Denials } from './frames/api/access/denials.js';
import { KeyRing } from './frames/api/access/key-ring.js';
import { refusingStrangers } from './frames/api/access/strangers.js';
import { configureHttp } from './frames/api/http.js';
import { Readiness } from './core/health/readiness.js';
import { type Config } from './shared/config/index.js';
import { stripeInvoiceTypes } from './shared/domain/events/stripe-event.js';
import { Endpoints } from './frames/intake/endpoints.js';
import { FrontServer, type RequestHandler } from './frames/intake/front-server.js';
import { type Logger, Metrics, NestLogger } from './shared/observe/index.js';
import { openDatabase } from './open-database.js';
import { OWN_MIGRATIONS } from './frames/store/migrations.js';
import { type Caller, caller } from './frames/store/database.js';
import { LaneWorker } from './engine/lane-worker.js';
import { Lifecycle } from './core/health/lifecycle.js';

export type Daemon = {
  /** The URL of the API and the console. */
  readonly url: string;
  /** Stops the daemon. Waits at most 20 seconds for work under way. */
  stop(): Promise<void>;
};

// How long the stop waits for replies and for work, both at the same time. The wait for replies is longer than one call
// to the MoR, so a waiting caller still gets a reply. Both fit into the 20 seconds after SIGTERM.
const REPLIES_GRACE_MS = 12_000;
const WORK_GRACE_MS = 12_000;

/** The event types with their own label in the metrics. */
const EVENT_TYPES = [...stripeInvoiceTypes, ...MOR_SERVICE_TYPES, ...Object.keys(PAYMENT_EVENTS)];

/**
 * Starts a daemon. The daemon replies 503 until it has a database with a current schema. Rejects if another program
 * uses its port, or if `signal` ends the wait for the database.
 * @param migrations the folder with the migrations of this release
 */
export async function startDaemon(
  config: Config,
  log: Logger,
  signal: AbortSignal,
  migrations = OWN_MIGRATIONS,
): Promise<Daemon> {
  const front = new FrontServer();
  const address = await front.listen(config.port, config.host);
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const url = `http://${host}:${address.port}`;
  log.info({ event: 'daemon.listening', url }, 'listening; not ready yet');
  try {
    const database = await openDatabase(config, log, signal, migrations);
    const metrics = new Metrics({ eventTypes: EVENT_TYPES, now: () => new Date() });
    const express = new ExpressAdapter();
    const app = await NestFactory.create<NestExpressApplication>(
      AppModule.of({ config, db: database.db, log, metrics }),
      express,
      { logger: new NestLogger(log), bodyParser: false, abortOnError: false },
    );
    configureHttp(app, WEBHOOKS);
    await app.init();

    const endpoints = app.get(Endpoints);
    const worker = app.get(LaneWorker);
    const lifecycle = app.get(Lifecycle);
    const readiness = app.get(Readiness);
    front.setEndpoints(endpoints);
    const handle = refusingStrangers(app.get(KeyRing), app.get(Denials), express.getInstance<RequestHandler>());
    front.setFallback((req, res) => caller.run(callerOf(req), () => handle(req, res)));
    worker.giveWay(() => endpoints.crowded);
    worker.start();
    endpoints.open();
    lifecycle.start();
    readiness.set(true, 'ready');
    log.info({ event: 'daemon.ready', url, mode: config.billingMarkMode, drafts: config.billingDraftPolicy }, 'ready');

    let stopped: Promise<void> | null = null;
    const stop = async (): Promise<void> => {
      log.info({ event: 'daemon.stopping' }, 'stopping');
      readiness.set(false, 'stopping');
      // Closes everything at the same time. So the endpoints refuse requests from now on, even while a slow database
      // delays the record of the stop.
      await Promise.all([
        endpoints.close(),
        front.close(REPLIES_GRACE_MS),
        atMost(worker.stop(), WORK_GRACE_MS),
        ...lifecycle.served.map(({ stop, graceMs }) => atMost(stop(), graceMs)),
      ]);
      await app.close();
      await database.close();
      log.info({ event: 'daemon.stopped' }, 'stopped');
    };
    return { url, stop: () => (stopped ??= stop()) };
  } catch (e) {
    await front.close(0);
    throw e;
  }
}

function callerOf({ method = '', url = '' }: IncomingMessage): Caller {
  if (url.startsWith('/readyz')) return 'probe';
  return method === 'GET' || method === 'HEAD' ? 'read' : 'change';
}

/**
 * Waits for the work, but no longer than `ms`. Nothing is lost then: the database has each unfinished call with its
 * bytes and idempotency key, and the next start continues.
 */
function atMost(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
