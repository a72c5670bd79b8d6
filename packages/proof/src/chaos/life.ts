// A merchant's life: signups, renewals, declining cards, refunds, disputes, transfers and changes in Stripe's
// dashboard, all at once.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { decimalFromMinor } from '#src/shared/domain/money.js';
import { castOf, type Character } from '@crossbill/sandbox/demo/cast.js';
import { makePrices, signUp, type SignupCalls } from '@crossbill/sandbox/demo/drive-signups.js';
import { Unexpected } from '@crossbill/sandbox/demo/http.js';
import { type Business, oneOffInvoice } from '@crossbill/sandbox/demo/one-off.js';
import { type Reading } from '@crossbill/sandbox/demo/read.js';
import { newTally, type Scene } from '@crossbill/sandbox/demo/story.js';
import { type Seeded } from '../simulate/machine/seeded.js';
import { type World } from './world.js';

export type Act = 'signups' | 'renewals' | 'refunds' | 'portal' | 'disputes' | 'mends' | 'dashboard' | 'transfers';

/** The average pause before each act, in milliseconds, for a machine with two free cores. */
const EVERY_MS: Readonly<Record<Act, number>> = {
  signups: 25_000,
  renewals: 700,
  refunds: 5_000,
  portal: 12_000,
  disputes: 25_000,
  mends: 4_000,
  dashboard: 3_000,
  transfers: 45_000,
};

const NORTH: Business = {
  name: 'Northgate Press Ltd',
  email: 'accounts@northgate.example',
  country: 'GB',
  taxIdentifier: { type: 'GB_VAT', code: 'GB123456789', country: 'GB' },
  amount: 48_000,
  currency: 'gbp',
};
const DUE_IN_MS = 30 * 86_400_000;
const ISSUED_WITHIN_MS = 120_000;
const CAST = 500;
/** HTTP statuses of a refusal without effect; a later try may succeed. */
const NOT_NOW = new Set([404, 409, 422]);

export type LifeOptions = {
  readonly random: Seeded;
  readonly seed: string;
  readonly acts: readonly Act[];
  /** True: some signups calculate tax at the MoR first. */
  readonly tax: boolean;
};

export type RefundRequest = {
  readonly path: string;
  readonly body: object;
  readonly key: string;
  readonly atMs: number;
  readonly paymentId: string;
};

export class Life {
  /** The count of each act done, refused for now (`…, not now`) or failed (`…, failed`). */
  readonly done = new Map<string, number>();
  /** Keys of the refunds the daemon accepted. */
  readonly refundsAsked = new Set<string>();
  /** The requests for the accepted refunds. The failover run repeats some of them. */
  readonly requests: RefundRequest[] = [];
  /** The calls of each signup, and the signup's time. The failover run repeats the late signups. */
  readonly signupCalls: (SignupCalls & { readonly atMs: number })[] = [];
  /** Refunds that the daemon refused because it did not know the payment. */
  readonly unknownPayments: RefundRequest[] = [];
  private readonly scene: Scene;
  private readonly cast: readonly Character[];
  private readonly touched = new Set<string>();
  private prices: ReadonlyMap<string, string> = new Map();
  private next = 0;

  constructor(
    private readonly world: World,
    private readonly options: LifeOptions,
  ) {
    this.scene = { world, run: `chaos-${Date.now().toString(36)}`, subscribers: [], tally: newTally() };
    const cast = castOf(CAST, options.seed);
    this.cast = options.tax ? cast : cast.filter((c) => c.country !== 'DE' && c.country !== 'GB');
  }

  get customers(): number {
    return this.scene.subscribers.length;
  }

  count(what: string): number {
    return this.done.get(what) ?? 0;
  }

  /** Makes the catalogue and the first customers. */
  async begin(customers: number): Promise<void> {
    this.prices = await makePrices(this.scene);
    for (let i = 0; i < customers; i++) await this.signup();
  }

  /** Lets the merchant act until `ended` returns true, then waits until every act has its answer. */
  async goOn(ended: () => boolean): Promise<void> {
    const acts: Readonly<Record<Act, () => Promise<void>>> = {
      signups: () => this.signup(),
      renewals: () => this.renew(),
      refunds: () => this.refund(),
      portal: () => this.refundInPortal(),
      disputes: () => this.dispute(ended),
      mends: () => this.mend(),
      dashboard: () => this.change(),
      transfers: () => this.transfer(),
    };
    await Promise.all(this.options.acts.map((name) => this.repeat(name, acts[name], ended)));
  }

