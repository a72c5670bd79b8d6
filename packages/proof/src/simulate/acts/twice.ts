// Doubles in a story: one charge for two invoices, one id for two refunds, two bodies under one event id, and a card
// Stripe charges in addition to the MoR.
import { signatureHeader } from '@crossbill/sandbox/kernel/signature.js';
import { amountRemaining, type Invoice } from '@crossbill/sandbox/stripe/model.js';
import { type People, type Subscriber } from './people.js';
import { type World } from '../machine/world.js';

export class Twice {
  constructor(
    private readonly world: World,
    private readonly people: People,
  ) {}

  /** The MoR also reports this payment's charge for another invoice. This is the MoR's mistake: no more money moved. */
  oneCharge(paymentId: string, invoiceId: string): void {
    const { sandbox, planted } = this.world;
    const first = sandbox.mor.payments.get(paymentId);
    const invoice = this.people.invoice(invoiceId);
    const own = first?.merchantInvoiceId ?? null;
    if (
      first?.status !== 'succeeded' ||
      own === null ||
      own === invoiceId ||
      !this.isMarked(own, first.processorChargeId)
    )
      return;
    if (invoice?.status !== 'open' && invoice?.status !== 'draft') return;
    const id = sandbox.kernel.random.id('pay');
    const event = sandbox.cards.events.post('payment.succeeded', {
      payment_id: id,
      merchant_invoice_id: invoiceId,
      merchant_customer_id: invoice.customer,
      processor_charge_id: first.processorChargeId,
      processor_payment_intent_id: sandbox.kernel.random.id('pi'),
      amount: amountRemaining(invoice),
      currency: invoice.currency,
      status: 'succeeded',
    });
    planted.oneCharge.push({
      chargeId: first.processorChargeId,
      first: { paymentId, invoiceId: own },
      second: { paymentId: id, invoiceId, eventId: event.id },
    });
  }

  /** The MoR sends each `payment.succeeded` twice under one event id, the second time with 1 % of the amount. */
  twoBodies(): void {
    const { world } = this;
    const secret = world.sandbox.secrets.paymentWebhookSecret;
    world.twinOf = ({ source, headers, body }) => {
      const text = body.toString('utf8');
      const other = Buffer.from(text.replace(/("amount":\d+)\d\d\b/, '$1'));
      if (!text.includes('"payment.succeeded"')) return null;
      const name = Object.keys(headers).find((h) => h.endsWith('-signature')) ?? '';
      const stamped = { ...headers, [name]: signatureHeader(other, secret, Math.floor(world.now / 1_000)) };
      return { source, headers: stamped, body: other };
    };
  }

  /** The processor gives the next refund of each of these payments the same id. */
  async oneRefundId(paymentIds: readonly string[]): Promise<void> {
    const id = this.world.name('re_shared');
    this.world.planted.oneRefundId.add(id);
    for (const paymentId of paymentIds) {
      const plan = { outcome: 'succeed', payment_id: paymentId, processor_refund_id: id };
      await this.people.control('/mor/next-refund', plan);
    }
  }

  /** The merchant left a card of the customer at Stripe, and Stripe may charge it. The README asks for the opposite. */
  async ownCard(subscriber: Subscriber, replies: readonly ('succeed' | 'decline')[]): Promise<void> {
    const made = await this.people.stripe('POST', `/v1/customers/${subscriber.customerId}`, { source: 'tok_visa' });
    await this.people.stripe('POST', `/v1/subscriptions/${subscriber.subscriptionId}`, { default_payment_method: '' });
    const outcome = [...replies];
    await this.people.control('/stripe/cards', { payment_method: String(made['default_source']), outcome });
  }

  /** The merchant makes the custom payment method the subscription's default again, so Stripe no longer charges. */
  async mendCard(subscriber: Subscriber): Promise<void> {
    const method = await this.people.stripe('POST', '/v1/payment_methods', {
      type: 'custom',
      'custom[type]': 'cpmt_mor',
    });
    await this.people.stripe('POST', `/v1/subscriptions/${subscriber.subscriptionId}`, {
      default_payment_method: String(method['id']),
    });
  }

  private isMarked(invoiceId: string, chargeId: string): boolean {
    const { records } = this.world.sandbox.stripe.state;
    const invoice = this.people.invoice(invoiceId);
    if (invoice?.status !== 'paid' || this.world.paidByHand.has(invoiceId)) return false;
    if (this.world.settings.markMode === 'out_of_band') return invoice.paidOutOfBand > 0;
    return [...records.values()].some((r) => r.reference === chargeId && r.attachedAs !== null);
  }
}

/** Returns the amount Stripe itself collected for an invoice. */
export function collectedByStripe(invoice: Invoice | undefined): number {
  const own = invoice?.payments.filter((p) => p.status === 'paid' && p.record === null && p.intent !== null) ?? [];
  return own.reduce((n, p) => n + (p.amountPaid ?? 0), 0);
}

/**
 * True if Stripe would charge the invoice automatically or try it again. Reads the sandbox's data, in the order Stripe
 * uses to choose a payment method.
 */
export function stripeWouldCharge({ sandbox }: World, invoice: Invoice): boolean {
  const { customers, subscriptions, paymentMethods } = sandbox.stripe.state;
  const going = (invoice.status === 'draft' || invoice.status === 'open') && invoice.autoAdvance;
  if (!going || invoice.collectionMethod !== 'charge_automatically') return false;
  const [s, c] = [subscriptions.get(invoice.subscription ?? ''), customers.get(invoice.customer)];
  const first = [
    invoice.defaultPaymentMethod,
    s?.defaultPaymentMethod,
    s?.defaultSource,
    c?.defaultPaymentMethod,
    c?.defaultSource,
  ].find((id) => id !== null && id !== undefined);
  return first !== undefined && paymentMethods.get(first ?? '')?.type !== 'custom';
}
