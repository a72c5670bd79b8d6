// A whole daemon to fuzz over HTTP, with a real PostgreSQL and the sandbox. Every list has at least one row.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type InboxSource } from '#src/shared/domain/ports/inbox.js';
import { connectAlone } from '#src/frames/store/connect.js';
import { handedOn } from '@crossbill/sandbox/demo/options.js';
import { startWorld } from '@crossbill/sandbox/demo/world.js';
import { wire } from './inputs/examples.js';

export type Rig = {
  readonly url: string;
  /** An API key with the role ops. */
  readonly key: string;
  readonly secret: (endpoint: InboxSource) => string;
  readonly query: (sql: string, values: readonly unknown[]) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Returns the errors in the daemon's log since the last call. */
  readonly errors: () => readonly string[];
  readonly close: () => Promise<void>;
};

export const ENDPOINT_HEADERS: Readonly<Record<InboxSource, readonly [path: string, header: string]>> = {
  stripe: ['/webhooks/stripe', 'stripe-signature'],
  mor_payments: ['/webhooks/mor/payments', 'mor-signature'],
  mor_events: ['/webhooks/mor/events', 'service-signature'],
};

/**
 * Delivers the event and returns the HTTP status. After a broken connection it tries a second time, as a sender does: a
 * busy daemon may close an idle connection.
 */
export async function deliver(
  rig: Rig,
  endpoint: InboxSource,
  body: Buffer,
  secret = rig.secret(endpoint),
): Promise<number> {
  const t = Math.floor(Date.now() / 1_000);
  const mac = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
  const [path, header] = ENDPOINT_HEADERS[endpoint];
  const send = (): Promise<Response> =>
    fetch(rig.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [header]: `t=${t},v1=${mac}` },
      body: new Uint8Array(body),
    });
  const reply = await send().catch(send);
  await reply.arrayBuffer();
  return reply.status;
}

/** Delivers one event of each type, so the daemon's lists have rows and its paths have ids. */
export async function furnish(rig: Rig): Promise<void> {
  for (const { value } of wire('stripe')) await deliver(rig, 'stripe', Buffer.from(JSON.stringify(value)));
  for (const { name, value } of wire('mor-events')) {
    const endpoint = /^payment\.(?!captured)/.test(name) ? 'mor_payments' : 'mor_events';
    await deliver(rig, endpoint, Buffer.from(JSON.stringify(value)));
  }
}

/** Opens the rig on the embedded PostgreSQL, or on the server of DATABASE_URL. */
export async function openRig(say: (text: string) => void): Promise<Rig> {
  const world = await startWorld({
    seed: 'fuzz',
    databaseUrl: process.env['DATABASE_URL'] || null,
    dataDir: '.crossbill/fuzz',
    startAgoMs: 0,
    environment: handedOn(process.env),
    onDeath: (how) => deaths.push(`the daemon died: ${how}`),
    warn: say,
  });
  const deaths: string[] = [];
  const env = world.daemonEnv;
  const client = await connectAlone(env['DATABASE_URL'] ?? '', { name: 'crossbill-fuzz', statementMs: 60_000 });
  const logFile = `${world.folder}/daemon.log`;
  let seen = readFileSync(logFile).length;
  const rig: Rig = {
    url: world.daemonUrl,
    key: world.opsKey,
    secret: (endpoint) =>
      env[
        {
          stripe: 'STRIPE_WEBHOOK_SECRETS',
          mor_payments: 'MOR_PAYMENT_WEBHOOK_SECRETS',
          mor_events: 'MOR_EVENT_WEBHOOK_SECRETS',
        }[endpoint]
      ] ?? '',
    query: async (sql, values) => (await client.query<Record<string, unknown>>(sql, [...values])).rows,
    errors: () => {
      const log = readFileSync(logFile);
      const lines = log.subarray(seen).toString('utf8').split('\n');
      seen = log.length;
      return [...deaths.splice(0), ...lines.filter((line) => /"level":[56]0/.test(line))];
    },
    close: async () => {
      await client.end();
      await world.stop();
    },
  };
  await furnish(rig);
  for (const line of world.about) say(line);
  return rig;
}
