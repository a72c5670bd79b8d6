// What the MoR side knows: the merchant, tokens, customers, payments and refunds. The plug-ins of the three documents
// share it.
import { type Kernel } from '../kernel/kernel.js';
import { OpenFacts } from './open-facts.js';
import { Refusal, type SandboxRequest, morError } from '../kernel/http.js';
import { type JsonObject } from '../kernel/json.js';
import { type Endpoint } from '../kernel/deliveries.js';

export type Product = 'mor' | 'tor';
export type TokenKind = 'merchant' | 'partner';
/** The owner of a token: the sandbox's merchant or partner (`main`), or a foreign one (`other`). */
export type Account = 'main' | 'other';
export type Credentials = { readonly clientId: string; readonly clientSecret: string };

/** A payment the MoR took or tried to take. Amounts are in smallest units. */
export type MorPayment = {
  readonly id: string; // pay_…
  readonly uuid: string; // Document 2 calls the path parameter a uuid, so both ids find the payment
  readonly kind: 'signup' | 'renewal' | 'link' | 'transfer';
  /** Null for a signup's charge until the MoR receives the first invoice's `invoice.created` from Stripe. */
  merchantInvoiceId: string | null;
  readonly merchantCustomerId: string;
  readonly morCustomerId: string;
  readonly amount: number;
  readonly currency: string; // lower case
  status:
    'processing' | 'succeeded' | 'failed' | 'requires_action' | 'partially_refunded' | 'refunded' | 'charged_back';
  processorChargeId: string; // empty if failed or requires_action
  readonly processorPaymentIntentId: string;
  readonly method: 'card' | 'bank_debit';
  /** The saved method that paid. Null: none, because a link's page or a transfer brought the money. */
  readonly paidWith: SavedMethod | null;
  failureMessage: string | null;
  declineCode: string | null;
  amountRefunded: number; // sum of the succeeded refunds
  amountReserved: number; // sum of the pending refunds
  readonly taxCalculationId: string | null;
  readonly createdAtMs: number;
};

export type MorRefund = {
  readonly id: string; // rfnd_…
  readonly uuid: string;
  readonly paymentId: string;
  readonly amount: number;
  readonly currency: string;
  status: 'succeeded' | 'pending' | 'failed';
  readonly reason: string | null;
  readonly metadata: JsonObject | null;
  readonly processorRefundId: string;
  readonly source: 'api' | 'portal' | 'alert'; // 'alert': only in simulations
  readonly createdAtMs: number;
};

/** A saved card or bank account for off-session charges. */
export type SavedMethod = {
  readonly id: string; // pm_…
  readonly type: 'card' | 'bank_debit';
  /** The merchant's id of the customer with this method. Null: the method has no owner, so the MoR never charges it. */
  readonly merchantCustomerId: string | null;
  readonly morCustomerId: string;
  /** The intent that saved the method; null: a control route saved it. */
  readonly intentId: string | null;
};

/** A customer on the MoR's processor account. */
export type MorCustomer = {
  readonly id: string;
  /** The merchant's id of the customer; null: the setup intent named nobody. */
  readonly merchantCustomerId: string | null;
  email: string | null;
  /** The saved methods, oldest first. The MoR charges the newest one. */
  readonly methods: SavedMethod[];
  /**
   * The tax calculation of a setup intent, until the first invoice: it "carries to the first chargeable invoice"
   * (Document 3).
   */
  carriedTax: string | null;
};

/** The proforma invoices and payment links of Document 2, as plain values for comparisons. */
export type ChannelBooks = {
  readonly proformas: readonly {
    readonly id: string;
    readonly reference: string | null;
    readonly status: string;
    readonly currency: string; // upper case
    readonly total: bigint;
    /** The amount of the transfer; null: none arrived. */
    readonly received: bigint | null;
  }[];
  readonly links: readonly {
    readonly id: string;
    readonly idempotencyKey: string;
    readonly amount: bigint;
    readonly createdAtMs: number;
    /** When the link stops being payable: when it expires or is paid. */
    readonly openUntilMs: number;
    /** The `pay_…` ids, oldest first. */
    readonly paymentIds: readonly string[];
  }[];
};

const TOKEN_LIFE_SEC = 86_400; // Document 2, Authentication 1

