// The rules for each request to Stripe or the MoR, checked when it leaves: a repeat has the same key and bytes, and no
// mark goes out before the money has settled.
import { morKey } from '#src/shared/domain/mor-key.js';
import { type SandboxCore } from '@crossbill/sandbox/sandbox.js';
import { KEPT_MS } from '@crossbill/sandbox/stripe/idempotency.js';
import { type Sent } from '../machine/wires.js';

export class SentRules {
  /**
   * Key → its request (method, path and body), the time of the first try, and whether any try surely had its effect.
   */
  private readonly keys = new Map<string, { request: string; done: boolean; at: number }>();

  constructor(
    private readonly mor: SandboxCore['mor'],
    private readonly broken: string[],
    private readonly now: () => number,
    /** True if a person repeats a refund of all money left after a restore: the amount may have changed. */
    private readonly isIdleAgain: (click: string) => boolean,
  ) {}

  check({ method, path, key, body, done, side }: Sent): void {
    if (key === null || method === 'GET') return;
    if (side === 'stripe') this.notBeforeSettlement(path, body);
    else this.keyOfRefund(path, body, key);
    const request = `${method} ${path} ${body}`;
    const before = this.keys.get(key);
    const isOther = before !== undefined && before.request !== request;
    if (isOther && !this.isIdleAgain(clickIn(body))) this.broken.push(`V7: key ${key} with two bodies`);
    this.keys.set(key, { request, done: done || (before?.done ?? false), at: before?.at ?? this.now() });
    const name = /^(.*):(\d+)$/.exec(key);
    const generation = Number(name?.[2] ?? 1);
    if (before !== undefined || generation < 2) return;
    const older = this.keys.get(`${name?.[1] ?? ''}:${generation - 1}`);
    // After a restore, a daemon may report a refund again under a new key, when Stripe has forgotten the old key. This
    // is harmless: Stripe knows the refund's reference and refuses the second report.
    const refusesIt = path.endsWith('/report_refund') && this.now() - (older?.at ?? 0) >= KEPT_MS;
    if (older?.done === true && !refusesIt)
      this.broken.push(`V7: ${key} goes out although the key before it had its effect`);
  }

  /** V7: a refund's key depends only on caller, payment and Idempotency-Key, so a restore does not change it. */
  private keyOfRefund(path: string, body: string, key: string): void {
    const paymentId = /^\/api\/payments\/([^/]+)\/refund$/.exec(path)?.[1];
    const click = clickIn(body);
    if (paymentId === undefined || click === '') return;
    if (key !== morKey('refund', [paymentId, 'caller', 'ops', click]))
      this.broken.push(`V7: the key of refund ${click} of ${paymentId} depends on something lost in a restore`);
  }

  /** V5: no mark goes to Stripe before the money has settled. */
  private notBeforeSettlement(path: string, body: string): void {
    const form = decodeURIComponent(body);
    for (const p of this.mor.payments.values()) {
      if (p.status !== 'processing' || p.processorChargeId === '' || !form.includes(p.processorChargeId)) continue;
      this.broken.push(`V5: ${path} tells Stripe of ${p.processorChargeId}, which is not settled`);
    }
  }
}

/** Returns the `click` a story puts into the metadata of a refund request. Empty: no `click`. */
function clickIn(body: string): string {
  return /"click":"(click-\d+)"/.exec(body)?.[1] ?? '';
}
