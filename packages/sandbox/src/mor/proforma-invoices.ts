// Proforma invoices (Document 2): asynchronous creation with a replay by key, issuance, failure, settlement, deletion.
import { type Money, decimalFromMinor, minorFromDecimal } from '../kernel/money.js';
import { Refusal, type Reply, morError } from '../kernel/http.js';
import { type Kernel } from '../kernel/kernel.js';
import { isUuid } from './countries.js';
import { type EInvoices } from './e-invoices.js';
import { eventIdFor } from './event-types.js';
import { ISSUANCE_MS } from './invoice-files.js';
import { type Issuance } from './issuance.js';
import { taxCurrencyOf } from './jurisdictions.js';
import { hasPaymentDestination, nfseProblems, unusableReasons } from './proforma-citation.js';
import { type ProformaTerms, parseDirect, parseFromCalculation } from './proforma-requests.js';
import { notFound, refusal, refuse } from './refusal.js';
import { type Account, type MorState } from './state.js';
import { cartTotals } from './tax-answers.js';
import { type Calculation, type Calculations } from './tax-calculations.js';
import { type WebhookEndpoints } from './webhook-endpoints.js';

export type Proforma = {
  readonly id: string;
  readonly number: string;
  readonly account: Account;
  readonly jurisdiction: string;
  readonly merchantReference: string | null;
  readonly total: Money;
  readonly legalName: string;
  status: 'PENDING_TAX_TRANSACTION' | 'ISSUED' | 'ISSUANCE_FAILED' | 'SETTLED';
  failure: { readonly code: 'proforma_tax_input_invalid'; readonly message: string; readonly failedAt: string } | null;
  /** The amount of the transfer, in smallest units; null: none arrived. */
  received: bigint | null;
  deleted: boolean;
};

type Kept = { readonly fingerprint: string; readonly reply: Reply };

