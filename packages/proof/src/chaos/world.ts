// The world of a chaos run: PostgreSQL, two daemons and the sandbox as processes, with a faulty network between any two
// of them.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Stripe from 'stripe';
import { freePort } from '@crossbill/embedded-postgres';
import { JsonClient } from '@crossbill/sandbox/demo/http.js';
import { Reading } from '@crossbill/sandbox/demo/read.js';
import { type NotifiedSide } from '@crossbill/sandbox/demo/notified.js';
import { NOTIFY_PATH } from '@crossbill/sandbox/backend.js';
import { type PgBouncer } from './pgbouncer.js';
import { Program, untilReady } from './processes.js';
import { targetOf, TcpProxy } from './tcp-proxy.js';

const HOST = '127.0.0.1';
const DAEMONS = 2;
/** The sandbox's time begins this many days ago, because it runs fast and must not pass the present. */
export const DAYS_AGO = 12;
const SANDBOX_WITHIN_MS = 120_000;
/** How long the merchant's backend repeats a request with the same key until it has an answer. */
const TIMEOUT_MS = 20 * 60_000;

export type Ways = {
  /** From the daemons to PostgreSQL. */
  readonly database: TcpProxy;
  readonly stripe: TcpProxy;
  readonly mor: TcpProxy;
  /** From Stripe and the MoR to the webhook endpoints. Connections go to the daemons in turn. */
  readonly endpoints: TcpProxy;
  /** From the merchant's backend to the API. Connections go to the daemons in turn. No strike hits this proxy. */
  readonly api: TcpProxy;
};

export type World = {
  readonly stripe: Stripe;
  readonly api: JsonClient;
  readonly control: JsonClient;
  readonly notified: NotifiedSide;
  readonly ways: Ways;
  readonly daemons: readonly Program[];
  readonly daemonUrls: readonly string[];
  readonly sandbox: Program;
  readonly pooler: PgBouncer | null;
  /** The daemons' settings, so the run can use the command line. The secrets protect only made-up money. */
  readonly daemonEnv: Readonly<Record<string, string>>;
  readonly folder: string;
  stop(): Promise<void>;
  /** Ends every process at once, for an exit in a hurry. */
  kill(): void;
};

export type WorldOptions = {
  readonly seed: string;
  /** The folder of the logs. */
  readonly folder: string;
  /** The environment variables that the daemons and the sandbox get, such as PATH. */
  readonly environment: Readonly<Record<string, string>>;
  readonly databaseUrl: string;
  readonly pooler: PgBouncer | null;
};