  private async repeat(name: Act, act: () => Promise<void>, ended: () => boolean): Promise<void> {
    while (!ended()) {
      const until = performance.now() + EVERY_MS[name] * (0.5 + this.options.random.next());
      while (performance.now() < until && !ended()) await sleep(Math.min(100, Math.max(1, until - performance.now())));
      if (ended()) return;
      try {
        await act();
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        const notNow = error instanceof Unexpected && NOT_NOW.has(error.status);
        this.tick(notNow ? `${name}, not now` : `${name}, failed`);
        const line = `${new Date().toISOString()} ${name}: ${message.slice(0, 400)}\n`;
        appendFileSync(join(this.world.folder, 'merchant.log'), line);
      }
    }
  }

  private tick(what: string): void {
    this.done.set(what, this.count(what) + 1);
  }

  private async signup(): Promise<void> {
    const character = this.cast[this.next++ % this.cast.length];
    if (character === undefined) return;
    await signUp(this.scene, character, this.prices, (calls) => this.signupCalls.push({ ...calls, atMs: Date.now() }));
    this.tick('signups');
  }

  private async renew(): Promise<void> {
    const { control } = this.world;
    const who = this.options.random.pick(this.scene.subscribers);
    const outcome = this.options.random.chance(0.1) ? 'decline' : null;
    if (outcome !== null) await control.post('/_sandbox/cards', { customer_id: who.customerId, outcome: [outcome] });
    await control.post('/_sandbox/stripe/renew', { subscription: who.subscriptionId });
    this.tick('renewals');
  }

  /** Picks a renewal's payment no act has used yet. Null: there is none. */
  private async fresh(): Promise<Reading | null> {
    const found = (await this.world.control.get('/_sandbox/mor/payments?status=succeeded')).list('data');
    const free = found.filter((p) => p.text('kind') === 'renewal' && !this.touched.has(p.text('id')));
    return free.length === 0 ? null : this.options.random.pick(free);
  }

  /** Requests a refund. In a third of the cases it sends the request twice, like a double click. */
  private async refund(): Promise<void> {
    const payment = await this.fresh();
    if (payment === null) return;
    const { random } = this.options;
    const id = payment.text('id');
    const amount = random.chance(0.5) ? Math.max(1, Math.floor(payment.amount('amount') / 3)) : null;
    const path = `/v1/payments/${id}/refunds`;
    const body = { reason: 'requested_by_customer', ...(amount === null ? {} : { amount }) };
    const key = `${this.scene.run}-refund-${id}`;
    this.touched.add(id);
    const clicks = random.chance(0.34) ? 2 : 1;
    const request = { path, body, key, atMs: Date.now(), paymentId: id };
    try {
      await Promise.all(Array.from({ length: clicks }, () => this.world.api.post(path, body, key)));
    } catch (error) {
      if (error instanceof Unexpected && error.status === 404) {
        this.touched.delete(id); // the daemon lacks the payment's event so far; a later act may use the payment
        this.unknownPayments.push(request);
      }
      throw error;
    }
    this.refundsAsked.add(key);
    this.requests.push(request);
    this.tick('refunds');
  }

  private async refundInPortal(): Promise<void> {
    const payment = await this.fresh();
    if (payment === null) return;
    const id = payment.text('id');
    this.touched.add(id);
    const amount = Math.max(1, Math.floor(payment.amount('amount') / 2));
    await this.world.control.post('/_sandbox/mor/refunds', { payment_id: id, amount });
    this.tick('refunds in the portal');
  }

  private async dispute(ended: () => boolean): Promise<void> {
    const payment = await this.fresh();
    if (payment === null || payment.text('method') !== 'card') return;
    const { control, notified: notice } = this.world;
    const id = payment.text('id');
    this.touched.add(id);
    const data = { disputeId: `dp_${id}`, pspReference: payment.text('processor_charge_id') };
    await control.post('/_sandbox/events', { type: 'dispute.action_needed', data });
    for (let i = 0; i < 50 && !ended(); i++) await sleep(100);
    const outcome = this.options.random.pick(['won', 'lost']);
    await control.post('/_sandbox/events', { type: 'dispute.outcome', data: { ...data, outcome } });
    if (outcome === 'lost')
      notice.lost.push({ paymentId: id, amount: payment.amount('amount'), currency: payment.text('currency') });
    this.tick(`disputes ${outcome}`);
  }

