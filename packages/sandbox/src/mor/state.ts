// The MoR side's knowledge: the merchant, tokens, customers, payments and refunds. Shared by the plug-ins of the three
// documents.
import { type Kernel } from '../kernel/kernel.js';
import { OpenFacts } from './open-facts.js';
import { Refusal, type SandboxRequest, morError } from '../kernel/http.js';
import { type JsonObject } from '../kernel/json.js';
import { type Endpoint } from '../kernel/deliveries.js';

export type Product = 'mor' | 'tor';
export type TokenKind = 'merchant' | 'partner';
/** The token's owner: the sandbox's merchant or partner, or the foreign one. */
export type Account = 'main' | 'other';
export type Credentials = { readonly clientId: string; readonly clientSecret: string };

/** A payment the MoR took or tried to take. Amounts are smallest units. */
export type MorPayment = {
  readonly id: string; // pay_…
  readonly uuid: string; // Document 2 calls the path parameter a uuid: either finds the payment
  readonly kind: 'signup' | 'renewal' | 'link' | 'transfer';
  /** Null until a signup's charge has its invoice: nobody tells the MoR. */
  merchantInvoiceId: string | null;
  readonly merchantCustomerId: string;
  readonly morCustomerId: string;
  readonly amount: number;
  readonly currency: string; // lower case
  status:
    'processing' | 'succeeded' | 'failed' | 'requires_action' | 'partially_refunded' | 'refunded' | 'charged_back';
  processorChargeId: string; // empty on failed and requires_action
  readonly processorPaymentIntentId: string;
  readonly method: 'card' | 'bank_debit';
  /** The paying saved method; null: none, or the money came by a link's page or a transfer. */
  readonly paidWith: SavedMethod | null;
  failureMessage: string | null;
  declineCode: string | null;
  amountRefunded: number; // succeeded refunds
  amountReserved: number; // pending refunds
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
  readonly source: 'api' | 'portal' | 'alert';
  readonly createdAtMs: number;
};

/** A card or an account for off-session charges. */
export type SavedMethod = {
  readonly id: string; // pm_…
  readonly type: 'card' | 'bank_debit';
  /** Its owner, by the merchant's id; null: nobody, so nobody pays with it. */
  readonly merchantCustomerId: string | null;
  readonly morCustomerId: string;
  /** The intent behind it; null: a control route. */
  readonly intentId: string | null;
};

/** A customer on the MoR's processor account. */
export type MorCustomer = {
  readonly id: string;
  /** The merchant's own id; null: its setup intent named nobody. */
  readonly merchantCustomerId: string | null;
  email: string | null;
  /** Confirmed in a browser, oldest first: the newest pays. */
  readonly methods: SavedMethod[];
  /**
   * A setup intent's tax calculation before its first invoice: it "carries to the first chargeable invoice" (Document
   * 3).
   */
  carriedTax: string | null;
};

/** The books of Document 2's part of the MoR: plain values, for comparisons. */
export type ChannelBooks = {
  readonly proformas: readonly {
    readonly id: string;
    readonly reference: string | null;
    readonly status: string;
    readonly currency: string; // upper case
    readonly total: bigint;
    /** The transfer's amount; null: none came. */
    readonly received: bigint | null;
  }[];
  readonly links: readonly {
    readonly id: string;
    readonly idempotencyKey: string;
    readonly amount: bigint;
    readonly createdAtMs: number;
    /** End of its payable time: its expiry or its payment. */
    readonly openUntilMs: number;
    /** pay_…, oldest first. */
    readonly paymentIds: readonly string[];
  }[];
};

const TOKEN_LIFE_SEC = 86_400; // Document 2, Authentication 1

export class MorState {
  readonly merchantCredentials: Credentials;
  readonly partnerCredentials: Credentials;
  /** A second merchant and a second partner, to rehearse "foreign". Cards know the first merchant only. */
  readonly otherMerchantCredentials: Credentials;
  readonly otherPartnerCredentials: Credentials;
  suspended = false;
  readonly openFacts: OpenFacts;
  /** The merchant's activations, by country. */
  readonly regions = new Map<string, Product>([
    ['GB', 'mor'],
    ['DE', 'mor'],
    ['BR', 'mor'],
    ['US', 'tor'],
    ['CA', 'tor'],
    ['FR', 'tor'],
  ]);
  readonly customers = new Map<string, MorCustomer>(); // by our id
  readonly customerOf = new Map<string, MorCustomer>(); // by the merchant's id
  readonly payments = new Map<string, MorPayment>(); // by pay_…
  readonly refunds = new Map<string, MorRefund>(); // by rfnd_…
  /** Whether a tax calculation exists; Document 2's plug-in sets it. */
  taxCalculationExists: (id: string) => boolean = () => true;
  /** Called for each card payment with taken money; Document 2's plug-in sets it (`payment.captured`). */
  paymentCaptured: (payment: MorPayment) => void = () => undefined;
  /** Registers an endpoint for every event at the start and gives its secret; Document 2's plug-in sets it. */
  registerEventWebhook: (url: string) => string = () => '';
  /** Document 2's plug-in sets it. */
  channelBooks: () => ChannelBooks = () => ({ proformas: [], links: [] });
  /** SANDBOX_STRICT_URLS: refuses loopback addresses for webhooks too. */
  strictUrls = false;
  /** The public origin of the MoR side, for links in answers; set once the port exists. */
  baseUrl = 'http://127.0.0.1:4020';
  paymentWebhook: Endpoint | null = null;
  private tokens = new Map<string, { kind: TokenKind; account: Account; expiresAtMs: number }>();

  constructor(
    readonly kernel: Kernel,
    /** The processor segment of the route family. */
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

  /** A new bearer token, valid for a day of virtual time. */
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

  /** Throws 401 without a code for a missing, unknown, expired or partner's token, 403 for a suspended merchant (Document 3). */
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
