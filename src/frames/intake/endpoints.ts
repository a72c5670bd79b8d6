// The webhook endpoints: they verify the raw bytes, store the delivery in the inbox, and reply after the commit.
import { Inject, Injectable } from '@nestjs/common';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { ParsedEvents } from '../../engine/parsed-events.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { type Delivery, Inbox } from '../../shared/domain/ports/inbox.js';
import { type Refusal } from '../../shared/domain/refusal.js';
import { received, refusal, send, sendAndClose } from './replies.js';
import { defaultBatchLimits, IntakeBatcher, NotStored } from './batcher.js';
import { endpointAt, endpoints, toDelivery, type Endpoint } from './deliveries.js';
import { type EndpointOutcome, INTAKE_OPTIONS, type IntakeOptions, isTaken } from './options.js';
import { announcesMore, BODY_TIMEOUT_MS, readBody, ReadingRoom } from './read-body.js';
import { parseSignatureHeader, SignatureCheck, type SignatureHeader } from '@crossbill/mor/signature.js';

/** The inspected part of an unreadable request head, in bytes. */
const HEAD_SEARCHED_BYTES = 16 * 1024;
const QUARANTINE_TIMEOUT_MS = 8_000; // shorter than a sender's wait of 10 s
// At this number of waiting deliveries the workers slow down (`crowded`). Usually one or two deliveries wait, even
// at twenty events a second.
const CROWD = 10;
// The most deliveries Crossbill copies into the quarantine at the same time. Each copy is a database write. Beyond this
// number Crossbill answers a delivery outside the time window with 503 and writes nothing.
const QUARANTINES_AT_ONCE = 32;

@Injectable()
export class Endpoints {
  readonly #checks: ReadonlyMap<Endpoint, SignatureCheck>;
  readonly #batcher: IntakeBatcher;
  readonly #room: ReadingRoom;
  #isOpen = false;
  #quarantining = 0;

