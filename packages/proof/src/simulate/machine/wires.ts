// A replica's connections to Stripe and the MoR, without sockets: the real adapters talk to the sandbox's kernel, and
// each exchange is one step.
import { type Exchange, type HttpRequest, type Line } from '@crossbill/mor/http-line.js';
import { type Kernel, type WireReply } from '@crossbill/sandbox/kernel/kernel.js';
import { type Side } from '@crossbill/sandbox/kernel/side.js';
import { HttpReply, NoHttpReply, type Transport, type TransportReply } from '#src/frames/stripe/http-client.js';
import { type FaultKind, httpFaults, morFaults, stripeFaults } from './faults.js';
import { type Owner, type Scheduler } from './scheduler.js';

/** The deadline of a simulated call, in milliseconds. The real deadlines are 10 and 15 seconds. */
const TIMEOUT_MS = 15_000;
const SLOW_MS = 9_000;

/** One request at the moment it leaves, for the rules about keys and bodies. */
export type Sent = {
  readonly owner: string;
  readonly side: Side;
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly body: string;
  /** True if the request certainly had its effect, even without a reply. */
  readonly done: boolean;
};

export type Network = {
  readonly scheduler: Scheduler;
  readonly kernel: Kernel;
  /** True while Stripe or the MoR, or this path there, is unreachable. */
  readonly isDown: (side: Side, path: string) => boolean;
  readonly onSent: (sent: Sent) => void;
};

type Raw = { readonly method: string; readonly target: string; readonly headers: Record<string, string>; body: Buffer };
type Got =
  { readonly kind: 'answer'; readonly reply: Exclude<WireReply, { dropped: true }>; readonly slow: boolean } | NoReply;
type NoReply = { readonly kind: 'none'; readonly sent: boolean; readonly slow: boolean };

/** Sends one request as a step. A slow reply comes some time after the step, so other actors run meanwhile. */
async function exchange(net: Network, owner: Owner, side: Side, raw: Raw): Promise<Got> {
  const { scheduler } = net;
  if (scheduler.inDatabase)
    scheduler.broken.push(`a call to ${side} inside a transaction: ${raw.method} ${raw.target}`);
  const isRelay = raw.target.startsWith('/relay/'); // a relay request has no token
  const idle = raw.method === 'GET' || raw.target === '/oauth2/token';
  const stored = side === 'stripe' && !idle ? stripeFaults : [];
  const legal = [...httpFaults, ...stored, ...(side === 'mor' && !isRelay ? morFaults : [])];
  const label = `${side} ${raw.method} ${raw.target.split('?')[0] ?? ''}`;
  let got: Got = { kind: 'none', sent: false, slow: false };
  const effect = { done: false };
  await scheduler.step(owner, label, legal, async (fault) => {
    got = net.isDown(side, raw.target.split('?')[0] ?? '')
      ? { kind: 'none', sent: false, slow: false }
      : await act(net.kernel, side, raw, fault, effect);
    const key = raw.headers['idempotency-key'] ?? null;
    net.onSent({
      owner: owner.name,
      side,
      method: raw.method,
      path: raw.target,
      key,
      body: raw.body.toString('utf8'),
      done: effect.done,
    });
    return got.kind === 'answer' ? got.reply.status : 'no answer';
  });
  const done = got as Got;
  if (done.slow) await scheduler.sleep(owner, done.kind === 'none' ? TIMEOUT_MS : SLOW_MS, undefined, false);
  return done;
}

async function act(
  kernel: Kernel,
  side: Side,
  raw: Raw,
  fault: FaultKind | null,
  effect: { done: boolean },
): Promise<Got> {
  const inject = (action: string, more: object = {}): void => {
    kernel.faults.add({ target: 'requests', side, action, times: 1, ...more });
  };
  switch (fault) {
    case 'refuse':
      return { kind: 'none', sent: false, slow: false };
    case 'lose_request':
      return { kind: 'none', sent: true, slow: true };
    case 'status_401':
    case 'status_429':
    case 'status_500':
    case 'status_503':
      inject('status', { status: Number(fault.slice(7)) });
      break;
    case 'effect_then_500':
      inject('status_after', { status: 500 });
      break;
    case 'stored_500':
    case 'stored_500_effect':
      inject('store_500', { effect: fault === 'stored_500_effect' });
      break;
    case 'garble':
      inject('garble');
      break;
    case 'twice':
      inject('duplicate');
      break;
    default:
  }
  const reply = await kernel.handle(side, raw);
  kernel.faults.clear();
  // Only a status below 300 proves the effect: a fault may put any other status in place of the real reply.
  effect.done = !reply.dropped && reply.status < 300;
  if (reply.dropped || fault === 'lose_answer') return { kind: 'none', sent: true, slow: true };
  return { kind: 'answer', reply, slow: fault === 'slow' };
}

/** The transport of the `stripe` package. */
export class SimStripeTransport implements Transport {
  constructor(
    private readonly net: Network,
    private readonly owner: Owner,
  ) {}

  getClientName(): string {
    return 'crossbill';
  }

  close(): void {
    // there is nothing to close
  }

  async makeRequest(
    _host: string,
    _port: string,
    path: string,
    method: string,
    headers: Record<string, string | number | string[]>,
    requestData: string,
  ): Promise<TransportReply> {
    const plain = Object.fromEntries(Object.entries(headers).map(([k, v]) => [k.toLowerCase(), String(v)]));
    const raw = { method, target: path, headers: plain, body: Buffer.from(requestData ?? '') };
    const got = await exchange(this.net, this.owner, 'stripe', raw);
    if (got.kind === 'none') throw new NoHttpReply(got.sent, got.sent ? 'timeout' : 'ECONNREFUSED');
    return new HttpReply(got.reply.status, got.reply.headers, got.reply.body);
  }
}

/** The simulated connection for the MoR's client and for the relay. */
export class SimLine implements Line {
  constructor(
    private readonly net: Network,
    private readonly owner: Owner,
  ) {}

  async close(): Promise<void> {
    // there is nothing to close
  }

  async exchange(request: HttpRequest): Promise<Exchange> {
    const prefix = new URL(request.base).pathname.replace(/\/+$/, '');
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.from(request.body ?? '');
    const raw = { method: request.method, target: prefix + request.path, headers: { ...request.headers }, body };
    const got = await exchange(this.net, this.owner, 'mor', raw);
    if (got.kind === 'none') {
      const [sent, why] = got.sent ? (['maybe', 'deadline passed'] as const) : (['no', 'ECONNREFUSED'] as const);
      return { answered: false, sent, timedOut: got.sent, why };
    }
    const { status, headers } = got.reply;
    return {
      answered: true,
      status,
      header: (name) => headers[name] ?? null,
      text: got.reply.body.toString('utf8'),
    };
  }
}
