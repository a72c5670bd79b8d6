// The kernel of the sandbox: joins clock, seeded ids, router, faults, logs and deliveries into one request pipeline.
//
// How to add routes (packages/sandbox/src/mor/plugins.ts lists the plug-ins of the MoR's documents):
//
//   export const registerProformas: MorPlugin = (kernel, mor) => {
//     kernel.mor.add('POST', '/api/proforma-invoices', (request) => {
//       mor.requireMerchant(request);                 // bearer token; throws 401/403 as the documents say
//       const id = kernel.random.uuid();              // seeded: never use crypto.randomUUID here
//       kernel.clock.after(2000, 'issue', () => …);   // virtual milliseconds; an advance of the clock fires it too
//       return { status: 202, body: {…}, headers: { location: `/api/proforma-invoices/${id}` } };
//     });
//     kernel.control('POST', '/_sandbox/proformas/:id/settle', 'a bank transfer arrives: {amount?}', (request) => {
//       const amount = new Fields(request.body).optionalString('amount'); // BadInput becomes 400 naming the field
//       …
//     });
//   };
//
// - `request.body` is parsed JSON, or a form by content type. `bodyBroken` is true if a body came and does not parse.
// - A refusal from anywhere below a handler: `throw new Refusal(morError(404, 'not_found'))`.
// - Send a webhook: `kernel.deliverer.send(endpoint, { id, type, body })` with `morEventSchedule` in the endpoint.
// - Take times in payloads from `kernel.clock.nowIso()` / `nowSec()`. The deliverer adds the time of a signature.
// - The kernel adds faults, the request log and request ids around every handler; handlers do not see them.
import { VirtualClock, type ClockOptions } from './clock.js';
import { addControlRoutes } from './control.js';
import { Deliverer, type Transport } from './deliveries.js';
import { type FaultAction, Faults } from './faults.js';
import { parseForm } from './form.js';
import {
  type Handler,
  type RawRequest,
  Refusal,
  type Reply,
  Router,
  type SandboxRequest,
  type Side,
  morError,
} from './http.js';
import { isObject, type JsonObject, BadInput, type Json } from './json.js';
import { SeededRandom, derivedSecret } from './random.js';
import { type LoggedRequest, RequestLog, keptBody, keptHeaders } from './request-log.js';

/** The part of the pipeline that differs between Stripe's side and the MoR's. */
export type SideRules = {
  /** The reply of a `status` fault: an error in the shape of Stripe or of the MoR. */
  readonly faultReply: (fault: FaultAction) => Reply;
  readonly notFound: (request: SandboxRequest) => Reply;
  readonly broken: (error: unknown) => Reply;
  /** Wraps every handler of the side, for authentication, the idempotency store and the rate limit. */
  readonly around?: (request: SandboxRequest, run: () => Promise<Reply>) => Promise<Reply>;
};

export type KernelOptions = {
  readonly seed: string;
  readonly clock?: ClockOptions;
  /** Sends the webhooks. Left out: HTTP. */
  readonly transport?: Transport;
};

/** The reply as the caller gets it: bytes, or a connection closed without a reply. */
export type WireReply =
  | { readonly dropped: true }
  | {
      readonly dropped: false;
      readonly status: number;
      readonly headers: Record<string, string>;
      readonly body: Buffer;
    };

export class Kernel {
  readonly seed: string;
  readonly clock: VirtualClock;
  readonly random: SeededRandom;
  readonly faults: Faults;
  readonly requests = new RequestLog();
  readonly deliverer: Deliverer;
  readonly mor = new Router();
  readonly stripe = new Router();
  readonly controls = new Router();
  /** Changes a reply before it goes out, to play a Stripe or MoR different from the documents. */
  reshape: (request: SandboxRequest, reply: Reply) => Reply = (_request, reply) => reply;
  private readonly rules = new Map<Side, SideRules>();

