// A separate process of the day benchmark with three servers: Stripe under /v1; the MoR under /api, /oauth2 and /relay;
// the merchant's receiver under /notify. Takes the plan as its arguments. Reports each event for the webhook endpoints
// to its parent process.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type InvoiceEvent } from './bodies.js';
import { MorSide, type MorSeen, ReceiverSide, type ReceiverSeen } from './mor-side.js';
import { type Plan } from './plan.js';
import { StripeSide, type StripeSeen } from './stripe-side.js';

export type PeersSeen = { readonly stripe: StripeSeen; readonly mor: MorSeen; readonly receiver: ReceiverSeen };

/** The messages to the parent process: first the port, then each act of Stripe or the MoR with an event. */
export type Notified =
  | { readonly what: 'port'; readonly port: number }
  | { readonly what: 'invoice'; readonly type: InvoiceEvent; readonly k: number }
  | { readonly what: 'charged'; readonly k: number; readonly tries: number }
  | { readonly what: 'refunded'; readonly k: number; readonly tries: number; readonly amount: number };

/**
 * The time before each answer, in milliseconds. `/_set?stripe=0` changes the time of Stripe, and so on. `/_set?began=`
 * sets the start of the day.
 */
const REPLIES = { stripe: 100, mor: 50, relay: 20, notify: 2_000 };

const [renewals = 0, dayMs = 0] = process.argv.slice(2).map(Number);
const plan: Plan = { renewals, dayMs };
const tell = (notice: Notified): void => void process.send?.(notice);

const stripe = new StripeSide(plan, (type, k) => tell({ what: 'invoice', type, k }));
const mor = new MorSide(
  (k, tries) => tell({ what: 'charged', k, tries }),
  (k, tries, amount) => tell({ what: 'refunded', k, tries, amount }),
);
const receiver = new ReceiverSide();

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf(request);
  const { method = 'GET', url = '/', headers } = request;
  const key = String(headers['idempotency-key'] ?? '');
  let text = '';
  if (url === '/_seen') {
    const seen: PeersSeen = { stripe: stripe.seen, mor: mor.seen, receiver: receiver.seen };
    text = JSON.stringify(seen);
  } else if (url.startsWith('/_set')) {
    for (const [name, value] of new URLSearchParams(url.split('?')[1])) {
      if (name === 'began') stripe.beganMs = Number(value);
      else Object.assign(REPLIES, { [name]: Number(value) });
    }
  } else if (url === '/notify') {
    await pause(REPLIES.notify);
    receiver.take(String(headers['webhook-id'] ?? ''), body);
  } else if (url === '/relay') {
    await pause(REPLIES.relay);
    mor.relay(body);
  } else if (url.startsWith('/v1/')) {
    await pause(REPLIES.stripe);
    text = stripe.reply(method, url, key, body);
  } else {
    await pause(REPLIES.mor);
    text = mor.reply(url, key, body);
  }
  response.writeHead(200, { 'content-type': 'application/json', 'request-id': 'req_day' }).end(text);
}

const server = createServer((request, response) => void reply(request, response));
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  tell({ what: 'port', port: typeof address === 'object' && address !== null ? address.port : 0 });
});
process.on('disconnect', () => process.exit(0));
