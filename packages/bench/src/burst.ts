// Sends a burst of renewals to a real daemon. The daemon must work them off at the pace of the Stripe budget, with
// bounded memory and unchanged intake.
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { invoiceCreated, paymentSucceeded, SECRET, signedRequest } from './events.js';
import { load } from './load.js';
import { daemonFlags, freePort, memoryOf, type Rig, until, withPeer } from './rig.js';
import { seenBy } from './whole-path.js';

/**
 * The daemon's STRIPE_MAX_RPS. The daemon gives each Stripe endpoint a quarter of this budget, so 150 marks a second
 * are the limit.
 */
const BUDGET = 600;
const CHECKS = 300;
const CHUNK = 2_000;

export async function burst(rig: Rig): Promise<void> {
  const count = Math.round(100_000 * rig.scale);
  await rig.fresh((url) =>
    withPeer(rig, { delayMs: 0 }, async (peerUrl) => {
      const port = await freePort();
      const daemon = spawn(
        process.execPath,
        [...daemonFlags(), fileURLToPath(new URL('../main.js', import.meta.url))],
        {
          env: { ...process.env, ...settings(url, peerUrl, port) },
          stdio: ['ignore', 'ignore', 'inherit'],
          cwd: tmpdir(), // a developer's own .env would change the result
        },
      );
      try {
        await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok === true);
        await pause(20_000);
        const remaining = await memoryOf(daemon.pid);
        const idle = await probe(port, 80_000_000);
        const began = performance.now();
        let refused = 0;
        for (let n = 0; n < count; n += CHUNK) {
          const numbers = Array.from({ length: Math.min(CHUNK, count - n) }, (_, i) => n + i);
          const requests = numbers.flatMap((i) => [
            signedRequest('/webhooks/stripe', 'Stripe-Signature', invoiceCreated(i)),
            signedRequest('/webhooks/mor/payments', 'Mor-Signature', paymentSucceeded(i)),
          ]);
          refused += (await load(port, requests, 50)).refused;
        }
        const stored = (performance.now() - began) / 1000;
        const atOnce = (await seenBy(peerUrl)).attached;
        const draining = performance.now();
        const meanwhile = await probe(port, 90_000_000);
        await until(async () => (await seenBy(peerUrl)).attached >= count, 500);
        const seconds = (performance.now() - draining) / 1000;
        const drained = (count - atOnce) / seconds;
        await pause(20_000);
        const { now, most } = await memoryOf(daemon.pid);
        const seen = await seenBy(peerUrl);
        rig.table(`Burst of ${count} renewals (two events each), STRIPE_MAX_RPS=${BUDGET}`, [
          { what: 'events taken in a second, workers busy', seen: Math.round((2 * count) / stored) },
          { what: 'events refused', seen: refused },
          { what: `renewals drained a second (the budget allows ${BUDGET / 4})`, seen: drained.toFixed(1) },
          { what: 'second effects', seen: seen.twice },
          { what: 'intake p99 ms, idle', seen: idle.toFixed(1) },
          { what: 'intake p99 ms, while it drains', seen: meanwhile.toFixed(1) },
          { what: 'memory MB, 20 s after the start', seen: remaining.now },
          { what: 'memory MB, most', seen: most },
          { what: 'memory MB, 20 s after', seen: now },
        ]);
        rig.found['burst'] = { count, stored, refused, drained, idle, meanwhile, rest: remaining.now, most, now, seen };
      } finally {
        daemon.kill('SIGKILL');
      }
    }),
  );
}

/** Sends single events, each about a new invoice. Returns the 99th percentile of the response times in milliseconds. */
async function probe(port: number, from: number): Promise<number> {
  const requests = Array.from({ length: CHECKS }, (_, i) =>
    signedRequest('/webhooks/stripe', 'Stripe-Signature', invoiceCreated(from + i)),
  );
  return (await load(port, requests, 1)).p99Ms;
}

function settings(url: string, peerUrl: string, port: number): Record<string, string> {
  return {
    NODE_ENV: 'test',
    PORT: String(port),
    DATABASE_URL: url,
    STRIPE_API_KEY: 'sk_test_bench',
    STRIPE_API_BASE: peerUrl,
    STRIPE_WEBHOOK_SECRETS: SECRET,
    STRIPE_MAX_RPS: String(BUDGET),
    WORKER_CONCURRENCY: '64',
    WEBHOOK_TOLERANCE_SEC: '3600',
    MOR_BASE_URL: peerUrl,
    MOR_AUTH_URL: peerUrl,
    MOR_CLIENT_ID: 'bench',
    MOR_CLIENT_SECRET: 'bench-client-secret-0123456789abcdef',
    MOR_PAYMENT_WEBHOOK_SECRETS: SECRET,
    MOR_EVENT_WEBHOOK_SECRETS: SECRET,
    API_KEYS: 'bench:ops:bench-api-key-0123456789abcdef0123456789abcdef',
    LOG_LEVEL: 'error',
  };
}
