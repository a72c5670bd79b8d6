// The world: the programs of the demo. They are a real PostgreSQL, the sandbox in this process, and the daemon in a
// separate process, and they start and stop together.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative, resolve } from 'node:path';
import Stripe from 'stripe';
import { EVENT_TYPES } from '../mor/event-types.js';
import { NOTIFY_PATH } from '../backend.js';
import { type Sandbox, startSandbox } from '../sandbox.js';
import { DaemonProcess } from './daemon-process.js';
import { type DemoDatabase, openDemoDatabase } from './database.js';
import { JsonClient } from './http.js';
import { ENROLMENT } from './enrolled.js';
import { Reading } from './read.js';
import { type NotifiedSide } from './notified.js';

export type World = {
  readonly sandbox: Sandbox;
  /** The merchant's own client of Stripe: the real package, at the sandbox's address. */
  readonly stripe: Stripe;
  /** The daemon's API with an `ops` key. */
  readonly api: JsonClient;
  /** The sandbox's control routes. */
  readonly control: JsonClient;
  /** The demo's notes on its own actions, for the final check. */
  readonly notified: NotifiedSide;
  readonly daemon: DaemonProcess;
  readonly daemonUrl: string;
  readonly opsKey: string;
  /** The daemon's settings, for its command line. Their secrets guard invented money. */
  readonly daemonEnv: Readonly<Record<string, string>>;
  /** Contains a password: do not print it. */
  readonly databaseUrl: string;
  /** The folder for the demo's files. */
  readonly folder: string;
  /** Writes the settings to a file for `--env-file` and returns its path. The demo deletes the file when it ends. */
  leaveEnvFile(): string;
  readonly about: readonly string[];
  stop(): Promise<void>;
  /** Kills every process of the demo at once. */
  kill(): void;
};

export type WorldOptions = {
  readonly seed: string;
  /** A server to create a database on, a ready database, or null for the embedded server. */
  readonly databaseUrl: string | null | DemoDatabase;
  readonly dataDir: string;
  /** The virtual clock starts this many milliseconds in the past, so the demo ends today by this clock. */
  readonly startAgoMs: number;
  /** Environment variables for the daemon, such as PATH. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onDeath: (how: string) => void;
  readonly warn: (text: string) => void;
  /** True: use any free ports, so several runs fit on one machine. Otherwise use the usual ports if they are free. */
  readonly anyPorts?: true;
  /** Settings of the daemon that replace the demo's. */
  readonly settings?: (sandbox: Sandbox) => Readonly<Record<string, string>>;
};

const HOST = '127.0.0.1';
/** The preferred ports. If a port is taken, the demo uses any free port. */
const PORTS = { daemon: 3000, stripe: 4010, mor: 4020 };
const ANY = { daemon: 0, stripe: 0, mor: 0 };
/** The sandbox has no rate limit, so a low limit in the daemon would only slow the demo. */
const STRIPE_MAX_RPS = '200';

