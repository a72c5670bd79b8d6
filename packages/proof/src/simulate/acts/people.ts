// The actors of a story except Crossbill: customers, merchant, operators, Stripe and the MoR. They subscribe, renew,
// void, decline, refund and resolve.
import { createHash } from 'node:crypto';
import { type Resolution } from '#src/shared/domain/review-row.js';
import { resolutionsOf } from '#src/core/reviews/rules/choices.js';
import { type MorPayment } from '@crossbill/sandbox/mor/state.js';
import { amountPaid, type Invoice } from '@crossbill/sandbox/stripe/model.js';
import { type Naming } from './planted.js';
import { type World } from '../machine/world.js';

type Json = Record<string, unknown>;
type Form = Readonly<Record<string, string>>;

export type Subscriber = {
  readonly customerId: string;
  readonly subscriptionId: string;
  readonly firstInvoiceId: string;
  readonly amount: number;
  readonly currency: string;
};

/** A refund request, kept so its sender can repeat it with the same key. */
type Asked = { readonly at: number; readonly key: string; readonly paymentId: string; readonly amount: number | null };

async function* inOne<T>(rows: readonly T[]): AsyncGenerator<readonly T[]> {
  yield await Promise.resolve(rows);
}

export class People {
  private clicks = 0;
  private readonly asked: Asked[] = [];

  constructor(private readonly world: World) {}

  /** Calls a control route of the sandbox. Returns the body of the answer, even of a refusal. */
  async control(path: string, body: Json): Promise<Json> {
    const headers = { 'content-type': 'application/json' };
    const bytes = Buffer.from(JSON.stringify(body));
    const target = `/_sandbox${path}`;
    const reply = await this.world.sandbox.kernel.handle('mor', { method: 'POST', target, headers, body: bytes });
    return reply.dropped ? {} : (JSON.parse(reply.body.toString('utf8')) as Json);
  }

  /** The merchant's own call to Stripe. */
  async stripe(method: string, target: string, form: Form = {}): Promise<Json> {
    const { kernel, secrets } = this.world.sandbox;
    const headers = {
      authorization: `Bearer ${secrets.stripeApiKey}`,
      'content-type': 'application/x-www-form-urlencoded',
    };
    const body = Buffer.from(new URLSearchParams(form).toString());
    const reply = await kernel.handle('stripe', { method, target, headers, body });
    return reply.dropped ? {} : (JSON.parse(reply.body.toString('utf8')) as Json);
  }

  /**
   * Makes a customer with a subscription. With `trial` nothing is due yet. Without it the first invoice waits for the
   * signup's charge. `saved`: the MoR already has the customer's card.
   */
  async subscriber(
    name: string,
    amount: number,
    currency: string,
    trial: boolean,
    saved: boolean = trial,
  ): Promise<Subscriber> {
    const customer = await this.stripe('POST', '/v1/customers', {
      email: `${name}@example.com`,
      name,
      'address[line1]': '1 Rue',
      'address[city]': 'Paris',
      'address[postal_code]': '75001',
      'address[country]': 'FR',
      'metadata[ip_address]': '203.0.113.7',
    });
    const price = await this.stripe('POST', '/v1/prices', {
      currency,
      unit_amount: String(amount),
      'recurring[interval]': 'month',
      'product_data[name]': 'Larch',
    });
    const customerId = String(customer['id']);
    // A custom payment method as the default stops Stripe from charging, as the README asks of merchants.
    const method = await this.stripe('POST', '/v1/payment_methods', { type: 'custom', 'custom[type]': 'cpmt_mor' });
    const subscription = await this.stripe('POST', '/v1/subscriptions', {
      customer: customerId,
      default_payment_method: String(method['id']),
      'items[0][price]': String(price['id']),
      ...(trial ? { trial_period_days: '27' } : { payment_behavior: 'default_incomplete' }),
    });
    if (saved) await this.control('/cards', { customer_id: customerId, outcome: 'succeed' });
    const latest = subscription['latest_invoice'];
    const firstInvoiceId = typeof latest === 'string' ? latest : '';
    return { customerId, subscriptionId: String(subscription['id']), firstInvoiceId, amount, currency };
  }

