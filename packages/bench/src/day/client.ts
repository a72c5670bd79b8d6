// Sends each request of the day benchmark at its due time, even while earlier requests are under way (open loop).
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { type Replies, type Part } from './replies.js';

export type Request = {
  readonly part: Part;
  readonly kind: string;
  /** The due time, in milliseconds since the day began. */
  readonly atMs: number;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** A sender hangs up after this time and sends again: the MoR's older, stricter rule (Document 2: now 30 seconds). */
const ENDPOINT_TIMEOUT_MS = 10_000;

export class Client {
  private readonly pools: Readonly<Record<Part, Pool>>;
  /** The number of requests without a response so far. */
  underWay = 0;
  /** The highest number of requests under way at once, over all parts. */
  mostUnderWay = 0;

  /** @param beganMs the start of the day, in Unix milliseconds */
  constructor(
    origin: string,
    private readonly beganMs: number,
    readonly replies: Replies,
  ) {
    // Each part needs more connections than requests under way: with 64 connections to the webhook endpoints, events of
    // the burst waited for a connection. Too many connections delay the API: each may deliver in every turn of the
    // daemon's event loop, but an API read takes several turns. On a slow processor 512 connections delayed reads by
    // seconds. Without a limit, a late daemon would receive all waiting requests at once.
    const pool = (connections: number, headersTimeout = 120_000): Pool =>
      new Pool(origin, { connections, pipelining: 1, headersTimeout, bodyTimeout: 300_000 });
    this.pools = {
      endpoints: pool(256, ENDPOINT_TIMEOUT_MS),
      api: pool(128),
      refunds: pool(128),
      console: pool(32),
      exports: pool(8),
      metrics: pool(4),
    };
  }

  /** The present time, in milliseconds since the day began. */
  now(): number {
    return performance.timeOrigin + performance.now() - this.beganMs;
  }

  async until(atMs: number): Promise<void> {
    const ms = atMs - this.now();
    if (ms > 0) await pause(ms);
  }

  /** Sends a request. Never rejects. Status 0: no response came, and `text` gives the reason. */
  async send(request: Request): Promise<{ readonly status: number; readonly text: string; readonly bytes: number }> {
    this.mostUnderWay = Math.max(this.mostUnderWay, ++this.underWay);
    let [status, text, bytes] = [0, '', 0];
    try {
      const { method, path, headers = {}, body = null } = request;
      const reply = await this.pools[request.part].request({ method, path, headers, body });
      status = reply.statusCode;
      if (request.part === 'exports') for await (const part of reply.body) bytes += (part as Buffer).length;
      else text = await reply.body.text();
    } catch (e) {
      status = 0;
      text = String(e);
    }
    this.underWay--;
    this.replies.note(request.part, request.kind, this.now() - request.atMs, status, request.atMs);
    return { status, text, bytes };
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.pools).map((pool) => pool.destroy()));
  }
}