export class MorState {
  readonly merchantCredentials: Credentials;
  readonly partnerCredentials: Credentials;
  /**
   * A second merchant and a second partner, to test access to foreign objects. Cards belong to the first merchant only.
   */
  readonly otherMerchantCredentials: Credentials;
  readonly otherPartnerCredentials: Credentials;
  suspended = false;
  readonly openFacts: OpenFacts;
  /** The countries the merchant has activated, each with its product. */
  readonly regions = new Map<string, Product>([
    ['GB', 'mor'],
    ['DE', 'mor'],
    ['BR', 'mor'],
    ['US', 'tor'],
    ['CA', 'tor'],
    ['FR', 'tor'],
  ]);
  readonly customers = new Map<string, MorCustomer>(); // by the MoR's id
  readonly customerOf = new Map<string, MorCustomer>(); // by the merchant's id
  readonly payments = new Map<string, MorPayment>(); // by pay_…
  readonly refunds = new Map<string, MorRefund>(); // by rfnd_…
  /** True if a tax calculation exists. Document 2's plug-in sets this function. */
  taxCalculationExists: (id: string) => boolean = () => true;
  /**
   * The amount the customer still has to pay on an invoice, as the merchant's Stripe account shows it now: 0 for a paid
   * or void invoice, null for an unknown one. `makeSandbox` sets this function.
   */
  presentAmount: (invoiceId: string) => number | null = () => null;
  /** Called for each card payment the MoR took. Document 2's plug-in sets this function (`payment.captured`). */
  paymentCaptured: (payment: MorPayment) => void = () => undefined;
  /**
   * Registers an endpoint for every event at the start and returns its secret. Document 2's plug-in sets this function.
   */
  registerEventWebhook: (url: string) => string = () => '';
  /** Returns all proforma invoices and payment links. Document 2's plug-in sets this function. */
  channelBooks: () => ChannelBooks = () => ({ proformas: [], links: [] });
  /** SANDBOX_STRICT_URLS: true refuses loopback addresses as webhook endpoints too. */
  strictUrls = false;
  /** The public origin of the MoR, for links in replies. `startSandbox` sets this field after it opens the port. */
  baseUrl = 'http://127.0.0.1:4020';
  paymentWebhook: Endpoint | null = null;
  private tokens = new Map<string, { kind: TokenKind; account: Account; expiresAtMs: number }>();

  constructor(
    readonly kernel: Kernel,
    /** The name of the processor in the routes' paths. */
    readonly psp: string,
  ) {
    this.openFacts = new OpenFacts(kernel);
    this.merchantCredentials = {
      clientId: `merchant_${kernel.secret('merchant-id').slice(0, 12)}`,
      clientSecret: kernel.secret('merchant'),
    };
    this.partnerCredentials = {
      clientId: `partner_${kernel.secret('partner-id').slice(0, 12)}`,
      clientSecret: kernel.secret('partner'),
    };
    this.otherMerchantCredentials = {
      clientId: `merchant_${kernel.secret('other-merchant-id').slice(0, 12)}`,
      clientSecret: kernel.secret('other-merchant'),
    };
    this.otherPartnerCredentials = {
      clientId: `partner_${kernel.secret('other-partner-id').slice(0, 12)}`,
      clientSecret: kernel.secret('other-partner'),
    };
  }

  /** Issues a bearer token, valid for a day of virtual time. */
  issueToken(
    kind: TokenKind,
    account: Account = 'main',
  ): { access_token: string; expires_in: number; token_type: 'Bearer' } {
    const token = this.kernel.random.id(`tok_${kind}`, 40);
    this.tokens.set(token, { kind, account, expiresAtMs: this.kernel.clock.nowMs() + TOKEN_LIFE_SEC * 1000 });
    return { access_token: token, expires_in: TOKEN_LIFE_SEC, token_type: 'Bearer' };
  }

  revokeTokens(): void {
    this.tokens.clear();
  }

  /**
   * Throws 401 without a code for a missing, unknown, expired or partner's token, and 403 for a suspended merchant
   * (Document 3).
   */
  requireMerchant(request: SandboxRequest): Account {
    const account = this.requireToken(request, 'merchant');
    if (this.suspended) throw new Refusal(morError(403, 'merchant_suspended'));
    return account;
  }

  /** Throws 401 for a missing, unknown, expired or merchant's token. */
  requirePartner(request: SandboxRequest): Account {
    return this.requireToken(request, 'partner');
  }

  private requireToken(request: SandboxRequest, kind: TokenKind): Account {
    const [, bearer] = /^Bearer (\S+)$/i.exec(request.headers['authorization'] ?? '') ?? [];
    const token = bearer === undefined ? undefined : this.tokens.get(bearer);
    if (token === undefined || token.kind !== kind || token.expiresAtMs <= this.kernel.clock.nowMs()) {
      throw new Refusal({ status: 401, body: { errors: [] } });
    }
    return token.account;
  }
}