  constructor(options: KernelOptions) {
    this.seed = options.seed;
    this.clock = new VirtualClock(options.clock);
    this.random = new SeededRandom(options.seed);
    this.faults = new Faults(this.random);
    this.deliverer = new Deliverer(this.clock, this.faults, options.transport);
    // An automatic clock waits for the running deliveries. The owner of a manual clock sets its own `settle`.
    if (options.clock?.manual !== true) this.clock.settle = () => this.deliverer.settle();
    this.setRules('mor', {
      faultReply: ({ status, code }) =>
        status === 401 && code === null ? { status, body: { errors: [] } } : morError(status, code ?? codeOf(status)),
      notFound: () => morError(404, 'not_found'),
      broken: () => morError(500, 'internal_error'),
    });
    addControlRoutes(this);
  }

  setRules(side: Side, rules: SideRules): void {
    this.rules.set(side, rules);
  }

  /** Adds a control route on both ports. `path` starts with `/_sandbox`. */
  control(method: string, path: string, about: string, handler: Handler): void {
    this.controls.add(method, path, handler, about);
  }

  /** A secret that depends only on the seed and this name. */
  secret(name: string, prefix = ''): string {
    return derivedSecret(this.seed, name, prefix);
  }

  /** Handles one request. Needs no socket. */
  async handle(side: Side, raw: RawRequest): Promise<WireReply> {
    const split = raw.target.indexOf('?');
    const path = split < 0 ? raw.target : raw.target.slice(0, split);
    const request: SandboxRequest = {
      id: this.random.id('req', 14),
      side,
      method: raw.method.toUpperCase(),
      path,
      query: new URLSearchParams(split < 0 ? '' : raw.target.slice(split + 1)),
      params: {},
      headers: raw.headers,
      raw: raw.body,
      ...readBody(raw),
      idempotencyKey: raw.headers['idempotency-key'] ?? null,
      fault: null,
    };
    if (path === '/_sandbox' || path.startsWith('/_sandbox/')) return toWire(request, await this.replyControl(request));
    return this.reply(request);
  }

  private async replyControl(request: SandboxRequest): Promise<Reply> {
    const match = this.controls.match(request.method, request.path);
    if (match === null)
      return morError(404, 'not_found', [{ field: 'path', message: 'GET /_sandbox lists the control routes' }]);
    if (request.bodyBroken)
      return morError(400, 'invalid_request', [{ field: 'body', message: 'does not parse as JSON' }]);
    try {
      return await match.handler({ ...request, params: match.params });
    } catch (error) {
      if (error instanceof BadInput) return morError(400, 'invalid_request', error.errors);
      if (error instanceof Refusal) return error.reply;
      return morError(500, 'internal_error', [
        { field: 'body', message: error instanceof Error ? error.message : 'unknown' },
      ]);
    }
  }

  private async reply(request: SandboxRequest): Promise<WireReply> {
    const { side, method, path } = request;
    const faults = this.faults.forRequest(side, method, path);
    const delay = faults.find((f) => f.kind === 'delay_ms');
    const fault = faults.find((f) => f.kind !== 'delay_ms') ?? null;
    const entry = this.logged(request, faults);
    const delayMs = delay?.delayMs ?? 0;
    const rules = this.rules.get(side);
    if (fault?.kind === 'drop_before' || fault?.kind === 'status') {
      if (delayMs > 0) await this.clock.sleep(delayMs);
      if (fault.kind === 'drop_before') return { dropped: true };
      return this.finish(request, entry, overridden(fault, rules));
    }
    let reply = await this.run({ ...request, fault }, delayMs);
    if (fault?.kind === 'duplicate') reply = await this.run({ ...request, fault: null }, 0);
    if (fault?.kind === 'drop_after') return { dropped: true };
    if (fault?.kind === 'status_after') reply = overridden(fault, rules);
    if (fault?.kind === 'rewrite') reply = { ...reply, body: rewritten(reply.body, fault.set) };
    const wire = this.finish(request, entry, reply);
    return fault?.kind === 'garble' && !wire.dropped ? { ...wire, body: garbled(wire.body) } : wire;
  }

