// The daemon of the day benchmark: the built program as a separate process, with default settings except those below.
import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SECRET } from '../events.js';
import { daemonFlags, until } from '../rig.js';
import { budgetFor, type Plan, RETRY_AFTER } from './plan.js';
import { type Verified, verifiedOf } from './verified.js';

export const KEY = 'day-key-for-the-bench-0123456789abcdef';
/** The benchmark plays a real minute in a second or two. Marks follow each other faster, so more calls run at once. */
const CONCURRENCY = 64;

const built = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

export function settingsOf(plan: Plan, url: string, peers: string, port: number): Record<string, string> {
  const wait = `${Math.max(1, Math.round((RETRY_AFTER * plan.dayMs) / 1_000))}s`;
  return {
    NODE_ENV: 'test', // production refuses retries seconds apart
    PORT: String(port),
    DATABASE_URL: url,
    STRIPE_API_KEY: 'sk_test_bench',
    STRIPE_API_BASE: peers,
    STRIPE_WEBHOOK_SECRETS: SECRET,
    STRIPE_MAX_RPS: String(budgetFor(plan)),
    WORKER_CONCURRENCY: String(CONCURRENCY),
    MOR_BASE_URL: peers,
    MOR_AUTH_URL: peers,
    MOR_CLIENT_ID: 'bench',
    MOR_CLIENT_SECRET: 'bench-client-secret-0123456789abcdef',
    MOR_PAYMENT_WEBHOOK_SECRETS: SECRET,
    MOR_EVENT_WEBHOOK_SECRETS: SECRET,
    MOR_RELAY_URL: `${peers}/relay`,
    MOR_RELAY_SECRET: SECRET,
    RETRY_SCHEDULE: `soft=${wait},${wait} hard=none authentication=none end=uncollectible`,
    NOTIFY_URL: `${peers}/notify`,
    NOTIFY_SECRETS: `whsec_${Buffer.from(SECRET.padEnd(32, '0')).toString('base64')}`,
    API_KEYS: `bench:ops:${KEY}`,
    LOG_LEVEL: 'error',
  };
}

export type Daemon = {
  readonly child: ChildProcess;
  /** How often each error message is in the daemon's log. */
  readonly errors: ReadonlyMap<string, number>;
};

/** Starts the daemon with the flags of `npm start`. Resolves when the daemon is ready. */
export async function startDaemon(settings: Record<string, string>): Promise<Daemon> {
  const child = spawn(process.execPath, [...daemonFlags(), built('main.js')], {
    env: { PATH: process.env['PATH'], ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: tmpdir(), // a developer's own .env would change the result
  });
  const errors = new Map<string, number>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const text = (name: string): string => new RegExp(`"${name}":"([^"]*)"`).exec(line)?.[1] ?? '';
    const message = `${text('msg') || line.slice(0, 200)}: ${text('message')}`;
    errors.set(message, (errors.get(message) ?? 0) + 1);
  });
  let ended = false;
  child.once('exit', () => (ended = true));
  const ready = `http://127.0.0.1:${settings['PORT'] ?? ''}/readyz`;
  await until(async () => ended || (await fetch(ready).catch(() => null))?.ok === true);
  if (ended) throw new Error('the daemon does not start');
  return { child, errors };
}

/** Runs `crossbill verify` as an operator does, in a separate process next to the daemon. */
export async function verify(settings: Record<string, string>, since: Date): Promise<Verified> {
  const began = performance.now();
  const child = spawn(process.execPath, [built('cli.js'), 'verify', '--since', since.toISOString(), '--json'], {
    env: { PATH: process.env['PATH'], ...settings },
    stdio: ['ignore', 'pipe', 'ignore'],
    cwd: tmpdir(),
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return verifiedOf(text, exitCode, (performance.now() - began) / 1_000);
}
