// Sorts declines by the processor's code: either the same payment method may work later, or the customer must act.
// docs/retries.md names the sources too.
import { type RefusalKind } from './retry.js';

/**
 * After these codes Stripe does not charge the same payment method again ("Automate payment retries", "Non-retryable
 * decline codes"). Stripe also lists `authentication_required`; Crossbill has a separate kind for that code.
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
 * More codes from Stripe's "Decline codes". The same card cannot work after them: the account is closed or never
 * existed (Visa's category 1, "never approve"), the card is expired or does not allow this kind of payment, or the
 * issuer forbids another try.
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
 * Codes of bank debits (Stripe, "Blocked bank accounts", and the return codes of ACH, SEPA, Bacs and BECS): the account
 * is gone, or its owner did not agree. Another debit without a new mandate breaks the rules of the schemes.
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

/** The customer must confirm the payment (Stripe, "Decline codes"). */
const AUTHENTICATION = new Set(['authentication_required', 'authentication_not_handled', 'mandate_required']);

/**
 * Finds the kind of a refusal. A code outside these lists is soft: card networks allow another try unless they say
 * otherwise, and the retry schedule ends anyway.
 */
export function findRefusalKind(outcome: 'failed' | 'requires_action', code: string | null): RefusalKind {
  const known = code?.trim().toLowerCase() ?? '';
  if (HARD.has(known)) return 'hard';
  return outcome === 'requires_action' || AUTHENTICATION.has(known) ? 'authentication' : 'soft';
}
