// The users of the daemon in the day benchmark: the merchant's backend over the API, a few people at the console with
// their exports, and Prometheus.
import { setTimeout as pause } from 'node:timers/promises';
import { consolePages } from '../console-pages.js';
import { logIn } from '../log-in.js';
import { customerOf, invoiceOf, paymentOf } from './bodies.js';
import { type Client } from './client.js';
import { type Plan, REFUND_AFTER, refundOf } from './plan.js';

const API_EVERY_MS = 200;
const PAGE_EVERY_MS = 2_000;
const EXPORT_EVERY_MS = 60_000;
const METRICS_EVERY_MS = 15_000;
const DAY_MS = 86_400_000;

export class People {
  /** The newest response of `/metrics`. */
  metrics = '';
  exported = 0;
  ended = false;
  refundsAsked = 0;
  /** The number of refunds answered with 202: the MoR's reply came late. The contract allows this. */
  refundsUnknown = 0;
  /** The number of refunds still to request. */
  waiting = 0;

  /**
   * @param marked the renewals marked so far
   * @param oldRenewals the number of renewals in the filled database
   */
  constructor(
    private readonly plan: Plan,
    private readonly client: Client,
    private readonly key: string,
    private readonly marked: readonly number[],
    private readonly oldRenewals: number,
  ) {}

  /** Works until the day is over. */
  async run(port: number): Promise<void> {
    const cookie = await logIn(port, this.key);
    const middle = Math.max(1, Math.floor(this.oldRenewals / 200)) * 100;
    // The newest notification: Crossbill has already deleted older ones.
    const notified = Math.floor(this.oldRenewals / 10) * 10;
    const pages = consolePages(middle, 1, notified).filter(({ path }) => !path.includes('format=csv'));
    const since = new Date(Date.now() - 7 * DAY_MS).toISOString().slice(0, 10);
    void this.scrape();
    const files = ['invoices', 'payments', 'refunds', 'ledger'];
    await Promise.all([
      this.every(API_EVERY_MS, (n, atMs) => this.read(n, atMs)),
      this.every(PAGE_EVERY_MS, async (n, atMs) => {
        const page = pages[n % pages.length];
        if (page === undefined) return;
        const kind = `console: ${page.what}`;
        await this.expect({ part: 'console', kind, atMs, path: page.path, headers: { cookie } }, page.status ?? 200);
      }),
      this.every(EXPORT_EVERY_MS, async (n, atMs) => {
        const file = files[n % files.length] ?? '';
        const path = `/console/${file}?format=csv&since=${since}`;
        this.exported += await this.expect({
          part: 'exports',
          kind: `export: ${file}`,
          atMs,
          path,
          headers: { cookie },
        });
      }),
    ]);
  }

  /** Plans a refund for a renewal that has its mark. */
  refundLater(index: number): void {
    const amount = refundOf(index);
    if (amount === null) return;
    this.waiting++;
    void this.refund(index, amount).finally(() => this.waiting--);
  }

  private async refund(index: number, amount: number): Promise<void> {
    const atMs = this.client.now() + REFUND_AFTER * this.plan.dayMs;
    await this.client.until(atMs);
    this.refundsAsked++;
    const { status, text } = await this.client.send({
      part: 'refunds',
      kind: 'POST /v1/payments/{id}/refunds',
      atMs,
      method: 'POST',
      path: `/v1/payments/${paymentOf(index, 0)}/refunds`,
      headers: { ...this.bearer(), 'content-type': 'application/json', 'idempotency-key': `day-${index}` },
      body: JSON.stringify({ amount, reason: 'requested_by_customer' }),
    });
    if (status === 202) this.refundsUnknown++;
    else if (status !== 201)
      this.client.replies.unexpected(`refund of ${paymentOf(index, 0)}: ${status} ${text.slice(0, 200)}`);
  }

  private async read(count: number, atMs: number): Promise<void> {
    const k = this.marked[(count * 7_919) % Math.max(1, this.marked.length)];
    const old = 10 * (1 + ((count * 7_919) % Math.floor(this.oldRenewals / 10))); // only every tenth old renewal has a log
    const one: readonly [string, string][] = [
      ['GET /v1/invoices/{id}', `/v1/invoices/${k === undefined ? `in_old${old}` : invoiceOf(k)}`],
      ['GET /v1/payments/{id}', `/v1/payments/${k === undefined ? `pay_old${old}` : paidAs(k)}`],
      ['GET /v1/customers/{id}', `/v1/customers/${k === undefined ? `cus_old${old}` : customerOf(k)}`],
      ['GET /v1/invoices', '/v1/invoices?limit=20'],
      ['GET /v1/payments', '/v1/payments?limit=20&status=succeeded'],
      ['GET /v1/ledger', '/v1/ledger?limit=100'],
      ['GET /v1/reviews', '/v1/reviews?status=open&limit=20'],
    ];
    const [kind, path] = one[count % one.length] ?? ['', ''];
    await this.expect({ part: 'api', kind, atMs, path, headers: this.bearer() });
  }

  /** Reads `/metrics` even after the day, while work is waiting. */
  private async scrape(): Promise<void> {
    while (!this.ended) {
      const atMs = this.client.now();
      const asked = { part: 'metrics', kind: 'GET /metrics', atMs, method: 'GET', path: '/metrics' } as const;
      const { status, text } = await this.client.send(asked);
      if (status === 200) this.metrics = text;
      await pause(METRICS_EVERY_MS);
    }
  }

  /** Checks the status, and returns the number of bytes. */
  private async expect(
    row: {
      part: 'api' | 'console' | 'exports';
      kind: string;
      atMs: number;
      path: string;
      headers: Record<string, string>;
    },
    expected = 200,
  ): Promise<number> {
    const { status, text, bytes } = await this.client.send({ ...row, method: 'GET' });
    if (status !== expected) this.client.replies.unexpected(`GET ${row.path}: ${status} ${text.slice(0, 200)}`);
    return bytes;
  }

  /** Starts each request at its time, without waiting for the earlier requests. */
  private async every(ms: number, work: (count: number, atMs: number) => Promise<void>): Promise<void> {
    for (let n = 0; ; n++) {
      const atMs = n * ms;
      if (atMs >= this.plan.dayMs) return;
      await this.client.until(atMs);
      void work(n, atMs);
      await pause(0);
    }
  }

  private bearer(): Record<string, string> {
    return { authorization: `Bearer ${this.key}` };
  }
}

/** The payment id of the renewal's successful charge: the first charge or a retry. */
function paidAs(index: number): string {
  const tries = index % 100 >= 5 ? 0 : index % 2 === 0 ? 1 : 2;
  return paymentOf(index, tries);
}
