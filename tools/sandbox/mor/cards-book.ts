// The book of Document 3: intents, customers with a saved method, payments and refunds, and the outcomes that were chosen.
import { type Kernel } from '../kernel/kernel.js';
import { type MorCustomer, type MorPayment, type MorState } from './state.js';

export const outcomes = ['succeed', 'decline', 'requires_action', 'bank_debit', 'bank_debit_failed'] as const;
export type Outcome = (typeof outcomes)[number];
/** As it is chosen: a decline may name its code, such as `decline:lost_card`. */
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

/** What the MoR knows of an invoice that it was sent. */
export type HeardInvoice = {
  readonly id: string;
  readonly customerId: string;
  readonly email: string | null;
  /** What was due by the newest event about it. */
  amount: number;
  readonly currency: string;
  /** Payments tried for it, oldest first. */
  readonly attempts: MorPayment[];
  /** Carried here from the setup intent; every attempt for this invoice bears it, no other invoice does. */
  taxCalculationId: string | null;
  /** A charge was ordered and has not been tried yet. */
  ordered: boolean;
};

export type RefundPlan = 'succeed' | 'pending' | 'pending_fail' | 'fail';

export class CardsBook {
  readonly intents = new Map<string, Intent>();
  readonly heard = new Map<string, HeardInvoice>();
  readonly heardEvents = new Set<string>();
  readonly signupInvoiceOf = new Map<string, { invoiceId: string; amount: number }>(); // by the merchant's customer id
  /** `processorRefundId`: the id that the processor gives it; null: one that no other refund has. */
  readonly refundPlans: { paymentId: string | null; plan: RefundPlan; processorRefundId: string | null }[] = [];
  readonly enabledTypes = new Set(['card', 'us_bank_account', 'sepa_debit', 'bacs_debit', 'au_becs_debit']);
  private readonly always = new Map<string, Chosen>();
  private readonly coming = new Map<string, Chosen[]>();
  /** Outcomes that hold for a while only, and until when by the virtual clock. */
  private readonly until = new Map<string, { readonly chosen: Chosen; readonly endMs: number }>();
  private readonly savedSetups: MorCustomer[] = []; // confirmed setups of nobody in particular, oldest first

  constructor(
    private readonly kernel: Kernel,
    private readonly mor: MorState,
  ) {}

  newCustomer(merchantCustomerId: string | null, email: string | null): MorCustomer {
    const customer: MorCustomer = {
      id: this.kernel.random.id('cus', 14),
      merchantCustomerId,
      email,
      method: null,
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

  saveMethod(customer: MorCustomer, method: 'card' | 'bank_debit'): void {
    customer.method = method;
    if (customer.merchantCustomerId === null && !this.savedSetups.includes(customer)) this.savedSetups.push(customer);
  }

  link(customer: MorCustomer, merchantCustomerId: string): void {
    customer.merchantCustomerId = merchantCustomerId;
    this.mor.customerOf.set(merchantCustomerId, customer);
    const i = this.savedSetups.indexOf(customer);
    if (i >= 0) this.savedSetups.splice(i, 1);
  }

  /**
   * Who is charged for a merchant's customer, or null when nothing is saved. A setup intent names no customer (Document 3), so
   * the oldest saved setup that belongs to nobody yet becomes this customer's.
   */
  payer(merchantCustomerId: string): MorCustomer | null {
    const known = this.mor.customerOf.get(merchantCustomerId);
    if (known !== undefined && known.method !== null) return known;
    const [setup] = this.savedSetups;
    if (setup === undefined) return null;
    this.link(setup, merchantCustomerId);
    return setup;
  }

  /**
   * One outcome holds until it is changed, or for `forSec` and then the one before it again; a list is used up charge by charge. Gives the
   * customer a card if there is none.
   */
  choose(merchantCustomerId: string, chosen: Chosen | readonly Chosen[], forSec: number | null = null): void {
    const customer = this.customerFor(merchantCustomerId, null);
    customer.method ??= 'card';
    if (typeof chosen === 'string' && forSec !== null)
      this.until.set(merchantCustomerId, { chosen, endMs: this.kernel.clock.nowMs() + forSec * 1000 });
    else if (typeof chosen === 'string') this.always.set(merchantCustomerId, chosen);
    else this.coming.set(merchantCustomerId, [...chosen]);
  }

  /** A debit that was chosen for this customer's next charge, which is its signup; null: none was. */
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
