// Relays the merchant's `invoice.created` to the MoR, for merchants unable to add a second Stripe endpoint.
import { type Line } from '@crossbill/mor';
import { failure, failureWithoutReply, requestIdOf, retryAfterMs, unexpectedRedirect } from '@crossbill/mor/failure.js';
import { DEFAULT_TIMEOUT_MS } from '@crossbill/mor/options.js';
import { Inject, Injectable } from '@nestjs/common';
import { createHmac } from 'node:crypto';
import { type Secret } from '../../shared/config/secret.js';
import { type CallOutcome, unsent } from '../../shared/domain/ports/call.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { EventRelay } from '../../shared/domain/ports/payment-gateway.js';
import { lineOut, MOR_OPTIONS, type MorOptions } from './options.js';

const PEER = 'the relay address';
const MAX_SOCKETS = 8;

/**
 * The signature header Stripe would have sent: `t` in Unix seconds, `v1` the HMAC-SHA256 of `{t}.{raw bytes}` in hex.
 */
function relaySignature(body: Buffer, secret: Secret, atSec: number): string {
  const mac = createHmac('sha256', secret.reveal()).update(`${atSec}.`).update(body).digest('hex');
  return `t=${atSec},v1=${mac}`;
}

@Injectable()
export class HttpEventRelay extends EventRelay {
  readonly enabled: boolean;
  readonly #line: Line;

  constructor(
    @Inject(MOR_OPTIONS)
    private readonly options: Pick<MorOptions, 'relay' | 'timeoutMs' | 'onCall' | 'line' | 'sendsNothing' | 'proxies'>,
    private readonly clock: Clock,
  ) {
    super();
    this.enabled = options.relay !== null;
    this.#line = options.line ?? lineOut(options.proxies, MAX_SOCKETS);
  }

  /** Sends the event's bytes unchanged, with a new signature and without a bearer token. Never throws. */
  async send(body: Buffer, at: Date): Promise<CallOutcome<null>> {
    if (this.options.sendsNothing === true) return unsent();
    const startedAt = performance.now();
    const outcome = await this.#post(body, at);
    try {
      this.options.onCall?.({
        peer: 'mor',
        name: 'relay.invoice_created',
        status: outcome.status,
        kind: outcome.ok ? 'ok' : outcome.kind,
        code: null, // the documents define no error codes for the relay's address
        elapsedMs: performance.now() - startedAt,
        requestId: outcome.requestId,
      });
    } catch {
      // An error in a listener must not change the outcome of the call.
    }
    return outcome;
  }

  async close(): Promise<void> {
    await this.#line.close();
  }

  async #post(body: Buffer, at: Date): Promise<CallOutcome<null>> {
    const { relay } = this.options;
    if (relay === null) return failure('stopped', 'MOR_RELAY_URL is not set');
    const signature = relaySignature(body, relay.secret, Math.floor(at.getTime() / 1000));
    const target = splitUrl(relay.url);
    if (target === null) return failure('stopped', 'the relay address is not a URL');
    const reply = await this.#line.exchange(
      {
        method: 'POST',
        base: target.origin,
        path: target.path,
        headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature },
        body,
      },
      AbortSignal.timeout(this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS),
    );
    if (!reply.answered) return failureWithoutReply(PEER, reply);
    const { status } = reply;
    const known = {
      status,
      requestId: requestIdOf(reply),
      retryAfterMs: retryAfterMs(reply.header('retry-after'), this.clock),
    };
    if (status < 300) return { ok: true, value: null, status, requestId: known.requestId };
    if (status < 400) return unexpectedRedirect(PEER, reply, 'refused');
    if (status === 429) return failure('retry', `${PEER} answered 429`, known);
    // A 408 and similar codes come from a server between Crossbill and the MoR, perhaps after that server passed the
    // event on. Stripe's client treats these codes the same way.
    const isUnknown = status >= 500 || status === 408 || status === 424 || status === 425;
    return failure(isUnknown ? 'unknown' : 'refused', `${PEER} answered ${status}`, known);
  }
}

function splitUrl(url: string): { origin: string; path: string } | null {
  if (!URL.canParse(url)) return null;
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
}
