// Sentences of items about signups.
import { type FactOf, type Sentences, type Words } from '../../shared/domain/fact.js';
import { showMoney } from '../../shared/domain/money.js';
import { showIso } from '../../shared/domain/show-time.js';

export const signupWords: Words<
  | 'completed-otherwise'
  | 'charge-unsettled'
  | 'charge-unconfirmed'
  | 'signup-unpaid'
  | 'first-invoice-unpaid'
  | 'debit-unsettled'
  | 'charge-unknown'
  | 'charge-failed'
> = {
  'completed-otherwise': (f) => ({
    summary: `your site completed signup ${f.signup} with ${showMoney(f.stated)} for charge ${f.charge}, but the signup asked for ${showMoney(f.asked)}`,
    proposal:
      f.failed === null
        ? `Look the charge up at the MoR. If the MoR took ${showMoney(f.asked)}, apply the charge. If your site only sent a wrong amount, complete the signup again.`
        : `The refund of ${showMoney(f.failed.amount)} failed: ${f.failed.said ?? 'no reason given'}. Look the charge up at the MoR. If the MoR took less than the signup asked for, refund the charged amount with crossbill refund --amount, then dismiss this. If it took the right amount, apply the charge.`,
  }),
  'charge-unsettled': (f) =>
    late(
      f,
      `${ofSignup(f)} is not settled (charge ${f.charge ?? ''}, a bank debit on its way since ${showIso(f.since)})`,
    ),
  'charge-unconfirmed': (f) =>
    late(f, `the MoR has not confirmed ${ofSignup(f)} since ${showIso(f.since)} (charge ${f.charge ?? ''})`),
  'signup-unpaid': (f) => ({
    summary: `your site made signup ${f.signup} for customer ${f.customer} at ${showIso(f.since)}, but has not completed it`,
    proposal:
      'Stripe ends an incomplete subscription 23 hours after its start. If the customer paid, complete the signup with the charge id. If not, dismiss this.',
  }),
  'first-invoice-unpaid': (f) => ({
    summary: `nobody charges this first invoice of ${showMoney(f.due)}, open since ${showIso(f.since)}: customer ${f.customer ?? 'unknown'} pays through the MoR, but no signup asks for it`,
    proposal:
      'The MoR does not charge first invoices. Send the customer a payment link or a proforma invoice, or let them sign up on your site. Did you settle it another way? Then dismiss this.',
  }),
  'debit-unsettled': (f) => ({
    summary: `the MoR has known charge ${f.charge ?? ''} since ${showIso(f.since)} but has not settled it`,
    proposal:
      'Ask the MoR what happened to the debit. To wait just as long again, retry. If the MoR has the money, apply the charge. If it does not, dismiss this: the invoice stays as it is.',
  }),
  'charge-unknown': (f) => ({
    summary:
      f.knownSince === null
        ? `the browser sent charge ${f.charge ?? ''} for this invoice, but the MoR does not know the charge`
        : `the MoR no longer knows charge ${f.charge ?? ''}, a bank debit on its way since ${showIso(f.knownSince)}: the debit has probably failed`,
    proposal:
      'Look the charge up at the MoR. If the charge is real, apply it. If not, dismiss this: the invoice stays open.',
  }),
  'charge-failed': (f) => ({
    summary: `the browser sent charge ${f.charge ?? ''} for this invoice, but the MoR says the charge failed: ${f.reason}`,
    proposal: 'The MoR took nothing. Dismiss this: the invoice stays as it is, and the customer must pay another way.',
  }),
};

type Late = FactOf<'charge-unsettled'> | FactOf<'charge-unconfirmed'>;

const ofSignup = ({ amount, signup }: Late): string =>
  `${amount === null ? 'the money' : showMoney(amount)} of signup ${signup ?? ''}`;

function late({ endsAt }: Late, summary: string): Sentences {
  return {
    summary,
    proposal: `At ${showIso(endsAt)} Stripe ends the incomplete subscription and voids its first invoice. Decide before that. You can let it end, and sign the customer up again once the money arrives. Or give the customer a trial now: a subscription without a first payment. If the money settles after the end, an invoice_not_payable item opens.`,
  };
}