  /** A person links this customer to the MoR, again and again until the daemon accepts it. */
  async link({ customerId }: Subscriber): Promise<void> {
    const link = { customerId, morCustomerId: `mcus_${customerId}`, reference: null, linkedBy: 'ops' };
    for (;;) {
      const linked = await this.world.ask('link', (r) => r.links.link(link));
      if (linked !== null) break;
      await this.world.sleep(30_000);
    }
    this.world.planted.linked.set(customerId, this.world.now);
  }

  /** A person links customers by a file, all or none, again and again until the daemon accepts it. */
  async importLinks(list: readonly Subscriber[]): Promise<void> {
    const rows = list.map(({ customerId }, n) => ({
      line: n + 2,
      customerId,
      morCustomerId: `mcus_${customerId}`,
      reference: null,
    }));
    for (;;) {
      const done = await this.world.ask('import', (r) => r.links.import(inOne(rows), 'ops', () => true));
      if (done !== null && done.check.problemsInAll === 0) break;
      await this.world.sleep(30_000);
    }
    for (const { customerId } of list) this.world.planted.linked.set(customerId, this.world.now);
  }

  /** The shopper confirms an intent in the browser. Returns the MoR's answer to the browser. */
  async confirm(intentId: string, customerId: string, outcome: string): Promise<Json> {
    const at = this.world.now;
    const result = await this.control(`/intents/${intentId}/confirm`, { outcome });
    const isSaved = result['status'] === 'succeeded' || result['status'] === 'processing';
    if (isSaved) this.world.planted.confirmed.push({ intentId, customerId, at });
    return result;
  }

  /** Sets how this customer's next charges end. */
  async cards(customerId: string, outcome: string | readonly string[]): Promise<void> {
    await this.control('/cards', { customer_id: customerId, outcome });
  }

  /** Returns the id of the new invoice. Null: the subscription has ended. */
  async renew(subscriber: Subscriber, amount: number | null = null): Promise<string | null> {
    const more = amount === null ? {} : { amount };
    const invoice = await this.control('/stripe/renew', { subscription: subscriber.subscriptionId, ...more });
    return typeof invoice['id'] === 'string' ? invoice['id'] : null;
  }

  invoice(id: string): Invoice | undefined {
    return this.world.sandbox.stripe.state.invoices.get(id);
  }

  invoices(): readonly Invoice[] {
    return [...this.world.sandbox.stripe.state.invoices.values()];
  }

  payments(): readonly MorPayment[] {
    return [...this.world.sandbox.mor.payments.values()];
  }

  /** The merchant marks the invoice paid by hand, at any moment of Crossbill's work. */
  async payByHand(invoiceId: string): Promise<void> {
    const before = this.invoice(invoiceId);
    const paidBefore = before === undefined ? 0 : amountPaid(before);
    await this.stripe('POST', `/v1/invoices/${invoiceId}/pay`, { paid_out_of_band: 'true' });
    const after = this.invoice(invoiceId);
    if (after !== undefined && amountPaid(after) > paidBefore) this.world.paidByHand.add(invoiceId);
  }

  /** The MoR repeats a failed charge on its own. */
  async morTriesAgain(invoiceId: string): Promise<void> {
    this.world.triedByMor.add(invoiceId);
    await this.control('/mor/retry', { invoice_id: invoiceId });
  }

  /** The MoR charges a paid invoice a second time. This is the MoR's mistake, and real money. */
  chargeTwice(invoiceId: string): void {
    const { kernel, mor, cards } = this.world.sandbox;
    // A bank transfer is no charge.
    const isCharge = (payment: MorPayment): boolean => payment.status === 'succeeded' && payment.kind !== 'transfer';
    const first = this.payments().find((p) => p.merchantInvoiceId === invoiceId && isCharge(p));
    if (first === undefined) return;
    const twin: MorPayment = {
      ...first,
      id: kernel.random.id('pay'),
      uuid: kernel.random.uuid(),
      processorChargeId: kernel.random.id('ch'),
      processorPaymentIntentId: kernel.random.id('pi'),
      amountRefunded: 0,
      amountReserved: 0,
    };
    mor.payments.set(twin.id, twin);
    cards.events.verdict(twin);
  }

