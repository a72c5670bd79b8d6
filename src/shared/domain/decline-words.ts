// Explains to a person why a charge was refused: the processor's decline codes in plain words.
import { type AttemptRow } from './payment-row.js';
import { findRefusalKind } from './decline-kind.js';

/** Codes from Stripe's "Decline codes": the common ones with a more exact reason than "declined". */
const WORDS: Readonly<Record<string, string>> = {
  account_closed: 'the bank account is closed',
  authentication_not_handled: 'the bank wants the customer to authenticate',
  authentication_required: 'the bank wants the customer to authenticate',
  bank_account_restricted: 'the bank account does not allow debits',
  card_not_supported: 'the card does not allow this kind of payment',
  card_velocity_exceeded: 'a limit of the card is reached',
  debit_not_authorized: 'the customer did not allow the debit',
  expired_card: 'the card has expired',
  fraudulent: 'the bank suspects fraud',
  incorrect_cvc: 'the security code of the card is wrong',
  incorrect_number: 'the card number is wrong',
  insufficient_funds: 'there is not enough money in the account',
  invalid_account: 'the card or its account does not exist',
  issuer_not_available: 'the bank could not be reached',
  lost_card: 'the card was reported lost',
  mandate_required: 'the customer has not allowed debits',
  no_account: 'the bank account does not exist',
  processing_error: 'the bank could not process the charge',
  stolen_card: 'the card was reported stolen',
  stop_payment_order: 'the customer told the bank to stop these charges',
  withdrawal_count_limit_exceeded: 'a limit of the account is reached',
};
const NO_REASON = new Set(['card_declined', 'do_not_honor', 'generic_decline', 'no_action_taken']);

/** Returns the reason for a refusal as a part of a sentence, such as "the card has expired". */
export function refusalWords(attempt: Pick<AttemptRow, 'outcome' | 'declineCode' | 'failureMessage'>): string {
  if (attempt.outcome === 'requires_action') return 'the bank wants the customer to authenticate';
  const code = attempt.declineCode?.trim().toLowerCase() ?? '';
  const known = WORDS[code];
  if (known !== undefined) return known;
  if (NO_REASON.has(code)) return 'the bank declined the charge and gave no reason';
  if (code !== '') {
    const hard = findRefusalKind('failed', code) === 'hard' ? 'for good ' : '';
    return `the bank declined the charge ${hard}(${code})`;
  }
  const said = attempt.failureMessage?.trim() ?? '';
  return said === '' ? 'the charge failed' : `the charge failed: "${said}"`;
}
