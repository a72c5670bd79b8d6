// The `payment.*` events of Document 3. An event has one body and one id. The sandbox delivers an event with
// `Mor-Signature` until the receiver answers 200 or a 4xx.
import { type Endpoint } from '../kernel/deliveries.js';
import { type JsonObject } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { morPaymentSchedule } from '../kernel/schedules.js';
import { type MorPayment, type MorRefund, type MorState } from './state.js';

export type PaymentEvent = { readonly id: string; readonly type: string; readonly body: JsonObject };

export class PaymentEvents {
  /** Every sent event, oldest first. */
  readonly sent: PaymentEvent[] = [];

  constructor(
    private readonly kernel: Kernel,
    private readonly mor: MorState,
  ) {}

  /** Sets the URL and the secret for all later events. Also switches a disabled endpoint on again. */
  sendTo(url: string, secret: string): void {
    let current: Endpoint | null = null;
    const active = (): boolean => this.mor.paymentWebhook === current;
    current = {
      id: 'payment-webhook',
      url,
      secret,
      header: 'Mor-Signature',
      side: 'mor',
      schedule: morPaymentSchedule,
      active,
      disable: () => {
        if (active()) this.mor.paymentWebhook = null;
      },
    };
    this.kernel.deliverer.failing.forget(current.id);
    this.mor.paymentWebhook = current;
  }

  verdict(payment: MorPayment): void {
    const more: JsonObject = {};
    if (payment.failureMessage !== null) more['failure_message'] = payment.failureMessage;
    if (payment.declineCode !== null) more['decline_code'] = payment.declineCode;
    this.post(`payment.${payment.status}`, {
      ...facts(payment),
      amount: payment.amount,
      status: payment.status,
      ...more,
    });
  }

  refunded(payment: MorPayment, refund: MorRefund): void {
    const more: JsonObject = {
      refund_id: refund.id,
      processor_refund_id: refund.processorRefundId,
      amount_refunded_total: payment.amountRefunded,
    };
    if (refund.reason !== null) more['reason'] = refund.reason;
    this.post('payment.refunded', { ...facts(payment), amount: refund.amount, status: payment.status, ...more });
  }

  /**
   * Sends any event to the merchant's URL. With the `id` of an earlier event, this call forges a second body for that
   * event. `created` is in Unix seconds.
   */
  post(
    type: string,
    object: JsonObject,
    id = this.kernel.random.id('evt'),
    created = this.kernel.clock.nowSec(),
  ): PaymentEvent {
    const body: JsonObject = { id, type, created, data: { object } };
    const event: PaymentEvent = { id, type, body };
    this.sent.push(event);
    this.deliver(event);
    return event;
  }

  /** Sends all events since `sinceSec` again, with the same ids and bytes, as the MoR does on a merchant's request. */
  again(sinceSec: number): readonly PaymentEvent[] {
    const events = this.sent.filter((event) => Number(event.body['created']) >= sinceSec);
    for (const event of events) this.deliver(event);
    return events;
  }

  private deliver({ id, type, body }: PaymentEvent): void {
    const endpoint = this.mor.paymentWebhook;
    if (endpoint !== null) this.kernel.deliverer.send(endpoint, { id, type, body: Buffer.from(JSON.stringify(body)) });
  }
}

function facts(payment: MorPayment): JsonObject {
  return {
    payment_id: payment.id,
    merchant_invoice_id: payment.merchantInvoiceId ?? '',
    merchant_customer_id: payment.merchantCustomerId,
    processor_charge_id: payment.processorChargeId,
    processor_payment_intent_id: payment.processorPaymentIntentId,
    currency: payment.currency,
  };
}
