// The request for a hosted payment link (Document 2, POST /api/payment-links).
import { type Checked, checkRequest } from './check.js';
import { About, Country, Currency, Filled, Nested, Optional, PositiveDecimalText, WholeNumber } from './rules.js';

export class PaymentLinkAmount {
  @PositiveDecimalText() amount!: string;
  @Currency() currency!: string;
}

export class PaymentLinkRequest {
  @Country() jurisdiction!: string;
  @Nested(() => PaymentLinkAmount) amount!: PaymentLinkAmount;
  @Filled(2048) returnUrl!: string;
  @About('In the body, not a header; used again it gives the existing link.')
  @Filled(255)
  idempotencyKey!: string;
  @About('Seconds; left out: 604,800 (a week).')
  @Optional()
  @WholeNumber(1, 31_536_000)
  expiresIn?: number;
}

export function checkPaymentLink(body: unknown): Checked<PaymentLinkRequest> {
  return checkRequest(PaymentLinkRequest, body, 'validation_error');
}
