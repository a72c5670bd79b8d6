// Payment links (Document 2): hosted pages for one payment each, payable until they expire. A control route plays the
// customer.
import { type Money, decimalFromMinor } from '../kernel/money.js';
import { Refusal, morError } from '../kernel/http.js';
import { Fields as ControlFields } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { isExactIn, minorOf } from './decimals.js';
import { type EInvoices } from './e-invoices.js';
import { eventIdFor } from './event-types.js';
import { Fields } from './fields.js';
import { linkPage } from './link-page.js';
import { merchantRoutes } from './merchant-routes.js';
import { notFound, refusal } from './refusal.js';
import { type Account, type MorPayment, type MorState } from './state.js';
import { type WebhookEndpoints } from './webhook-endpoints.js';

const WEEK_SEC = 604_800; // Document 2, Limits

export type PaymentLink = {
  readonly id: string;
  readonly account: Account;
  readonly jurisdiction: string;
  readonly amount: Money;
  readonly returnUrl: string;
  readonly idempotencyKey: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** Payments on the link, oldest first. More than one if the customer paid again. */
  readonly paymentIds: string[];
  paidAtMs: number | null;
};

/** The ids in a link's `payment.captured`: the charge's, the payment's `pay_…`, both or none. Document 2 shows none. */
export const CAPTURE_NAMES = ['charge', 'id', 'both', 'nothing'] as const;
export type CaptureNames = (typeof CAPTURE_NAMES)[number];
export const namesCharge = (names: CaptureNames): boolean => names === 'charge' || names === 'both';
export const namesId = (names: CaptureNames): boolean => names === 'id' || names === 'both';

export class PaymentLinks {
  private readonly all: PaymentLink[] = [];

  constructor(
    private readonly kernel: Kernel,
    private readonly mor: MorState,
    private readonly eInvoices: EInvoices,
    private readonly endpoints: WebhookEndpoints,
  ) {}

  /** Returns 201 with a new link. For a reused key, returns 200 with the first link. */
  create(account: Account, body: unknown): { status: 200 | 201; link: PaymentLink } {
    const fields = Fields.of(body);
    const jurisdiction = fields.country('jurisdiction');
    const returnUrl = fields.text('returnUrl');
    if (returnUrl !== '' && !URL.canParse(returnUrl)) fields.problem('returnUrl', 'must be a URL');
    const idempotencyKey = fields.text('idempotencyKey');
    const amount = readAmount(fields.object('amount'));
    const expiresIn = fields.optionalNumber('expiresIn') ?? WEEK_SEC;
    if (!Number.isSafeInteger(expiresIn) || expiresIn <= 0)
      fields.problem('expiresIn', 'must be whole seconds above 0');
    fields.problems.throwAs('validation_error');

    const first = this.all.find((link) => link.account === account && link.idempotencyKey === idempotencyKey);
    if (first !== undefined) return { status: 200, link: first };
    const product = this.mor.regions.get(jurisdiction);
    if (product === undefined) throw refusal(409, 'no_active_arrangement', []);
    if (product !== 'mor') throw refusal(409, 'unsupported_outpost_role', []);
    const link: PaymentLink = {
      id: this.kernel.random.uuid(),
      account,
      jurisdiction,
      amount,
      returnUrl,
      idempotencyKey,
      createdAtMs: this.kernel.clock.nowMs(),
      expiresAtMs: this.kernel.clock.nowMs() + expiresIn * 1000,
      paymentIds: [],
      paidAtMs: null,
    };
    this.all.push(link);
    return { status: 201, link };
  }

  list(): readonly PaymentLink[] {
    return this.all;
  }

  find(account: Account, id: string): PaymentLink {
    const link = this.all.find((one) => one.id === id.toLowerCase() && one.account === account);
    if (link === undefined) throw notFound();
    return link;
  }

  private statusOf(link: PaymentLink): 'PAYABLE' | 'PAID' | 'EXPIRED' {
    if (link.paymentIds.length > 0) return 'PAID';
    return this.kernel.clock.nowMs() < link.expiresAtMs ? 'PAYABLE' : 'EXPIRED';
  }

  show(link: PaymentLink): Record<string, unknown> {
    const { currency, minor } = link.amount;
    const status = this.statusOf(link);
    return {
      paymentLinkId: link.id,
      url: `${this.mor.baseUrl}/pay/${link.id}`,
      status,
      pricedAmount: { amount: decimalFromMinor(minor, currency), currency },
      amountDue: { amount: decimalFromMinor(status === 'PAID' ? 0n : minor, currency), currency },
      expiresAt: new Date(link.expiresAtMs).toISOString(),
    };
  }

  /** The link as its page shows it to the customer, for links of any merchant. */
  page(id: string): Record<string, unknown> {
    return this.show(this.findAny(id));
  }

  /** The page as HTML, for a person. */
  htmlPage(id: string): Buffer {
    const link = this.findAny(id);
    const { currency, minor } = link.amount;
    const amount = decimalFromMinor(minor, currency);
    return linkPage({ id: link.id, status: this.statusOf(link), amount, currency, returnUrl: link.returnUrl });
  }