  /** The new endpoints refuse every delivery until `open`. Throws if an endpoint has no secret or a blank one. */
  constructor(
    @Inject(INTAKE_OPTIONS) private readonly options: IntakeOptions,
    private readonly inbox: Inbox,
    private readonly clock: Clock,
    private readonly parsed: ParsedEvents,
  ) {
    this.#checks = new Map(
      endpoints.map((endpoint) => [
        endpoint,
        new SignatureCheck(options.secrets[endpoint.source], options.toleranceSec),
      ]),
    );
    this.#batcher = new IntakeBatcher(inbox, clock, { ...defaultBatchLimits, ...options.batch });
    this.#room = options.room ?? new ReadingRoom();
  }

  /** Accepts deliveries from now on. The caller first opens the database and checks its schema. */
  open(): void {
    this.#isOpen = true;
  }

  /**
   * Refuses each new delivery with 503 from now on. Resolves as soon as all accepted deliveries have their replies. The
   * endpoints cannot open again.
   */
  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#batcher.close();
  }

  /** The number of deliveries waiting for their commit. */
  get waiting(): number {
    return this.#batcher.waiting;
  }

  /** True if many deliveries wait: other work of the process should pause. */
  get crowded(): boolean {
    return this.#batcher.waiting >= CROWD;
  }

  /**
   * Replies to a request for a webhook endpoint, now or later, and returns true. Returns false for another path. If
   * `stopping` is true, the reply is a refusal.
   */
  handle(req: IncomingMessage, res: ServerResponse, stopping = false): boolean {
    const endpoint = endpointAt(req.url ?? '');
    if (endpoint === null) return false;
    if (req.method !== 'POST') this.#refuse(endpoint, 'method_not_allowed', req, res);
    else if (stopping || !this.#isOpen) this.#refuse(endpoint, 'stopping', req, res);
    else this.#receive(endpoint, req, res);
    return true;
  }

  /** Like `handle`, for a request with an unknown Expect header. */
  refuseExpectation(req: IncomingMessage, res: ServerResponse): boolean {
    const endpoint = endpointAt(req.url ?? '');
    if (endpoint !== null) this.#refuse(endpoint, 'unknown_expectation', req, res);
    return endpoint !== null;
  }

  /**
   * Counts a request with an unreadable head as a refused delivery, unless its path is readable and belongs to no
   * webhook endpoint.
   */
  sawUnread(reason: Refusal, head: Buffer, address: string): void {
    const text = head.toString('latin1', 0, HEAD_SEARCHED_BYTES);
    const target = /^[A-Z]+ (\S+) HTTP\/1/.exec(text)?.[1];
    const endpoint = target === undefined ? null : endpointAt(target);
    if (target !== undefined && endpoint === null) return;
    const signed = endpoint !== null && text.toLowerCase().includes(`\r\n${endpoint.header}:`);
    this.options.onReply?.(endpoint?.source ?? null, reason, { delivery: null, error: null, signed, address });
  }

  /** Handles a request to an endpoint: first checks the headers, then reads the body. */
  #receive(endpoint: Endpoint, req: IncomingMessage, res: ServerResponse): void {
    const header = onlyHeader(req.rawHeaders, endpoint.header);
    if (header === null) return this.#refuse(endpoint, 'signature_missing', req, res);
    const signature = typeof header === 'string' ? parseSignatureHeader(header) : null;
    if (typeof header === 'string') this.options.onSignature?.(endpoint.source, header, signature !== null);
    if (signature === null) return this.#refuse(endpoint, 'signature_malformed', req, res);
    if (announcesMore(req, this.options.bodyLimitBytes)) return this.#refuse(endpoint, 'too_large', req, res);
    const limits = {
      bytes: this.options.bodyLimitBytes,
      timeoutMs: this.options.bodyTimeoutMs ?? BODY_TIMEOUT_MS,
      room: this.#room,
      sender: 'stranger',
    } as const;
    readBody(req, limits, (body) => {
      if (Buffer.isBuffer(body))
        this.#admit(endpoint, signature, body, res).catch((error) =>
          this.#refuseRead(endpoint, 'database', res, null, error),
        );
      else if (body === 'too-large') this.#refuse(endpoint, 'too_large', req, res);
      else if (body === 'slow') this.#refuse(endpoint, 'body_too_slow', req, res);
      else if (body === 'crowded') this.#refuse(endpoint, 'crowded', req, res);
      else this.#tell(endpoint, 'aborted', req);
    });
  }

  /** Handles a complete body. Only a body with a correct signature reaches the database. */
  async #admit(endpoint: Endpoint, signature: SignatureHeader, body: Buffer, res: ServerResponse): Promise<void> {
    const now = this.clock.now();
    const check = this.#checks.get(endpoint)?.checkParsed(signature, body, now) ?? 'mismatch';
    if (check === 'mismatch') return this.#refuseRead(endpoint, 'signature_mismatch', res);
    const event = this.parsed.parse(endpoint.source, body);
    const delivery = toDelivery(event, body, now);
    if (check === 'stale') {
      const error = await this.#quarantine(delivery);
      return this.#refuseRead(endpoint, 'timestamp_out_of_tolerance', res, delivery, error);
    }
    // Before the commit: a worker may load the event before this code continues.
    if (delivery.status === 'received') this.parsed.keep(delivery, event);
    let outcome: EndpointOutcome;
    try {
      outcome = await this.#batcher.submit(delivery);
    } catch (error) {
      return this.#refuseRead(endpoint, isClosing(error) ? 'stopping' : 'database', res, delivery, error);
    }
    send(res, received);
    this.#tell(endpoint, outcome, res.req, delivery);
  }

  /**
   * Stores a copy of a delivery in quarantine, within a time limit. Returns null after success and the error after a
   * failure. In both cases Crossbill refuses the delivery, and the sender repeats it.
   */
  async #quarantine(delivery: Delivery): Promise<unknown> {
    if (this.#quarantining >= QUARANTINES_AT_ONCE) return new Error('too many stale deliveries at once');
    this.#quarantining++;
    const timeout = new AbortController();
    const kept = this.inbox
      .quarantine(delivery, 'the signature is right and its time is outside the tolerance')
      .then(() => null)
      .catch((error: unknown) => error)
      .finally(() => this.#quarantining--);
    const late = this.clock
      .sleep(QUARANTINE_TIMEOUT_MS, timeout.signal)
      .then(() => new Error('the quarantine did not answer in time'));
    try {
      return await Promise.race([kept, late]);
    } finally {
      timeout.abort();
    }
  }

  /** Replies before the end of the body. A connection with an unread body serves no further requests. */
  #refuse(endpoint: Endpoint, reason: Refusal, req: IncomingMessage, res: ServerResponse): void {
    sendAndClose(req, res, refusal(endpoint.source, reason));
    this.#tell(endpoint, reason, req);
  }

  #refuseRead(
    endpoint: Endpoint,
    reason: Refusal,
    res: ServerResponse,
    delivery: Delivery | null = null,
    error: unknown = null,
  ): void {
    send(res, refusal(endpoint.source, reason));
    this.#tell(endpoint, reason, res.req, delivery, error);
  }

  #tell(
    endpoint: Endpoint,
    outcome: EndpointOutcome,
    req: IncomingMessage,
    delivery: Delivery | null = null,
    error: unknown = null,
  ): void {
    const taken = isTaken(outcome);
    // Reading the address is a system call, and only a refusal needs it.
    const address = taken ? '' : (req.socket.remoteAddress ?? '');
    const signed = taken || onlyHeader(req.rawHeaders, endpoint.header) !== null;
    this.options.onReply?.(endpoint.source, outcome, { delivery, error, signed, address });
  }
}

const isClosing = (error: unknown): boolean => error instanceof NotStored && error.why === 'closing';

/** The value of the header. Null: absent or empty. `repeated`: the header occurs several times. */
function onlyHeader(rawHeaders: readonly string[], name: string): string | null | { repeated: true } {
  let value: string | null = null;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const key = rawHeaders[i];
    if (key === undefined || key.length !== name.length || key.toLowerCase() !== name) continue;
    if (value !== null) return { repeated: true }; // Node would join two headers into one value
    value = rawHeaders[i + 1] ?? '';
  }
  return value === '' ? null : value;
}
