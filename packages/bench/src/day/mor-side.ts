// The MoR of the day benchmark, and the merchant's receiver of notifications. The MoR charges again on request and
// makes refunds. Both count their requests.
import { createHash } from 'node:crypto';
import { isCharged, MOST_TRIES, refundOf } from './plan.js';

export type MorSeen = {
  /** The number of Stripe's events from the relay. Crossbill's own orders to charge again do not count. */
  relayed: number;
  retries: number;
  refunds: number;
  lookups: number;
  /** Refunds of an already refunded payment under a second key. Must be 0. */
  refundsTwice: number;
  /** Charges of an invoice already paid. Must be 0. */
  chargedTwice: number;
  unknown: number;
};

export type ReceiverSeen = {
  deliveries: number;
  /** The number of different notification ids. */
  notified: number;
  /** Repeats of a notification id with different bytes. Must be 0. */
  changed: number;
};

export class MorSide {
  readonly seen: MorSeen = {
    relayed: 0,
    retries: 0,
    refunds: 0,
    lookups: 0,
    refundsTwice: 0,
    chargedTwice: 0,
    unknown: 0,
  };
  private readonly tries = new Map<number, number>();
  private readonly known = new Set<string>();
  private readonly refunds = new Map<number, { readonly key: string; readonly text: string }>();

  /** The MoR calls `charged` after each retry of a charge, and `refunded` after each new refund. */
  constructor(
    private readonly charged: (index: number, tries: number) => void,
    private readonly refunded: (index: number, tries: number, amount: number) => void,
  ) {}

  reply(path: string, key: string, body: string): string {
    if (path.startsWith('/oauth2/token')) return '{"access_token":"day-token","token_type":"Bearer","expires_in":3600}';
    if (path.startsWith('/api/payments/invoice')) {
      this.seen.lookups++;
      return '{"invoice":{"url":"https://files.example/invoice.pdf","expiresAt":"2030-01-01T00:00:00Z"}}';
    }
    const [, payment] = /^\/api\/payments\/([^/]+)\/refund$/.exec(path) ?? [];
    if (payment !== undefined) return this.refund(payment, key, body);
    this.seen.unknown++;
    return '{}';
  }

  /**
   * Takes an event from the relay. Only Crossbill's order to charge again has an effect. Stripe's own events have none,
   * because this MoR charges those invoices by the plan.
   */
  relay(body: string): void {
    const id = /"id":"([^"]+)"/.exec(body)?.[1] ?? '';
    if (!id.startsWith('evt_crossbill')) {
      this.seen.relayed++;
      return;
    }
    if (this.known.has(id)) return;
    this.known.add(id);
    const k = Number(/"id":"in_day(\d+)"/.exec(body)?.[1] ?? -1);
    const before = this.tries.get(k) ?? 0;
    if (isCharged(k, before) || before + 1 >= MOST_TRIES) this.seen.chargedTwice++;
    this.tries.set(k, before + 1);
    this.seen.retries++;
    this.charged(k, before + 1);
  }

  private refund(payment: string, key: string, body: string): string {
    const [, digits = '-1', tries = '0'] = /^pay_day(\d+)_(\d+)$/.exec(payment) ?? [];
    const k = Number(digits);
    const before = this.refunds.get(k);
    if (before !== undefined) {
      if (before.key !== key) this.seen.refundsTwice++;
      return before.text;
    }
    const amount = Number(/"amount":(\d+)/.exec(body)?.[1] ?? refundOf(k));
    const text = `{"id":"rfnd_day${k}","payment_id":"${payment}","amount":${amount},"currency":"eur","status":"succeeded","reason":null,"processor_references":{"refund_id":"re_day${k}"},"created_at":"${new Date().toISOString()}"}`;
    this.refunds.set(k, { key, text });
    this.seen.refunds++;
    this.refunded(k, Number(tries), amount);
    return text;
  }
}

export class ReceiverSide {
  readonly seen: ReceiverSeen = { deliveries: 0, notified: 0, changed: 0 };
  private readonly bodies = new Map<string, string>();

  take(id: string, body: string): void {
    this.seen.deliveries++;
    const hash = createHash('sha256').update(body).digest('base64');
    const before = this.bodies.get(id);
    if (before === undefined) this.bodies.set(id, hash);
    else if (before !== hash) this.seen.changed++;
    this.seen.notified = this.bodies.size;
  }
}