  /**
   * Deals with a failed renewal in one of four ways: the merchant charges again, the customer pays at a link, or
   * Stripe's dashboard voids the invoice or marks it uncollectible. Each invoice gets one way.
   */
  private async mend(): Promise<void> {
    const { api, control, stripe, notified: notice } = this.world;
    const failed = (await control.get('/_sandbox/mor/payments?status=failed')).list('data');
    const free = failed.filter(
      (p) => !this.touched.has(p.textOrNull('merchant_invoice_id') ?? '') && p.text('kind') === 'renewal',
    );
    const payment = free[0];
    const invoiceId = payment?.textOrNull('merchant_invoice_id') ?? null;
    if (payment === undefined || invoiceId === null) return;
    if ((await stripe.invoices.retrieve(invoiceId)).status !== 'open') return;
    this.touched.add(invoiceId);
    const how = this.options.random.pick(['retry', 'retry', 'link', 'void', 'give up']);
    if (how === 'void') await stripe.invoices.voidInvoice(invoiceId);
    else if (how === 'give up') await stripe.invoices.markUncollectible(invoiceId);
    else if (how === 'retry') {
      const customer = payment.text('merchant_customer_id');
      await control.post('/_sandbox/cards', { customer_id: customer, outcome: ['succeed'] });
      await api.post(`/v1/invoices/${invoiceId}/retry`, {}, `${this.scene.run}-retry-${invoiceId}`);
    } else {
      const body = { jurisdiction: 'GB', return_url: 'https://shop.example/thanks' };
      const link = await api.post(
        `/v1/invoices/${invoiceId}/payment-link`,
        body,
        `${this.scene.run}-link-${invoiceId}`,
      );
      const linkId = link.text('paymentLinkId');
      const paid = await control.post(`/_sandbox/payment-links/${linkId}/pay`, {});
      notice.links.push({ paymentId: paid.object('payment').text('id'), linkId, invoiceId });
    }
    this.tick(`failed renewals: ${how}`);
  }

  private async change(): Promise<void> {
    const { stripe } = this.world;
    const who = this.options.random.pick(this.scene.subscribers);
    const metadata = { looked_at: String(this.count('dashboard changes')) };
    if (this.options.random.chance(0.5)) await stripe.customers.update(who.customerId, { metadata });
    else await stripe.subscriptions.update(who.subscriptionId, { metadata });
    this.tick('dashboard changes');
  }

  private async transfer(): Promise<void> {
    const { api, control, notified: notice } = this.world;
    const invoiceId = await oneOffInvoice(this.scene, NORTH);
    const body = {
      jurisdiction: NORTH.country,
      due_date: new Date(Date.now() + DUE_IN_MS).toISOString().slice(0, 10),
      recipient: { taxIdentifiers: [NORTH.taxIdentifier] },
    };
    const path = `/v1/invoices/${invoiceId}/proforma`;
    const id = await this.insist(() => api.post(path, body, `${this.scene.run}-proforma-${invoiceId}`));
    const deadline = performance.now() + ISSUED_WITHIN_MS;
    for (;;) {
      const all = (await control.get('/_sandbox/proformas')).list('data');
      if (all.find((p) => p.text('id') === id)?.text('status') === 'ISSUED') break;
      if (performance.now() > deadline) throw new Error(`proforma invoice ${id} is not issued`);
      await sleep(500);
    }
    const amount = decimalFromMinor(BigInt(NORTH.amount), NORTH.currency.toUpperCase());
    await control.post(`/_sandbox/proformas/${id}/settle`, { amount });
    notice.transfers.push({ proformaId: id, invoiceId, amount: NORTH.amount, currency: NORTH.currency });
    this.tick('bank transfers');
  }

  /** Repeats a refused request each second, sixty times at most: the daemon may not know the invoice yet. */
  private async insist(ask: () => Promise<Reading>): Promise<string> {
    for (let tries = 0; ; tries++) {
      try {
        return (await ask()).text('id');
      } catch (error) {
        if (tries >= 60 || !(error instanceof Unexpected && NOT_NOW.has(error.status))) throw error;
        await sleep(1_000);
      }
    }
  }
}