  private findAny(id: string): PaymentLink {
    const link = this.all.find((one) => one.id === id.toLowerCase());
    if (link === undefined) throw notFound();
    return link;
  }

  /**
   * The customer pays the link. `again`: pays an already paid link a second time, from a page left open. Throws 409 if
   * the link has the wrong status. Returns the link with its new payment.
   */
  pay(id: string, names: CaptureNames = 'charge', again = false): Record<string, unknown> {
    const link = this.findAny(id);
    const status = this.statusOf(link);
    if (status !== (again ? 'PAID' : 'PAYABLE')) {
      throw new Refusal(morError(409, 'not_payable', [{ field: 'status', message: `is ${status}` }]));
    }
    const { random, clock } = this.kernel;
    const payment: MorPayment = {
      id: random.id('pay'),
      uuid: random.uuid(),
      kind: 'link',
      merchantInvoiceId: null,
      merchantCustomerId: '',
      morCustomerId: '',
      amount: Number(link.amount.minor),
      currency: link.amount.currency.toLowerCase(),
      status: 'succeeded',
      processorChargeId: random.id('ch'),
      processorPaymentIntentId: random.id('pi'),
      method: 'card',
      paidWith: null,
      failureMessage: null,
      declineCode: null,
      amountRefunded: 0,
      amountReserved: 0,
      taxCalculationId: random.uuid(), // the MoR's own calculation for the page, not one of the merchant's
      createdAtMs: clock.nowMs(),
    };
    if (link.account === 'main') this.mor.payments.set(payment.id, payment); // only this merchant has card payments
    link.paymentIds.push(payment.id);
    link.paidAtMs ??= clock.nowMs();
    const of = { paymentLinkId: link.id, idempotencyKey: link.idempotencyKey };
    this.announceCapture(link.account, payment, of, names);
    this.eInvoices.file(link.account, link.jurisdiction, { type: 'payment', id: payment.uuid });
    return {
      ...this.show(link),
      payment: { id: payment.id, uuid: payment.uuid, psp_reference: payment.processorChargeId },
    };
  }

  /**
   * Sends `payment.captured` (Document 2) with the tax calculation. The document does not show the rest of the payload.
   */
  announceCapture(
    account: Account,
    payment: MorPayment,
    more: Readonly<Record<string, unknown>> = {},
    names: CaptureNames = 'charge',
  ): void {
    const currency = payment.currency.toUpperCase();
    const calculation = payment.taxCalculationId === null ? {} : { taxCalculationId: payment.taxCalculationId };
    this.endpoints.announce(account, eventIdFor('payment.captured', payment.uuid), 'payment.captured', {
      paymentId: payment.uuid,
      ...(namesCharge(names) ? { pspReference: payment.processorChargeId } : {}),
      ...(namesId(names) ? { processorReferences: { payment: payment.id } } : {}),
      status: 'CAPTURED',
      amount: { amount: decimalFromMinor(BigInt(payment.amount), currency), currency },
      capturedAt: this.kernel.clock.nowIso(),
      ...calculation,
      ...more,
    });
  }
}

function readAmount(fields: Fields | undefined): Money {
  if (fields === undefined) return { minor: 0n, currency: '' };
  const amount = fields.decimal('amount');
  const currency = fields.currency('currency');
  if (amount.digits <= 0n) fields.problem('amount', 'must be above 0');
  else if (currency !== '' && !isExactIn(amount, currency))
    fields.problem('amount', `has more decimals than ${currency}`);
  return { minor: currency === '' ? 0n : minorOf(amount, 1n, currency), currency };
}

export function addPaymentLinks(kernel: Kernel, mor: MorState, links: PaymentLinks): void {
  const route = merchantRoutes(kernel, mor);
  const create = '/api/payment-links';
  route(
    'POST',
    create,
    ({ account, body }) => {
      const { status, link } = links.create(account, body);
      return { status, body: links.show(link) };
    },
    'validation_error',
  );
  route('GET', `${create}/:id`, ({ account, request }) => ({
    status: 200,
    body: links.show(links.find(account, request.params['id'] ?? '')),
  }));
  // Shows the hosted page. A program gets JSON with the control route that plays the customer.
  kernel.mor.add('GET', '/pay/:id', ({ params, headers }) => {
    const id = params['id'] ?? '';
    if (headers['accept']?.includes('text/html') !== true)
      return { status: 200, body: { ...links.page(id), pay: `POST /_sandbox/payment-links/${id}/pay` } };
    return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: links.htmlPage(id) };
  });
  const about = `the customer pays at the link: {names?: ${CAPTURE_NAMES.join('|')}, again?: boolean}`;
  kernel.control('POST', '/_sandbox/payment-links/:id/pay', about, (request) => {
    const fields = new ControlFields(request.body);
    const names = fields.has('names') ? fields.oneOf('names', CAPTURE_NAMES) : 'charge';
    return { status: 200, body: links.pay(request.params['id'] ?? '', names, fields.optionalBoolean('again')) };
  });
}
