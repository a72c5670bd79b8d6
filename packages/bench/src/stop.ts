// The cost of a graceful stop: the real daemon gets SIGTERM under load. Measures the time until it ends, how each
// request ends, and whether every event answered with 200 is stored.
import { type ChildProcess, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Sandbox, startSandbox } from '@crossbill/sandbox/sandbox.js';
import { connectAlone } from '#src/frames/store/connect.js';
import { daemonFlags } from './rig.js';
import { invoiceCreated, paymentSucceeded, SECRET, signedRequest } from './events.js';

export type StopResult = {
  /** Milliseconds from the signal to the end of the process. */
  readonly exitMs: number;
  readonly exitCode: number | null;
  /** Responses after the signal: 200 for a stored event, and 503 asking the sender to repeat. */
  readonly stored: number;
  readonly refused: number;
  /** Requests without a response, because their connection ended. */
  readonly unanswered: number;
  /** Events answered with 200 at any time and not in the inbox. Must be 0. */
  readonly lost: number;
  /** Lanes that stay locked until their lease ends. */
  readonly leasesLeft: number;
};

const CONNECTIONS = 50;
const LOAD_MS = 3_000;
const RETRY_AFTER_MS = 5_000;
/** The slow end of Stripe's usual response time, so calls are under way when the signal arrives. */
const STRIPE_MS = 150;

/** Stops one daemon under load, on an empty database with the current schema. */
export async function stopUnderLoad(databaseUrl: string): Promise<StopResult> {
  const sandbox = await startSandbox({ seed: 'stop' });
  const { child, port } = await startDaemon(databaseUrl, sandbox);
  try {
    const slow = { side: 'stripe', times: 1_000_000, action: { delay_ms: STRIPE_MS } };
    await fetch(`${sandbox.morUrl}/_sandbox/faults`, { method: 'POST', body: JSON.stringify(slow) });
    const load = new Load(port);
    await pause(LOAD_MS);
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const before = { ...load.counts };
    const began = performance.now();
    child.kill('SIGTERM');
    const exitCode = await ended;
    const exitMs = performance.now() - began;
    await load.stop();
    return {
      exitMs,
      exitCode,
      stored: load.counts.stored - before.stored,
      refused: load.counts.refused - before.refused,
      unanswered: load.counts.unanswered,
      ...(await leftIn(databaseUrl, load.acknowledged)),
    };
  } finally {
    child.kill('SIGKILL');
    await sandbox.close();
  }
}

async function startDaemon(databaseUrl: string, sandbox: Sandbox): Promise<{ child: ChildProcess; port: number }> {
  const { morUrl, stripeUrl, secrets } = sandbox;
  const child = spawn(process.execPath, [...daemonFlags(), fileURLToPath(new URL('../main.js', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: tmpdir(), // a developer's own .env would change the result
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'test',
      LOG_LEVEL: 'info',
      PORT: '0',
      DATABASE_URL: databaseUrl,
      STRIPE_API_KEY: secrets.stripeApiKey,
      STRIPE_API_BASE: stripeUrl,
      STRIPE_MAX_RPS: '500',
      STRIPE_WEBHOOK_SECRETS: SECRET,
      MOR_BASE_URL: morUrl,
      MOR_AUTH_URL: morUrl,
      MOR_CLIENT_ID: secrets.merchant.clientId,
      MOR_CLIENT_SECRET: secrets.merchant.clientSecret,
      MOR_PAYMENT_WEBHOOK_SECRETS: SECRET,
      MOR_EVENT_WEBHOOK_SECRETS: SECRET,
      API_KEYS: 'bench:ops:bench-key-0123456789abcdef0123456789',
    },
  });
  let said = '';
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the daemon does not start: ${said.slice(-1_000)}`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-20_000);
      const at = /"url":"http:\/\/[^"]*:(\d+)"[^\n]*"ready"|"ready"[^\n]*"url":"http:\/\/[^"]*:(\d+)"/.exec(said);
      if (at !== null) resolve(Number(at[1] ?? at[2]));
    });
  });
  child.removeAllListeners('exit');
  return { child, port };
}

/** Sends invoices and their payments over many connections until stopped. Opens a new connection when one ends. */
class Load {
  readonly counts = { stored: 0, refused: 0, unanswered: 0 };
  readonly acknowledged: string[] = [];
  private next = 0;
  private over = false;
  private readonly senders: Promise<void>[];

  constructor(private readonly port: number) {
    this.senders = Array.from({ length: CONNECTIONS }, () => this.sender());
  }

  async stop(): Promise<void> {
    this.over = true;
    await Promise.all(this.senders);
  }

  private async sender(): Promise<void> {
    while (!this.over) {
      // After a 503 a sender waits at least for its Retry-After, then sends again.
      const untilMs = performance.now() + ((await this.connection()) ? RETRY_AFTER_MS : 20);
      while (!this.over && performance.now() < untilMs) await pause(20);
    }
  }

  /** Resolves when the connection ended. True if its last response asked the sender to repeat. */
  private connection(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1');
      let sent: string | null = null;
      let refused = false;
      let seen = '';
      const send = (): void => {
        if (this.over) return void socket.end();
        const n = this.next++;
        const invoice = n % 2 === 0;
        const body = invoice ? invoiceCreated(n >> 1) : paymentSucceeded(n >> 1);
        sent = /"id":"([^"]+)"/.exec(body.toString('latin1', 0, 80))?.[1] ?? '';
        const [path, header] = invoice
          ? (['/webhooks/stripe', 'Stripe-Signature'] as const)
          : (['/webhooks/mor/payments', 'Mor-Signature'] as const);
        socket.write(signedRequest(path, header, body));
      };
      socket.on('connect', send);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        if (sent !== null) this.counts.unanswered++;
        resolve(refused);
      });
      socket.on('data', (chunk) => {
        seen += chunk.toString('latin1');
        const head = seen.indexOf('\r\n\r\n');
        if (head < 0) return;
        const length = /content-length: (\d+)/i.exec(seen)?.[1] ?? '0';
        if (seen.length < head + 4 + Number(length)) return;
        if (seen.startsWith('HTTP/1.1 200')) {
          this.counts.stored++;
          if (sent !== null) this.acknowledged.push(sent);
        } else {
          this.counts.refused++;
          refused = true;
        }
        const closes = /\r\nconnection: close/i.test(seen);
        sent = null;
        seen = '';
        if (closes) socket.end();
        else send();
      });
    });
  }
}

async function leftIn(
  databaseUrl: string,
  acknowledged: readonly string[],
): Promise<{ lost: number; leasesLeft: number }> {
  const db = await connectAlone(databaseUrl, { name: 'crossbill-bench', statementMs: 0 });
  try {
    const lost = await db.query<{ n: string }>(
      `select count(*) as n from unnest($1::text[]) as given(id)
        where not exists (select 1 from inbox_event e where e.event_id = given.id)`,
      [acknowledged],
    );
    const held = await db.query<{ n: string }>(
      `select count(*) as n from lane where lease_owner is not null and lease_until > now()`,
    );
    return { lost: Number(lost.rows[0]?.n), leasesLeft: Number(held.rows[0]?.n) };
  } finally {
    await db.end();
  }
}
