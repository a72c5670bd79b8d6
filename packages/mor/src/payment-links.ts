// Document 2: hosted pages for one payment of a customer.
import { type Outcome, type WireRequest } from './outcome.js';
import { decimalFromMinor, MAX_MINOR, type Money } from './money.js';
import { Fields, parseMoney, parseText } from './read.js';
import { type MorTransport } from './transport.js';
import { segment, wireGet, wireWith } from './wire.js';

const PATH = '/api/payment-links';

export type PaymentLink = {
  readonly paymentLinkId: string;
  readonly url: string;
  /** `PAYABLE`, `PAID`, `EXPIRED` (Document 2), or another word of the MoR. */
  readonly status: string;
  /** The amount of the link. Null: the answer left it out. */
  readonly pricedAmount: Money | null;
  /** The amount still unpaid. Null: the answer left it out. */
  readonly amountDue: Money | null;
  readonly expiresAt: Date | null;
};

export function parsePaymentLink(value: unknown): PaymentLink {
  const fields = new Fields(value);
  return {
    paymentLinkId: fields.id('paymentLinkId'),
    url: fields.must('url', parseText),
    status: fields.id('status'),
    pricedAmount: fields.may('pricedAmount', parseMoney),
    amountDue: fields.may('amountDue', parseMoney),
    expiresAt: fields.timeOrNull('expiresAt'),
  };
}

export type PaymentLinkRequest = {
  /** ISO 3166-1 alpha-2. */
  readonly jurisdiction: string;
  readonly amount: Money;
  readonly returnUrl: string;
  /** A field of the body, not a header. A used key returns the existing link. */
  readonly idempotencyKey: string;
  /** Seconds. Default: 604,800 (a week). */
  readonly expiresIn?: number;
};

/** The request in Document 2's own fields, for `paymentLinkRequest.check`. */
export function paymentLinkBody({ amount, ...request }: PaymentLinkRequest) {
  const { minor, currency } = amount;
  return { ...request, amount: { amount: decimalFromMinor(minor, currency), currency } };
}

export function encodePaymentLink(request: PaymentLinkRequest): WireRequest {
  const { minor } = request.amount;
  if (minor < 1n || minor > MAX_MINOR) throw new RangeError('an amount must be 1 to 2^53 - 1');
  return wireWith('POST', PATH, paymentLinkBody(request));
}

export class PaymentLinks {
  constructor(private readonly transport: MorTransport) {}

  create(request: PaymentLinkRequest): Promise<Outcome<PaymentLink>> {
    return this.sendCreate(encodePaymentLink(request));
  }

  /** A used key returns the existing link. */
  sendCreate(wire: WireRequest): Promise<Outcome<PaymentLink>> {
    return this.transport.call(wire, { name: 'payment_link.create', accept: ({ body }) => parsePaymentLink(body) });
  }

  read(id: string): Promise<Outcome<PaymentLink>> {
    return this.transport.call(wireGet(`${PATH}/${segment(id)}`), {
      name: 'payment_link.read',
      accept: ({ body }) => parsePaymentLink(body),
    });
  }
}