/** Starts all parts. If a part does not start, ends the others and rejects. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const { folder, environment, pooler } = options;
  const daemonUrls: string[] = [];
  for (let i = 0; i < DAEMONS; i++) daemonUrls.push(`http://${HOST}:${await freePort()}`);
  const atDaemons = daemonUrls.map((url) => ({ host: HOST, port: Number(new URL(url).port) }));
  const database = await TcpProxy.before([targetOf(pooler?.url ?? options.databaseUrl)]);
  const [endpoints, api] = [await TcpProxy.before(atDaemons), await TcpProxy.before(atDaemons)];
  const started: Program[] = [];
  try {
    const { sandbox, said } = await startSandbox(options, endpoints.url);
    started.push(sandbox);
    const [stripeUrl, morUrl] = [said.text('stripeUrl'), said.text('morUrl')];
    const stripe = await TcpProxy.before([targetOf(stripeUrl)]);
    const mor = await TcpProxy.before([targetOf(morUrl)]);
    const opsKey = said.text('opsKey');
    const settings = {
      ...settingsOf(said, stripe.url, mor.url, opsKey),
      DATABASE_URL: database.through(pooler?.url ?? options.databaseUrl),
    };
    const daemons = daemonUrls.map((url, i) => {
      const name = `daemon ${i + 1}`;
      const env = { ...environment, ...settings, PORT: new URL(url).port };
      const logFile = join(folder, `daemon-${i + 1}.log`);
      return new Program({ name, program: '../../main.js', env, folder, logFile });
    });
    started.push(...daemons);
    for (const daemon of daemons) daemon.start();
    await Promise.all(daemonUrls.map((url, i) => untilReady(url, `daemon ${i + 1}`)));
    const ways = { database, stripe, mor, endpoints, api };
    return {
      stripe: stripeClient(said.object('secrets').text('stripeApiKey'), stripeUrl),
      api: new JsonClient(api.url, opsKey, true, TIMEOUT_MS),
      control: new JsonClient(morUrl, null, false),
      notified: { transfers: [], links: [], lost: [], outsiders: [] },
      ways,
      daemons,
      daemonUrls,
      sandbox,
      pooler,
      // The command line connects to the database directly, as an operator would.
      daemonEnv: { ...environment, ...settings, DATABASE_URL: options.databaseUrl },
      folder,
      stop: async () => {
        await Promise.all(daemons.map((d) => d.stop()));
        await sandbox.stop();
        await Promise.all(Object.values(ways).map((way) => way.close()));
      },
      kill: () => started.forEach((one) => one.kill()),
    };
  } catch (error) {
    for (const one of started) one.kill();
    throw error;
  }
}

async function startSandbox(
  { seed, folder, environment }: WorldOptions,
  endpoints: string,
): Promise<{ readonly sandbox: Program; readonly said: Reading }> {
  let heard = '';
  const sandbox = new Program({
    name: 'the peers',
    program: './sandbox-process.js',
    args: [seed, endpoints, String(DAYS_AGO)],
    env: environment,
    folder,
    logFile: join(folder, 'sandbox.log'),
    hear: (text) => (heard += text),
  });
  sandbox.start();
  const deadline = performance.now() + SANDBOX_WITHIN_MS;
  while (!heard.includes('\n')) {
    if (performance.now() > deadline) {
      sandbox.kill();
      throw new Error(`the sandbox does not start; see ${join(folder, 'sandbox.log')}`);
    }
    await sleep(50);
  }
  return { sandbox, said: Reading.of(JSON.parse(heard), 'the sandbox') };
}

function settingsOf(said: Reading, stripeUrl: string, morUrl: string, opsKey: string): Record<string, string> {
  const secrets = said.object('secrets');
  const [merchant, partner] = [secrets.object('merchant'), secrets.object('partner')];
  return {
    NODE_ENV: 'development',
    LOG_LEVEL: 'info',
    HOST,
    STRIPE_API_KEY: secrets.text('stripeApiKey'),
    STRIPE_API_BASE: stripeUrl,
    STRIPE_WEBHOOK_SECRETS: secrets.text('stripeWebhookSecret'),
    STRIPE_MAX_RPS: '200', // high enough never to slow this run: the sandbox has no limit
    STRIPE_CUSTOM_PAYMENT_METHOD_TYPE: 'cpmt_chaos',
    MOR_BASE_URL: morUrl,
    MOR_AUTH_URL: morUrl,
    MOR_CLIENT_ID: merchant.text('clientId'),
    MOR_CLIENT_SECRET: merchant.text('clientSecret'),
    MOR_PARTNER_CLIENT_ID: partner.text('clientId'),
    MOR_PARTNER_CLIENT_SECRET: partner.text('clientSecret'),
    MOR_PSP: said.text('psp'),
    MOR_PAYMENT_WEBHOOK_SECRETS: secrets.text('paymentWebhookSecret'),
    MOR_EVENT_WEBHOOK_SECRETS: secrets.text('eventWebhookSecret'),
    API_KEYS: `chaos:ops:${opsKey}`,
    MOR_RELAY_URL: `${morUrl}/relay/stripe`,
    MOR_RELAY_SECRET: secrets.text('relaySecret'),
    NOTIFY_URL: `${morUrl}${NOTIFY_PATH}`,
    NOTIFY_SECRETS: secrets.text('notifySecret'),
  };
}

function stripeClient(key: string, url: string): Stripe {
  const { host, port } = targetOf(url);
  // With telemetry Stripe's package writes a file below the home directory.
  return new Stripe(key, { host, port, protocol: 'http', maxNetworkRetries: 2, telemetry: false });
}
