// Document 2: hosted pages on which a customer pays once.
import { Injectable } from '@nestjs/common';
import { type CallOutcome, type WireRequest } from '../domain/ports/call.js';
import { type DecimalMoney, Fields, parseDecimalMoney, parseText } from './read.js';
import { type PaymentLinkRequest } from './requests/payment-link.js';
import { MorTransport } from './transport.js';
import { segment, wireGet, wireWith } from './wire.js';

const PATH = '/api/payment-links';

export type PaymentLink = {
  readonly paymentLinkId: string;
  readonly url: string;
  /** `PAYABLE`, `PAID`, `EXPIRED` (Document 2) or another word of the MoR. */
  readonly status: string;
  /** The amount the link was made for; null when the answer left it out. */
  readonly pricedAmount: DecimalMoney | null;
  /** Still outstanding; null when the answer left it out. */
  readonly amountDue: DecimalMoney | null;
  readonly expiresAt: Date | null;
};

export function parsePaymentLink(value: unknown): PaymentLink {
  const fields = new Fields(value);
  return {
    paymentLinkId: fields.id('paymentLinkId'),
    url: fields.must('url', parseText),
    status: fields.id('status'),
    pricedAmount: fields.may('pricedAmount', parseDecimalMoney),
    amountDue: fields.may('amountDue', parseDecimalMoney),
    expiresAt: fields.timeOrNull('expiresAt'),
  };
}

/** The idempotency key of a link is a field of its body, not a header. */
export function encodePaymentLink(request: PaymentLinkRequest): WireRequest {
  return wireWith('POST', PATH, request);
}

@Injectable()
export class PaymentLinks {
  constructor(private readonly transport: MorTransport) {}

  /** A key that was used before gives the existing link. */
  sendCreate(wire: WireRequest): Promise<CallOutcome<PaymentLink>> {
    return this.transport.call(wire, { name: 'payment_link.create', accept: ({ body }) => parsePaymentLink(body) });
  }

  read(id: string): Promise<CallOutcome<PaymentLink>> {
    return this.transport.call(wireGet(`${PATH}/${segment(id)}`), {
      name: 'payment_link.read',
      accept: ({ body }) => parsePaymentLink(body),
    });
  }
}
