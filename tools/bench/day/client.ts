// Requests that are due at a time and are sent then, whatever became of those before (open loop).
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { type Answers, type Part } from './answers.js';

export type Request = {
  readonly part: Part;
  readonly kind: string;
  /** When it was to be sent, in milliseconds of the day. */
  readonly atMs: number;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

export class Client {
  private readonly pools: Readonly<Record<Part, Pool>>;
  /** Requests without an answer so far. */
  underWay = 0;

  /** @param beganMs since 1970, when the day began */
  constructor(
    origin: string,
    private readonly beganMs: number,
    readonly answers: Answers,
  ) {
    const pool = (connections: number): Pool =>
      new Pool(origin, { connections, pipelining: 1, headersTimeout: 120_000, bodyTimeout: 300_000 });
    this.pools = { doors: pool(64), api: pool(16), console: pool(8), exports: pool(4), metrics: pool(2) };
  }

  /** Milliseconds of the day. */
  now(): number {
    return performance.timeOrigin + performance.now() - this.beganMs;
  }

  async until(atMs: number): Promise<void> {
    const ms = atMs - this.now();
    if (ms > 0) await pause(ms);
  }

  /** Never rejects. Status 0: no answer came, and `text` says why. */
  async send(r: Request): Promise<{ readonly status: number; readonly text: string; readonly bytes: number }> {
    this.underWay++;
    let [status, text, bytes] = [0, '', 0];
    try {
      const { method, path, headers = {}, body = null } = r;
      const answer = await this.pools[r.part].request({ method, path, headers, body });
      status = answer.statusCode;
      if (r.part === 'exports') for await (const part of answer.body) bytes += (part as Buffer).length;
      else text = await answer.body.text();
    } catch (e) {
      status = 0;
      text = String(e);
    }
    this.underWay--;
    this.answers.note(r.part, r.kind, this.now() - r.atMs, status, r.atMs);
    return { status, text, bytes };
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.pools).map((pool) => pool.destroy()));
  }
}
