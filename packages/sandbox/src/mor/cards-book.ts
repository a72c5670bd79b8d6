// The MoR's records for Document 3: intents, invoices from events, saved methods, and the outcomes a test chose.
import { type Kernel } from '../kernel/kernel.js';
import { type MorCustomer, type MorPayment, type MorState, type SavedMethod } from './state.js';

export const outcomes = ['succeed', 'decline', 'requires_action', 'bank_debit', 'bank_debit_failed'] as const;
export type Outcome = (typeof outcomes)[number];
/** A chosen outcome. A decline may name its code, such as `decline:lost_card`. */
export type Chosen = Outcome | `decline:${string}`;

export type Intent = {
  readonly id: string; // pi_… or seti_…
  readonly kind: 'payment' | 'setup';
  readonly clientSecret: string;
  readonly customer: MorCustomer;
  readonly amount: number; // 0 for a setup
  readonly currency: string; // lower case; empty for a setup
  readonly types: readonly string[];
  readonly taxCalculationId: string | null;
  status: string;
};

/** An invoice as Stripe's events describe it to the MoR. */
export type HeardInvoice = {
  readonly id: string;
  readonly customerId: string;
  readonly email: string | null;
  /** The amount due in the newest event. A planned charge keeps the amount of its own event. */
  amount: number;
  readonly currency: string;
  /** The attempts to charge the invoice, oldest first. */
  readonly attempts: MorPayment[];
  /**
   * The tax calculation of the setup intent. All charges for this invoice carry this calculation, and charges for
   * another invoice do not.
   */
  taxCalculationId: string | null;
  /** The number of planned charges the MoR has not tried yet. */
  planned: number;
};

export type RefundPlan = 'succeed' | 'pending' | 'pending_fail' | 'fail';

export class CardsBook {
  readonly intents = new Map<string, Intent>();
  readonly heard = new Map<string, HeardInvoice>();
  readonly heardEvents = new Set<string>();
  readonly signupInvoiceOf = new Map<string, { invoiceId: string; amount: number }>(); // by the merchant's customer id
  /** The outcomes chosen for coming refunds. `paymentId` null: for any payment. `processorRefundId` null: a new id. */
  readonly refundPlans: { paymentId: string | null; plan: RefundPlan; processorRefundId: string | null }[] = [];
  /**
   * How the MoR treats `merchant_customer` in a setup intent: Document 3 does not have the field there. `take`: as the
   * owner of the saved method. `refuse`: the MoR replies 400. `ignore`: the field has no effect.
   */
  setupCustomer: 'take' | 'refuse' | 'ignore' = 'take';
  readonly enabledTypes = new Set(['card', 'us_bank_account', 'sepa_debit', 'bacs_debit', 'au_becs_debit']);
  private methodsSaved = 0;
  private readonly always = new Map<string, Chosen>();
  private readonly coming = new Map<string, Chosen[]>();
  /** Temporary outcomes, with the virtual time when they end. */
  private readonly until = new Map<string, { readonly chosen: Chosen; readonly endMs: number }>();

  constructor(
    private readonly kernel: Kernel,
    private readonly mor: MorState,
  ) {}

  newCustomer(merchantCustomerId: string | null, email: string | null): MorCustomer {
    const customer: MorCustomer = {
      id: this.kernel.random.id('cus', 14),
      merchantCustomerId,
      email,
      methods: [],
      carriedTax: null,
    };
    this.mor.customers.set(customer.id, customer);
    if (merchantCustomerId !== null) this.mor.customerOf.set(merchantCustomerId, customer);
    return customer;
  }

  /** The MoR's own record of a merchant's customer, created at the first signup. */
  customerFor(merchantCustomerId: string, email: string | null): MorCustomer {
    const known = this.mor.customerOf.get(merchantCustomerId);
    if (known === undefined) return this.newCustomer(merchantCustomerId, email);
    if (email !== null) known.email = email;
    return known;
  }

  saveMethod(customer: MorCustomer, type: SavedMethod['type'], intentId: string | null): SavedMethod {
    const { id: morCustomerId, merchantCustomerId } = customer;
    const method: SavedMethod = {
      id: `pm_${++this.methodsSaved}`,
      type,
      merchantCustomerId,
      morCustomerId,
      intentId,
    };
    customer.methods.push(method);
    return method;
  }

  /**
   * The method to charge for a merchant's customer: the newest method saved for this customer. Null: none. The MoR
   * never charges another customer's method, or a method without an owner.
   */
  methodOf(merchantCustomerId: string): SavedMethod | null {
    return this.mor.customerOf.get(merchantCustomerId)?.methods.at(-1) ?? null;
  }

  /**
   * Sets the outcome of the customer's next charges. A single outcome lasts until the next choice, or for `forSec`
   * seconds; then the earlier choice applies again. From a list, each charge takes the next outcome.
   * Adds a card if the customer has no method.
   */
  choose(merchantCustomerId: string, chosen: Chosen | readonly Chosen[], forSec: number | null = null): void {
    const customer = this.customerFor(merchantCustomerId, null);
    if (customer.methods.length === 0) this.saveMethod(customer, 'card', null);
    if (typeof chosen === 'string' && forSec !== null)
      this.until.set(merchantCustomerId, { chosen, endMs: this.kernel.clock.nowMs() + forSec * 1000 });
    else if (typeof chosen === 'string') this.always.set(merchantCustomerId, chosen);
    else this.coming.set(merchantCustomerId, [...chosen]);
  }

  /** Takes the bank debit a test chose for this customer's next charge, and uses it for the signup. Null: none. */
  debitAtSignup(merchantCustomerId: string | null): 'bank_debit' | 'bank_debit_failed' | null {
    if (merchantCustomerId === null) return null;
    const coming = this.coming.get(merchantCustomerId);
    const next = coming?.[0] ?? this.always.get(merchantCustomerId);
    if (next !== 'bank_debit' && next !== 'bank_debit_failed') return null;
    if (coming?.[0] !== undefined) coming.shift();
    return next;
  }

  /** The outcome of the next charge: from a choice, from the e-mail address, or from the saved method. */
  outcomeFor(merchantCustomerId: string, email: string | null, method: 'card' | 'bank_debit'): Chosen {
    const next = this.coming.get(merchantCustomerId)?.shift();
    if (next !== undefined) return next;
    const until = this.until.get(merchantCustomerId);
    if (until !== undefined && this.kernel.clock.nowMs() < until.endMs) return until.chosen;
    const always = this.always.get(merchantCustomerId);
    if (always !== undefined) return always;
    return outcomeOfEmail(email) ?? (method === 'bank_debit' ? 'bank_debit' : 'succeed');
  }
}

/** The local part of the address decides how the card behaves: `decline@…`, `ada+3ds@…`, `debit.bob@…`. */
export function outcomeOfEmail(email: string | null): Outcome | null {
  const words =
    (email ?? '')
      .toLowerCase()
      .split('@')[0]
      ?.split(/[+._-]/) ?? [];
  if (words.includes('decline')) return 'decline';
  if (words.includes('3ds')) return 'requires_action';
  return words.includes('debit') ? 'bank_debit' : null;
}