  // The delay runs inside `around`, so an idempotency key stays in use during the delay too.
  private async run(request: SandboxRequest, delayMs: number): Promise<Reply> {
    const rules = this.rules.get(request.side);
    const match = this[request.side].match(request.method, request.path);
    const inner = async (): Promise<Reply> => {
      if (delayMs > 0) await this.clock.sleep(delayMs);
      if (match === null) return rules?.notFound(request) ?? { status: 404 };
      return match.handler({ ...request, params: match.params });
    };
    try {
      return await (rules?.around === undefined ? inner() : rules.around(request, inner));
    } catch (error) {
      if (error instanceof Refusal) return error.reply;
      process.stderr.write(
        `sandbox ${request.method} ${request.path}: ${error instanceof Error ? error.stack : String(error)}\n`,
      );
      return rules?.broken(error) ?? { status: 500 };
    }
  }

  private logged(request: SandboxRequest, faults: readonly FaultAction[]): LoggedRequest {
    return this.requests.add({
      id: request.id,
      at: this.clock.nowIso(),
      wall_at: new Date(this.clock.wallMs()).toISOString(),
      side: request.side,
      method: request.method,
      path: request.path,
      query: Object.fromEntries(request.query),
      headers: keptHeaders(request.headers),
      body: keptBody(request.body),
      idempotency_key: request.idempotencyKey,
      status: null,
      fault: faults.length === 0 ? null : faults.map((f) => f.kind).join('+'),
      replayed: false,
    });
  }

  private finish(request: SandboxRequest, entry: LoggedRequest, reply: Reply): WireReply {
    entry.status = reply.status;
    entry.replayed = reply.headers?.['idempotent-replayed'] === 'true';
    return toWire(request, this.reshape(request, reply));
  }
}

// The documents' error code for this status, for a fault without a code.
function codeOf(status: number): string {
  const codes: Record<number, string> = {
    403: 'merchant_suspended',
    429: 'rate_limited',
    502: 'tax_provider_unavailable',
    503: 'psp_unavailable',
  };
  return codes[status] ?? (status >= 500 ? 'internal_error' : 'injected_fault');
}

/** Replaces members of the body. In a list, replaces them in each object. */
function rewritten(body: Reply['body'], set: JsonObject): Reply['body'] {
  if (Array.isArray(body)) return body.map((item: unknown) => rewritten(item, set));
  return isObject(body) ? { ...body, ...set } : body;
}

function overridden(fault: FaultAction, rules: SideRules | undefined): Reply {
  const own = rules?.faultReply(fault) ?? { status: fault.status };
  return { status: fault.status, body: fault.body ?? own.body, headers: { ...own.headers, ...fault.headers } };
}

// Cuts the body in the middle: the start of a JSON object is never valid JSON.
function garbled(body: Buffer): Buffer {
  return Buffer.concat([body.subarray(0, Math.ceil(body.length / 2)), Buffer.from('\u0000')]);
}

function toWire(request: SandboxRequest, reply: Reply): WireReply {
  const body = bytesOf(reply.body);
  const headers: Record<string, string> = { 'request-id': request.id, 'x-request-id': request.id };
  if (body.length > 0) headers['content-type'] = 'application/json; charset=utf-8';
  for (const [name, value] of Object.entries(reply.headers ?? {})) headers[name.toLowerCase()] = value;
  return { dropped: false, status: reply.status, headers, body };
}

function bytesOf(body: unknown): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  return Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
}

function readBody(raw: RawRequest): { body: Json | undefined; bodyBroken: boolean } {
  if (raw.body.length === 0) return { body: undefined, bodyBroken: false };
  const text = raw.body.toString('utf8');
  if ((raw.headers['content-type'] ?? '').toLowerCase().startsWith('application/x-www-form-urlencoded')) {
    return { body: parseForm(text), bodyBroken: false };
  }
  try {
    return { body: JSON.parse(text) as Json, bodyBroken: false };
  } catch {
    return { body: undefined, bodyBroken: true };
  }
}