  /**
   * An operator requests a refund, `clicks` times at once with one key: the daemon may make only one refund. `trueId`:
   * the MoR's id of the payment, if `paymentId` is mistyped. Returns true if the daemon accepted a request.
   */
  async refund(paymentId: string, amount: number | null, clicks = 1, trueId = paymentId): Promise<boolean> {
    const asked: Asked = { at: this.world.now, key: `click-${++this.clicks}`, paymentId, amount };
    this.asked.push(asked);
    return (await Promise.all(Array.from({ length: clicks }, () => this.click(asked, trueId)))).includes(true);
  }

  /** An operator repeats every refund request made since `since`, with the same idempotency keys. */
  async askAgain(since: number): Promise<void> {
    for (const asked of this.asked.filter(({ at }) => at >= since)) {
      if (asked.amount === null) this.world.planted.restsAgain.add(asked.key);
      await this.click(asked, asked.paymentId);
    }
  }

  /** Sends one refund request. Returns whether the daemon accepted the request. */
  private async click({ key, paymentId, amount }: Asked, trueId: string): Promise<boolean> {
    const bodySha256 = createHash('sha256').update(String(amount)).digest();
    const name = { apiKey: 'ops', idempotencyKey: key, bodySha256 };
    const minor = amount === null ? null : BigInt(amount);
    // The operator insists: refunds next to disputes stay part of the stories.
    const request = { amount: minor, reason: null, metadata: { click: key }, by: 'ops', despiteDispute: true };
    const made = await this.world.ask(`refund ${key}`, (r) => r.refunds.request(paymentId, request, name));
    const most = this.world.sandbox.mor.payments.get(trueId)?.amount ?? 0;
    if (made?.ok === true && Number(made.value.amount) > most)
      this.world.scheduler.broken.push(`V6: a refund of ${made.value.amount} was taken for ${paymentId} of ${most}`);
    return made?.ok === true;
  }

  /** The bank settles the customer's pending debits now. */
  settleDebit(customerId: string): void {
    const { charges, events } = this.world.sandbox.cards;
    for (const p of this.payments()) {
      if (p.merchantCustomerId !== customerId || p.status !== 'processing') continue;
      charges.succeed(p);
      if (p.kind === 'renewal') events.verdict(p); // the MoR sends no event for a signup (its Document 3, rule 3)
    }
  }

  /** The MoR forgets the invoice of these payments: in reality it may never learn the invoice of a signup. */
  neverHeardOf(invoiceId: string): void {
    for (const p of this.payments()) if (p.merchantInvoiceId === invoiceId) p.merchantInvoiceId = null;
  }

  /** The failure of an older attempt arrives after the payment has succeeded. */
  lateFailure(paymentId: string): void {
    const { mor, cards } = this.world.sandbox;
    const p = mor.payments.get(paymentId);
    if (p === undefined || p.merchantInvoiceId === null) return;
    this.world.contradicted.add(p.merchantInvoiceId);
    cards.events.post('payment.failed', {
      payment_id: p.id,
      merchant_invoice_id: p.merchantInvoiceId,
      merchant_customer_id: p.merchantCustomerId,
      processor_charge_id: '',
      processor_payment_intent_id: p.processorPaymentIntentId,
      amount: p.amount,
      currency: p.currency,
      status: 'failed',
      failure_message: 'Your card has insufficient funds.',
      decline_code: 'insufficient_funds',
    });
  }

