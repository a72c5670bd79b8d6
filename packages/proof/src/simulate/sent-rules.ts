// The rules about the replicas' requests to both peers, checked on their way out: key, bytes, and settled money.
import { morKey } from '#src/domain/mor-key.js';
import { type SandboxCore } from '@crossbill/sandbox/sandbox.js';
import { KEPT_MS } from '@crossbill/sandbox/stripe/idempotency.js';
import { type Sent } from './wires.js';

export class SentRules {
  /** Effects by key, as the peers know them: method, path and body, and whether any try surely had its effect. */
  private readonly keys = new Map<string, { request: string; done: boolean; at: number }>();

  constructor(
    private readonly mor: SandboxCore['mor'],
    private readonly broken: string[],
    private readonly now: () => number,
    /** Whether this refund of the whole rest is a repeat after a restore: its sum may have changed. */
    private readonly isRestAgain: (click: string) => boolean,
  ) {}

  check({ method, path, key, body, done, side }: Sent): void {
    if (key === null || method === 'GET') return;
    if (side === 'stripe') this.notBeforeSettlement(path, body);
    else this.keyOfRefund(path, body, key);
    const request = `${method} ${path} ${body}`;
    const before = this.keys.get(key);
    const isOther = before !== undefined && before.request !== request;
    if (isOther && !this.isRestAgain(clickIn(body))) this.broken.push(`V7: key ${key} with two bodies`);
    this.keys.set(key, { request, done: done || (before?.done ?? false), at: before?.at ?? this.now() });
    const name = /^(.*):(\d+)$/.exec(key);
    const generation = Number(name?.[2] ?? 1);
    if (before !== undefined || generation < 2) return;
    const older = this.keys.get(`${name?.[1] ?? ''}:${generation - 1}`);
    // A restored database asks Stripe again after Stripe forgot the key; Stripe refuses the reference of a known
    // refund.
    const refusesIt = path.endsWith('/report_refund') && this.now() - (older?.at ?? 0) >= KEPT_MS;
    if (older?.done === true && !refusesIt)
      this.broken.push(`V7: ${key} goes out although the key before it had its effect`);
  }

  /** V7: the key of a refund is a function of requester, payment and Idempotency-Key: a restore does not change it. */
  private keyOfRefund(path: string, body: string, key: string): void {
    const paymentId = /^\/api\/payments\/([^/]+)\/refund$/.exec(path)?.[1];
    const click = clickIn(body);
    if (paymentId === undefined || click === '') return;
    if (key !== morKey('refund', [paymentId, 'caller', 'ops', click]))
      this.broken.push(`V7: the key of refund ${click} of ${paymentId} depends on something lost in a restore`);
  }

  /** V5: no mark goes out for money still on its way. */
  private notBeforeSettlement(path: string, body: string): void {
    const form = decodeURIComponent(body);
    for (const p of this.mor.payments.values()) {
      if (p.status !== 'processing' || p.processorChargeId === '' || !form.includes(p.processorChargeId)) continue;
      this.broken.push(`V5: ${path} tells Stripe of ${p.processorChargeId}, which is not settled`);
    }
  }
}

/** The click behind a refund; empty: none. */
function clickIn(body: string): string {
  return /"click":"(click-\d+)"/.exec(body)?.[1] ?? '';
}
