// The MoR's off-session charges for renewals after `invoice.created` (Document 3, rules 4 and 5).
import { type JsonObject } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { type CardsBook, type Chosen, type HeardInvoice } from './cards-book.js';
import { type PaymentEvents } from './cards-events.js';
import { type MorPayment, type MorState } from './state.js';

const DEBIT_SETTLES_MS = 4 * 86_400_000; // Document 3: "days later"
const FASTEST_CARD_MS = 300; // Document 3: "within seconds"
const SLOWEST_CARD_MS = 1500;
/** Tax on top of a renewal, for a MoR that adds tax: Germany's rate. */
const RENEWAL_TAX_PERCENT = 19;

type DebitOutcome = 'bank_debit' | 'bank_debit_failed';

const failures: Record<'decline' | 'requires_action' | 'bank_debit_failed' | 'no_method', [string, string]> = {
  decline: ['Your card has insufficient funds.', 'insufficient_funds'],
  requires_action: ['The customer must authenticate this payment.', 'authentication_required'],
  bank_debit_failed: ['The bank returned the debit.', 'debit_not_authorized'],
  no_method: ['No saved payment method for this customer.', 'no_payment_method'],
};

export class Charges {
  constructor(
    private readonly kernel: Kernel,
    private readonly mor: MorState,
    private readonly book: CardsBook,
    private readonly events: PaymentEvents,
  ) {}

  /**
   * Takes an `invoice.created` from Stripe or from a relay. A repeated event id has no effect. After a failed attempt,
   * another event makes the MoR charge again, with the amount now due. The MoR starts no new charge for a paid invoice,
   * or while a charge is under way. The open facts `repeats` and `charged_amount` choose other answers.
   */
  hear(eventId: string, invoice: JsonObject): void {
    const { openFacts } = this.mor;
    if (this.book.heardEvents.has(eventId) && !openFacts.is('repeats', 'per_delivery')) return;
    this.book.heardEvents.add(eventId);
    const id = textOf(invoice['id']);
    const customerId = textOf(invoice['customer']);
    const amount = typeof invoice['amount_due'] === 'number' ? invoice['amount_due'] : 0;
    if (invoice['billing_reason'] === 'subscription_create') {
      this.rememberSignup(id, customerId, amount);
      return;
    }
    // A MoR that reads the invoice waits for the charge to find out if anything is due.
    const isNothingDue = amount <= 0 && !openFacts.is('charged_amount', 'present');
    if (id === '' || customerId === '' || isNothingDue) return;
    const known = this.book.heard.get(id);
    if (known !== undefined && openFacts.is('second_created', 'ignored')) return;
    const heard: HeardInvoice = known ?? {
      id,
      customerId,
      email: textOf(invoice['customer_email']) || null,
      amount,
      currency: textOf(invoice['currency']).toLowerCase(),
      attempts: [],
      taxCalculationId: null,
      planned: 0,
    };
    const again = !openFacts.is('repeats', 'once');
    if (heard.planned === 0 || again) heard.amount = amount;
    this.book.heard.set(id, heard);
    this.order(heard, again);
  }

  /** Charges again. Null if the invoice is unknown or paid, or if a charge is under way. */
  retry(invoiceId: string): HeardInvoice | null {
    const heard = this.book.heard.get(invoiceId);
    return heard !== undefined && this.order(heard, false) ? heard : null;
  }

  /** `again`: charges a paid invoice too, and next to a planned charge. */
  private order(heard: HeardInvoice, again: boolean): boolean {
    const last = heard.attempts.at(-1);
    const over = last === undefined || last.status === 'failed' || last.status === 'requires_action';
    if (!again && (heard.planned > 0 || !over)) return false;
    heard.planned += 1;
    const { amount } = heard;
    const wait = this.kernel.random.int(FASTEST_CARD_MS, SLOWEST_CARD_MS);
    this.kernel.clock.after(wait, `charge for ${heard.id}`, () => this.charge(heard, amount));
    return true;
  }

  /** The amount of a charge now. `fromEvent`: the amount due in the event. */
  private amountOf(heard: HeardInvoice, fromEvent: number): number {
    const { openFacts } = this.mor;
    const present = openFacts.is('charged_amount', 'present') ? this.mor.presentAmount(heard.id) : null;
    const net = present ?? fromEvent;
    return openFacts.is('renewal_tax', 'added') ? net + Math.round((net * RENEWAL_TAX_PERCENT) / 100) : net;
  }