/** Starts database, sandbox and daemon. If one does not start, stops the others and rejects. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const dataDir = resolve(options.dataDir);
  mkdirSync(dataDir, { recursive: true });
  const { databaseUrl } = options;
  const database =
    databaseUrl === null || typeof databaseUrl === 'string'
      ? await openDemoDatabase(databaseUrl, dataDir, options.warn)
      : databaseUrl;
  let sandbox: Sandbox | null = null;
  try {
    const ports = options.anyPorts === true ? ANY : PORTS;
    const daemonUrl = `http://${HOST}:${await portNear(ports.daemon)}`;
    sandbox = await startSandbox({
      seed: options.seed,
      stripePort: await portNear(ports.stripe),
      morPort: await portNear(ports.mor),
      stripeWebhookUrl: `${daemonUrl}/webhooks/stripe`,
      paymentWebhookUrl: `${daemonUrl}/webhooks/mor/payments`,
    });
    await sandbox.kernel.clock.advance(-options.startAgoMs);
    const eventSecret = await registerEndpoint(sandbox, `${daemonUrl}/webhooks/mor/events`);
    return await withDaemon(options, sandbox, database, { daemonUrl, dataDir, eventSecret });
  } catch (error) {
    await sandbox?.close();
    await database.stop();
    throw error;
  }
}

async function withDaemon(
  options: WorldOptions,
  sandbox: Sandbox,
  database: DemoDatabase,
  {
    daemonUrl,
    dataDir,
    eventSecret,
  }: { readonly daemonUrl: string; readonly dataDir: string; readonly eventSecret: string },
): Promise<World> {
  const { kernel, secrets } = sandbox;
  const opsKey = kernel.secret('api-key-ops');
  const settings: Record<string, string> = {
    NODE_ENV: 'development',
    LOG_LEVEL: 'warn',
    HOST,
    PORT: new URL(daemonUrl).port,
    DATABASE_URL: database.url,
    STRIPE_API_KEY: secrets.stripeApiKey,
    STRIPE_API_BASE: sandbox.stripeUrl,
    STRIPE_WEBHOOK_SECRETS: secrets.stripeWebhookSecret,
    STRIPE_MAX_RPS,
    STRIPE_CUSTOM_PAYMENT_METHOD_TYPE: 'cpmt_demo',
    MOR_BASE_URL: sandbox.morUrl,
    MOR_AUTH_URL: sandbox.morUrl,
    MOR_CLIENT_ID: secrets.merchant.clientId,
    MOR_CLIENT_SECRET: secrets.merchant.clientSecret,
    MOR_PARTNER_CLIENT_ID: secrets.partner.clientId,
    MOR_PARTNER_CLIENT_SECRET: secrets.partner.clientSecret,
    MOR_PSP: sandbox.mor.psp,
    MOR_PAYMENT_WEBHOOK_SECRETS: secrets.paymentWebhookSecret,
    MOR_EVENT_WEBHOOK_SECRETS: eventSecret,
    API_KEYS: `demo:ops:${opsKey}`,
    MOR_RELAY_URL: `${sandbox.morUrl}/relay/stripe`,
    MOR_RELAY_SECRET: secrets.relaySecret,
    ENROLMENT,
    NOTIFY_URL: `${sandbox.morUrl}${NOTIFY_PATH}`,
    NOTIFY_SECRETS: secrets.notifySecret,
    ...options.settings?.(sandbox),
  };
  const env = { ...options.environment, ...settings };
  const logFile = join(dataDir, 'daemon.log');
  const envFile = join(dataDir, 'daemon.env');
  const daemon = new DaemonProcess({ url: daemonUrl, env, folder: dataDir, logFile, onDeath: options.onDeath });
  try {
    await daemon.start();
  } catch (error) {
    await daemon.stop();
    throw error;
  }
  let stopped: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    rmSync(envFile, { force: true });
    await daemon.stop();
    await sandbox.close();
    await database.stop();
  };
  return {
    sandbox,
    stripe: stripeOf(sandbox),
    api: new JsonClient(daemonUrl, opsKey, true),
    control: new JsonClient(sandbox.morUrl, null, false),
    notified: { transfers: [], links: [], lost: [], outsiders: [] },
    daemon,
    daemonUrl,
    opsKey,
    daemonEnv: env,
    databaseUrl: database.url,
    folder: dataDir,
    leaveEnvFile: () => {
      const lines = Object.entries(settings).map(([name, value]) => `${name}='${value}'\n`);
      writeFileSync(envFile, lines.join(''), { mode: 0o600 });
      return relative(process.cwd(), envFile);
    },
    about: [
      database.about,
      `sandbox: Stripe on ${sandbox.stripeUrl}, the MoR on ${sandbox.morUrl}`,
      `daemon on ${daemonUrl}, process ${daemon.pid ?? 0}, log in ${logFile} (kill -9 it whenever you like)`,
    ],
    stop: () => (stopped ??= stop()),
    kill: () => daemon.kill(),
  };
}

/**
 * Registers the daemon's endpoint for the MoR's events as a merchant does, so the MoR lists it. Returns its secret. The
 * MoR shows the secret only in this reply.
 */
async function registerEndpoint({ morUrl, secrets }: Sandbox, url: string): Promise<string> {
  const { clientId, clientSecret } = secrets.merchant;
  const asked = await fetch(`${morUrl}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }),
  });
  const token = Reading.of(await asked.json(), 'the token').text('access_token');
  const made = await new JsonClient(morUrl, token, false).post('/api/webhooks', { url, events: EVENT_TYPES });
  return made.text('secret');
}

function stripeOf(sandbox: Sandbox): Stripe {
  const { hostname, port } = new URL(sandbox.stripeUrl);
  return new Stripe(sandbox.secrets.stripeApiKey, {
    host: hostname,
    port,
    protocol: 'http',
    maxNetworkRetries: 2,
    telemetry: false, // if on, the package writes a file below the home directory
  });
}

/** Returns the wished port, or a free port if the wished one is taken. */
export async function portNear(wished: number): Promise<number> {
  return (await tryPort(wished)) ?? (await tryPort(0)) ?? wished;
}

function tryPort(port: number): Promise<number | null> {
  return new Promise((found) => {
    const server = createServer();
    server.once('error', () => found(null));
    server.listen({ port, host: HOST, exclusive: true }, () => {
      const address = server.address();
      server.close(() => found(typeof address === 'object' && address !== null ? address.port : null));
    });
  });
}
