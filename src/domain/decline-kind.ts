// Declines by the processor's code: does the same method have a chance, or must the customer act? docs/retries.md names the sources too.
import { type RefusalKind } from './retry.js';

/**
 * Stripe, "Automate payment retries", "Non-retryable decline codes": Stripe itself does not charge again after these
 * before there is another payment method. `authentication_required` is in this list as well; it has its own kind here.
 */
const NOT_RETRIED_BY_STRIPE = [
  'incorrect_number',
  'lost_card',
  'pickup_card',
  'stolen_card',
  'revocation_of_authorization',
  'revocation_of_all_authorizations',
  'highest_risk_level',
  'transaction_not_allowed',
];

/**
 * Further codes of Stripe's "Decline codes" without a way back for the same card: the account is closed or never was
 * (Visa's category 1, "never approve"), the card is expired or does not do this kind of payment, or the issuer forbids
 * another try.
 */
const NEEDS_ANOTHER_CARD = [
  'card_not_supported',
  'currency_not_supported',
  'do_not_try_again',
  'expired_card',
  'fraudulent',
  'invalid_account',
  'invalid_expiry_month',
  'invalid_expiry_year',
  'invalid_number',
  'merchant_blacklist',
  'no_payment_method',
  'restricted_card',
  'stop_payment_order',
];

/**
 * Bank debits (Stripe, "Blocked bank accounts" and the return codes of ACH, SEPA, Bacs and BECS): the account is gone, or its owner did
 * not agree. Debiting it again without a new mandate breaks the schemes' rules.
 */
const NEEDS_ANOTHER_ACCOUNT = [
  'account_closed',
  'bank_account_restricted',
  'bank_ownership_changed',
  'debit_not_authorized',
  'invalid_account_number',
  'no_account',
];

const HARD = new Set([...NOT_RETRIED_BY_STRIPE, ...NEEDS_ANOTHER_CARD, ...NEEDS_ANOTHER_ACCOUNT]);

/** The customer must confirm: Stripe, "Decline codes". */
const AUTHENTICATION = new Set(['authentication_required', 'authentication_not_handled', 'mandate_required']);

/** An unlisted code is soft: networks allow another try unless they say otherwise, and the schedule has an end. */
export function findRefusalKind(outcome: 'failed' | 'requires_action', code: string | null): RefusalKind {
  const known = code?.trim().toLowerCase() ?? '';
  if (HARD.has(known)) return 'hard';
  return outcome === 'requires_action' || AUTHENTICATION.has(known) ? 'authentication' : 'soft';
}
