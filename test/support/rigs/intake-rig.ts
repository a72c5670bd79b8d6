// The webhook endpoints over real HTTP in front of an inbox in memory, and senders that a test controls.
import { readFileSync } from 'node:fs';
import { createServer, request, type IncomingHttpHeaders, type RequestOptions, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { eventParser } from '../../../src/core/events/event-parser.js';
import { ParsedEvents } from '../../../src/engine/parsed-events.js';
import { Endpoints } from '../../../src/frames/intake/endpoints.js';
import { type IntakeOptions } from '../../../src/frames/intake/options.js';
import { FakeInbox, StillClock, turn } from '../fakes/fake-inbox.js';
import { sign } from '../builders/signing.js';

export const secrets = {
  stripe: ['stripe-secret-1', 'stripe-secret-2'],
  mor_payments: ['mor-secret'],
  mor_events: ['service-secret'],
};
export const paid = readFileSync(new URL('../../wire/mor-events/payment.succeeded.json', import.meta.url));
export const invoice = readFileSync(
  new URL('../../wire/stripe/invoice.created.2026-10-28.endive.json', import.meta.url),
);
export const settled = readFileSync(new URL('../../wire/mor-events/proforma_invoice.settled.json', import.meta.url));

const stops: (() => Promise<void>)[] = [];

/** Stops the servers of a test. */
export async function stopEndpoints(): Promise<void> {
  for (const stop of stops.splice(0)) await stop();
}

export type Got = { status: number; body: string; headers: IncomingHttpHeaders };

/** Starts the three endpoints on a free port in front of an inbox in memory. `told` records each response. */
export async function setUp(options: Partial<IntakeOptions> = {}, { open = true } = {}) {
  const inbox = new FakeInbox();
  const clock = new StillClock();
  const notified: string[] = [];
  const endpoints = new Endpoints(
    {
      secrets,
      toleranceSec: 300,
      bodyLimitBytes: 100_000,
      onReply: (endpoint, outcome) => notified.push(`${endpoint} ${outcome}`),
      ...options,
    },
    inbox,
    clock,
    new ParsedEvents(eventParser),
  );
  if (open) endpoints.open();
  const server: Server = createServer((req, res) => {
    if (!endpoints.handle(req, res)) res.writeHead(418).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const send = (path: string, body: Buffer | string, headers: RequestOptions['headers'] = {}, method = 'POST') =>
    new Promise<Got>((resolve, reject) => {
      const req = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('end', () =>
          resolve({ status: res.statusCode ?? 0, body: Buffer.concat(chunks).toString(), headers: res.headers }),
        );
      });
      req.on('error', reject);
      req.end(body);
    });
  /** A payment event with a correct signature for the time of the clock. */
  const payments = (body: Buffer | string, age = 0, headers: Record<string, string> = {}) =>
    send('/webhooks/mor/payments', body, {
      'Mor-Signature': sign(body, 'mor-secret', { t: clock.seconds - age }),
      ...headers,
    });
  return { inbox, clock, told: notified, endpoints, port, send, payments };
}

export const code = (got: Got): string => (JSON.parse(got.body) as { code: string }).code;
export const statusesOf = (all: readonly Got[]): number[] => all.map((got) => got.status);

/** Sends raw text on a new connection and reads until the other side closes it. */
export function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => {
      socket.destroy();
      resolve(Buffer.concat(chunks).toString());
    });
    socket.on('error', reject);
  });
}

/** Lets the event loop turn until `isSo` returns true. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let turns = 0; !isSo(); turns++) {
    if (turns > 100_000) throw new Error('it did not come about');
    await turn();
  }
}
