// The book of Document 3: intents, customers with a saved method, payments and refunds, and the chosen outcomes.
import { type Kernel } from '../kernel/kernel.js';
import { type MorCustomer, type MorPayment, type MorState, type SavedMethod } from './state.js';

export const outcomes = ['succeed', 'decline', 'requires_action', 'bank_debit', 'bank_debit_failed'] as const;
export type Outcome = (typeof outcomes)[number];
/** A choice: a decline may name its code, such as `decline:lost_card`. */
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

/** The MoR's knowledge of an invoice from events. */
export type HeardInvoice = {
  readonly id: string;
  readonly customerId: string;
  readonly email: string | null;
  /** The amount due by its newest event. */
  amount: number;
  readonly currency: string;
  /** Payments tried for it, oldest first. */
  readonly attempts: MorPayment[];
  /** Carried here from the setup intent; every attempt for this invoice bears it, no other invoice does. */
  taxCalculationId: string | null;
  /** A charge is ordered and untried so far. */
  ordered: boolean;
};

export type RefundPlan = 'succeed' | 'pending' | 'pending_fail' | 'fail';

export class CardsBook {
  readonly intents = new Map<string, Intent>();
  readonly heard = new Map<string, HeardInvoice>();
  readonly heardEvents = new Set<string>();
  readonly signupInvoiceOf = new Map<string, { invoiceId: string; amount: number }>(); // by the merchant's customer id
  /** `processorRefundId`: the id from the processor; null: a new one. */
  readonly refundPlans: { paymentId: string | null; plan: RefundPlan; processorRefundId: string | null }[] = [];
  /**
   * Document 3 has no field for the owner of a saved method. `refuse`: such a setup intent is malformed; `ignore`: the
   * field has no effect.
   */
  setupCustomer: 'take' | 'refuse' | 'ignore' = 'take';
  readonly enabledTypes = new Set(['card', 'us_bank_account', 'sepa_debit', 'bacs_debit', 'au_becs_debit']);
  private methodsSaved = 0;
  private readonly always = new Map<string, Chosen>();
  private readonly coming = new Map<string, Chosen[]>();
  /** Temporary outcomes, and their ends by the virtual clock. */
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

  /** The MoR's twin of a merchant's customer, made at the first signup. */
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
   * The payer for a merchant's customer: the newest confirmed method of this customer, and never another's or nobody's.
   * Null: none.
   */
  methodOf(merchantCustomerId: string): SavedMethod | null {
    return this.mor.customerOf.get(merchantCustomerId)?.methods.at(-1) ?? null;
  }

  /**
   * One outcome holds until the next choice, or for `forSec` and then the one before it again; each charge takes one
   * from a list. Gives the customer a card if there is none.
   */
  choose(merchantCustomerId: string, chosen: Chosen | readonly Chosen[], forSec: number | null = null): void {
    const customer = this.customerFor(merchantCustomerId, null);
    if (customer.methods.length === 0) this.saveMethod(customer, 'card', null);
    if (typeof chosen === 'string' && forSec !== null)
      this.until.set(merchantCustomerId, { chosen, endMs: this.kernel.clock.nowMs() + forSec * 1000 });
    else if (typeof chosen === 'string') this.always.set(merchantCustomerId, chosen);
    else this.coming.set(merchantCustomerId, [...chosen]);
  }

  /** A debit chosen for this customer's next charge, the signup; null: none. */
  debitAtSignup(merchantCustomerId: string | null): 'bank_debit' | 'bank_debit_failed' | null {
    if (merchantCustomerId === null) return null;
    const coming = this.coming.get(merchantCustomerId);
    const next = coming?.[0] ?? this.always.get(merchantCustomerId);
    if (next !== 'bank_debit' && next !== 'bank_debit_failed') return null;
    if (coming?.[0] !== undefined) coming.shift();
    return next;
  }

  /** The outcome of the next charge: chosen, or told by the e-mail address, or as the saved method says. */
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

/** `decline@…`, `ada+3ds@…`, `debit.bob@…`: a word of the local part says how the card behaves. */
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