  private charge(heard: HeardInvoice, fromEvent: number): void {
    heard.planned -= 1;
    const amount = this.amountOf(heard, fromEvent);
    if (amount <= 0) return; // nothing is due now, and Document 3 has no event for that
    const customer = this.mor.customerOf.get(heard.customerId);
    const paidWith = this.book.methodOf(heard.customerId);
    if (customer !== undefined && customer.carriedTax !== null && heard.taxCalculationId === null) {
      heard.taxCalculationId = customer.carriedTax;
      customer.carriedTax = null;
    }
    const outcome =
      paidWith === null ? 'no_method' : this.book.outcomeFor(heard.customerId, heard.email, paidWith.type);
    const debit = outcome === 'bank_debit' || outcome === 'bank_debit_failed';
    const payment = this.newPayment({
      kind: 'renewal',
      merchantInvoiceId: heard.id,
      merchantCustomerId: heard.customerId,
      morCustomerId: customer?.id ?? '',
      amount,
      currency: heard.currency,
      method: debit ? 'bank_debit' : 'card',
      paidWith,
      intentId: this.kernel.random.id('pi'),
      taxCalculationId: heard.taxCalculationId,
    });
    heard.attempts.push(payment);
    if (debit) {
      this.kernel.clock.after(DEBIT_SETTLES_MS, `debit ${payment.id}`, () => this.settleDebit(payment, outcome));
      return;
    }
    this.decide(payment, outcome);
    this.events.verdict(payment);
  }

  private settleDebit(payment: MorPayment, outcome: DebitOutcome): void {
    if (payment.status !== 'processing') return;
    this.decide(payment, outcome);
    if (payment.kind === 'renewal') this.events.verdict(payment); // a signup has no event (Document 3, rule 3)
  }

  private decide(payment: MorPayment, chosen: Chosen | 'no_method'): void {
    const [outcome, code] = partsOf(chosen);
    if (outcome === 'succeed' || outcome === 'bank_debit') {
      this.succeed(payment);
      return;
    }
    payment.status = outcome === 'requires_action' ? 'requires_action' : 'failed';
    [payment.failureMessage, payment.declineCode] = failures[outcome];
    if (code !== null) [payment.failureMessage, payment.declineCode] = ['Your card was declined.', code];
  }

  succeed(payment: MorPayment): void {
    payment.status = 'succeeded';
    if (payment.processorChargeId === '') payment.processorChargeId = this.kernel.random.id('ch');
    this.mor.paymentCaptured(payment);
  }

  /** Records a signup's charge. The MoR sends no event for such a charge (Document 3, rule 3). */
  signupPayment(
    input: NewPayment,
    outcome: 'succeed' | DebitOutcome,
    settled: (succeeded: boolean) => void = () => undefined,
  ): MorPayment {
    const payment = this.newPayment(input);
    payment.processorChargeId = this.kernel.random.id('ch');
    const first = this.book.signupInvoiceOf.get(payment.merchantCustomerId);
    if (first?.amount === payment.amount) payment.merchantInvoiceId = first.invoiceId;
    if (outcome === 'succeed') {
      this.succeed(payment);
      return payment;
    }
    this.kernel.clock.after(DEBIT_SETTLES_MS, `debit ${payment.id}`, () => {
      this.settleDebit(payment, outcome);
      settled(payment.status === 'succeeded');
    });
    return payment;
  }

  private rememberSignup(invoiceId: string, customerId: string, amount: number): void {
    if (amount <= 0) return;
    this.book.signupInvoiceOf.set(customerId, { invoiceId, amount });
    for (const payment of this.mor.payments.values()) {
      const fits = payment.merchantCustomerId === customerId && payment.amount === amount;
      if (fits && payment.kind === 'signup' && payment.merchantInvoiceId === null)
        payment.merchantInvoiceId = invoiceId;
    }
  }

  private newPayment(input: NewPayment): MorPayment {
    const { random, clock } = this.kernel;
    const { intentId, ...rest } = input;
    const payment: MorPayment = {
      id: random.id('pay'),
      uuid: random.uuid(),
      ...rest,
      status: 'processing',
      processorChargeId: '',
      processorPaymentIntentId: intentId,
      failureMessage: null,
      declineCode: null,
      amountRefunded: 0,
      amountReserved: 0,
      createdAtMs: clock.nowMs(),
    };
    this.mor.payments.set(payment.id, payment);
    return payment;
  }
}

export type NewPayment = Pick<
  MorPayment,
  | 'kind'
  | 'merchantInvoiceId'
  | 'merchantCustomerId'
  | 'morCustomerId'
  | 'amount'
  | 'currency'
  | 'method'
  | 'paidWith'
  | 'taxCalculationId'
> & { readonly intentId: string };

/** Splits a chosen outcome into the outcome and the code of a decline. */
function partsOf(chosen: Chosen | 'no_method'): [keyof typeof failures | 'succeed' | 'bank_debit', string | null] {
  return isCoded(chosen) ? ['decline', chosen.slice('decline:'.length)] : [chosen, null];
}

function isCoded(chosen: Chosen | 'no_method'): chosen is `decline:${string}` {
  return chosen.startsWith('decline:');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