  /** A stranger sends an old delivery twice: first unchanged, then with a changed body. */
  async attack(choose: <T>(list: readonly T[]) => T): Promise<void> {
    const { copied, now } = this.world;
    if (copied.length === 0) return;
    const old = choose(copied);
    // The daemon refuses signatures older than five minutes, and its clock is at most ten minutes wrong.
    const isOld = now - old.at > 3_600_000;
    await this.world.knock(old, isOld ? [503] : [200, 503]);
    const other = Buffer.concat([old.body, Buffer.from(' ')]);
    await this.world.knock({ ...old, body: other }, [old.source === 'stripe' ? 401 : 503]);
  }

  /** An operator settles one open item in one of the ways the item offers. */
  async resolve(choose: <T>(list: readonly T[]) => T): Promise<void> {
    await this.world.ask('resolve', async (r) => {
      const open = await r.reviewRows.list({ status: 'open' }, { limit: 50, cursor: null });
      if (open.data.length === 0) return;
      const review = choose(open.data);
      const resolution: Resolution = choose(resolutionsOf(review, true));
      this.world.scheduler.tell(`an operator settles ${review.kind} of ${review.subject}: ${resolution}`);
      await r.reviews.resolve(review.id, { resolution, note: 'seen', by: 'ops' });
      if (review.kind === 'effect_failed' && review.refundId !== null && resolution === 'dismiss')
        this.world.leftUnshown.add(review.refundId);
      const isLeft = review.kind === 'amount_mismatch' && (resolution === 'apply' || resolution === 'dismiss');
      if (isLeft && review.invoiceId !== null) this.world.leftToCustomer.add(review.invoiceId);
    });
  }

  /**
   * The whole signup: intent, browser, completion. `said`: the amounts the shop's backend reports, one after the other.
   * `names`: makes the payment id for the backend's report from the MoR's id; null: the backend reports no id.
   */
  async signUp(
    subscriber: Subscriber,
    outcome: 'succeed' | 'decline' | 'bank_debit' | 'bank_debit_failed' = 'succeed',
    said: readonly number[] = [subscriber.amount],
    names: (right: string) => Pick<Naming, 'said' | 'as'> | null = () => null,
  ): Promise<void> {
    const by = 'shop';
    const body = JSON.stringify({ customer: subscriber.customerId, amount: subscriber.amount });
    const name = { apiKey: by, method: 'POST', path: '/v1/signups', idempotencyKey: `signup-${subscriber.customerId}` };
    const customer = { id: subscriber.customerId };
    const call = { kind: 'create_payment_intent', customer, description: null } as const;
    const request = {
      kind: 'payment',
      customerId: subscriber.customerId,
      amount: BigInt(subscriber.amount),
      currency: subscriber.currency.toUpperCase(),
      invoiceId: null,
      call,
      taxCalculationId: null,
      calculation: null,
      by,
    } as const;
    let made: { id: string; intentId: string } | null = null;
    for (let tries = 0; tries < 5 && made === null; tries++) {
      made = await this.world.ask('signup', async (r) => {
        const signup = await r.signups.create(request, name, body);
        if (signup.outcome !== 'made') return null;
        return { id: signup.signup.id, intentId: signup.intent.intentId };
      });
      if (made === null) await this.world.sleep(30_000);
    }
    if (made === null) return;
    const { id, intentId } = made;
    const result = await this.confirm(intentId, subscriber.customerId, outcome);
    const chargeId = result['charge_id'];
    if (typeof chargeId !== 'string' || chargeId === '') return;
    this.world.signupOf.set(chargeId, subscriber.firstInvoiceId);
    if (said.some((amount) => amount !== subscriber.amount)) this.world.misnamed.add(id);
    const completion = { chargeId, invoiceId: subscriber.firstInvoiceId, currency: subscriber.currency.toUpperCase() };
    const right = this.payments().find((p) => p.processorChargeId === chargeId)?.id ?? '';
    const called = names(right);
    const paymentId = called?.said ?? null;
    for (const amount of said) {
      const charge = { ...completion, amount: BigInt(amount), paymentId };
      const done = await this.world.ask('complete', (r) => r.signups.complete(id, charge));
      if (done?.ok === true && called !== null) this.world.planted.namings.push({ reference: chargeId, ...called });
      await this.world.sleep(60_000);
    }
  }
}