/** JSON with sorted keys, so the same body in another order counts as the same. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

export class Proformas {
  private readonly all: Proforma[] = [];
  private readonly keys = new Map<string, Kept>();

  constructor(
    private readonly kernel: Kernel,
    private readonly mor: MorState,
    private readonly calculations: Calculations,
    private readonly issuance: Issuance,
    private readonly eInvoices: EInvoices,
    private readonly endpoints: WebhookEndpoints,
  ) {}

  /**
   * Creates one proforma invoice per key. The same body replays the first reply for ever; another body gives 422
   * `idempotency_key_reused`.
   */
  once(account: Account, key: string | null, path: string, body: unknown, create: () => Proforma): Reply {
    if (key === null || key.trim() === '') throw refuse(400, 'invalid_argument', 'Idempotency-Key', 'is required');
    if (key.length > 255) throw refuse(400, 'invalid_argument', 'Idempotency-Key', 'has more than 255 characters');
    const fingerprint = `${path}\n${canonical(body)}`;
    const name = `${account}\n${key}`;
    const kept = this.keys.get(name);
    if (kept?.fingerprint === fingerprint) return kept.reply;
    if (kept !== undefined) {
      throw refuse(422, 'idempotency_key_reused', 'Idempotency-Key', 'was used with another body');
    }
    const proforma = create();
    const headers = { location: `/api/proforma-invoices/${proforma.id}`, 'retry-after': '2' };
    const reply: Reply = { status: 202, headers, body: showProforma(proforma) };
    this.keys.set(name, { fingerprint, reply });
    return reply;
  }

  createDirect(account: Account, body: unknown): Proforma {
    const request = parseDirect(body);
    this.requireTaxCurrency(request.jurisdiction);
    return this.add(account, request, request.total, request.legalName);
  }

  /**
   * Checks in the order of Document 2's error table: the country's tax currency before the look-up of the tax
   * calculation.
   */
  createFromCalculation(account: Account, body: unknown): Proforma {
    const request = parseFromCalculation(body, this.kernel.clock.nowIso().slice(0, 10));
    this.requireTaxCurrency(request.jurisdiction);
    const calculation = this.calculations.find(account, request.taxCalculationId);
    if (calculation === null) throw notFound();
    this.requireCitable(calculation, request.jurisdiction);
    const { legalName, firstName, lastName, currency } = calculation.request;
    const name = legalName ?? `${firstName ?? ''} ${lastName ?? ''}`.trim();
    const total = { minor: cartTotals(calculation).total, currency };
    const proforma = this.add(account, request, total, name);
    calculation.usedBy = 'proforma_invoice';
    return proforma;
  }

  private requireTaxCurrency(jurisdiction: string): void {
    if (taxCurrencyOf(jurisdiction) === null) {
      throw refuse(422, 'unsupported_jurisdiction', 'jurisdiction', 'has no tax currency');
    }
  }

  private requireCitable(calculation: Calculation, jurisdiction: string): void {
    const field = 'taxCalculationId';
    const nowMs = this.kernel.clock.nowMs();
    if (calculation.usedBy !== null) throw refuse(422, 'tax_calculation_already_used', field, 'was cited before');
    if (nowMs >= calculation.expiresAtMs) throw refuse(422, 'tax_calculation_expired', field, 'has expired');
    const reasons = unusableReasons(calculation, jurisdiction, this.mor.regions.get(calculation.country), nowMs);
    if (reasons.length > 0) {
      const errors = reasons.map((message) => ({ field, message }));
      throw refusal(422, 'tax_calculation_unusable', errors);
    }
    if (!hasPaymentDestination(jurisdiction)) {
      throw refuse(422, 'no_payment_destination', 'jurisdiction', 'has no settlement account in its currency');
    }
    const problems = nfseProblems(calculation);
    if (problems.length > 0) throw refusal(422, 'nfse_validation_failed', problems);
  }

  private add(account: Account, terms: ProformaTerms, total: Money, legalName: string): Proforma {
    const holder = this.all.find(
      (other) =>
        other.account === account &&
        other.merchantReference === terms.merchantReference &&
        !other.deleted &&
        other.status !== 'ISSUANCE_FAILED',
    );
    if (terms.merchantReference !== null && holder !== undefined) {
      const errors = [{ field: 'merchantReference', message: 'is held by a live proforma invoice' }];
      throw refusal(422, 'merchant_reference_conflict', errors, { existingProformaInvoiceId: holder.id });
    }
    const serial = String(this.all.length + 1).padStart(6, '0');
    const proforma: Proforma = {
      id: this.kernel.random.uuid(),
      number: `PF-${terms.jurisdiction}-${terms.issueDate.slice(0, 4)}-${serial}`,
      account,
      jurisdiction: terms.jurisdiction,
      merchantReference: terms.merchantReference,
      total,
      legalName,
      status: 'PENDING_TAX_TRANSACTION',
      failure: null,
      received: null,
      deleted: false,
    };
    this.all.push(proforma);
    this.issuance.after(ISSUANCE_MS, 'issue a proforma invoice', () => this.issue(proforma));
    return proforma;
  }

  private issue(proforma: Proforma): void {
    if (proforma.deleted || proforma.status !== 'PENDING_TAX_TRANSACTION') return;
    proforma.status = 'ISSUED';
    this.tell(proforma, 'proforma_invoice.issued', { number: proforma.number });
    this.eInvoices.file(proforma.account, proforma.jurisdiction, { type: 'proforma_invoice', id: proforma.id });
  }

  private tell(
    proforma: Proforma,
    type: 'proforma_invoice.issued' | 'proforma_invoice.issuance_failed' | 'proforma_invoice.settled',
    more: Readonly<Record<string, unknown>>,
  ): void {
    const { id, status, merchantReference, account } = proforma;
    const reference = merchantReference === null ? {} : { merchantReference };
    this.endpoints.announce(account, eventIdFor(type, id), type, {
      proformaInvoiceId: id,
      status,
      ...reference,
      ...more,
    });
  }

  /**
   * Throws 404 for an unknown, deleted or another merchant's proforma invoice. `deletedToo`: finds deleted ones too,
   * since a merchant may repeat DELETE.
   */
  find(account: Account, id: string, deletedToo = false): Proforma {
    const found = this.all.find((proforma) => proforma.id === id && proforma.account === account);
    if (found === undefined || (found.deleted && !deletedToo)) throw notFound();
    return found;
  }

  /** Deletes a proforma invoice. Throws 409 after its issuance, because a tax transaction is then linked. */
  remove(proforma: Proforma): void {
    if (proforma.status === 'ISSUED' || proforma.status === 'SETTLED') {
      throw refuse(409, 'not_deletable', 'status', 'the tax transaction is linked: cancel instead');
    }
    proforma.deleted = true;
  }

  /**
   * Plays the arrival of a bank transfer, for the control route. `amount` is a decimal string in the currency of the
   * proforma invoice. Without `amount` the transfer has the total.
   */
  settle(id: string, amount: string | undefined): Proforma {
    const proforma = this.forControl(id, 'ISSUED');
    const { currency, minor } = proforma.total;
    const received = amount === undefined ? minor : minorFromDecimal(amount, currency);
    if (received === null) throw refuse(400, 'invalid_request', 'amount', `must be a decimal in ${currency}`);
    proforma.status = 'SETTLED';
    proforma.received = received;
    this.tell(proforma, 'proforma_invoice.settled', {
      settledAt: this.kernel.clock.nowIso(),
      total: { amount: decimalFromMinor(minor, currency), currency },
      amountReceived: { amount: decimalFromMinor(received, currency), currency },
      recipient: { legalName: proforma.legalName },
    });
    return proforma;
  }

  /** Lets the issuance fail for good, for the control route. */
  fail(id: string, message: string | undefined): Proforma {
    const proforma = this.forControl(id, 'PENDING_TAX_TRANSACTION');
    const failedAt = this.kernel.clock.nowIso();
    const words = message ?? 'The tax input was not accepted.';
    proforma.status = 'ISSUANCE_FAILED';
    proforma.failure = { code: 'proforma_tax_input_invalid', message: words, failedAt };
    this.tell(proforma, 'proforma_invoice.issuance_failed', { issuanceFailure: proforma.failure });
    return proforma;
  }

  private forControl(id: string, status: Proforma['status']): Proforma {
    const proforma = this.all.find((one) => one.id === id && !one.deleted);
    if (proforma === undefined || !isUuid(id)) throw notFound();
    if (proforma.status !== status) {
      throw new Refusal(morError(409, 'invalid_status', [{ field: 'status', message: `is ${proforma.status}` }]));
    }
    return proforma;
  }

  list(): readonly Proforma[] {
    return this.all.filter(({ deleted }) => !deleted);
  }
}

/**
 * A proforma invoice as the replies of Document 2 show it. Without a `merchantReference` the member is null, not
 * missing.
 */
export function showProforma({ id, number, status, merchantReference, failure }: Proforma): Record<string, unknown> {
  return { id, number, status, merchantReference, ...(failure === null ? {} : { issuanceFailure: failure }) };
}
