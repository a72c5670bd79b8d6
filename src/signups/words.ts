// Sentences of items about signups.
import { type FactOf, type Sentences, type Words } from '../domain/fact.js';
import { showMoney } from '../domain/money.js';
import { showIso } from '../domain/show-time.js';

export const signupWords: Words<
  | 'completed-otherwise'
  | 'charge-unsettled'
  | 'charge-unconfirmed'
  | 'signup-unpaid'
  | 'debit-unsettled'
  | 'charge-unknown'
  | 'charge-failed'
> = {
  'completed-otherwise': (f) => ({
    summary: `signup ${f.signup} was completed with ${showMoney(f.stated)} for charge ${f.charge}; ${showMoney(f.asked)} was asked for`,
    proposal:
      f.failed === null
        ? `Look the charge up at the MoR. Apply it if ${showMoney(f.asked)} was taken; complete the signup again if only the number was wrong.`
        : `The refund of ${showMoney(f.failed.amount)} failed: ${f.failed.said ?? 'no reason given'}. Look the charge up at the MoR. If it took less than was asked for, refund that much with crossbill refund --amount, then dismiss this. Apply it if it took what was asked for.`,
  }),
  'charge-unsettled': (f) =>
    late(
      f,
      `${ofSignup(f)} is not settled (charge ${f.charge ?? ''}, a bank debit on its way since ${showIso(f.since)})`,
    ),
  'charge-unconfirmed': (f) =>
    late(
      f,
      `whether ${ofSignup(f)} was taken is not known: the MoR has not told since ${showIso(f.since)} (charge ${f.charge ?? ''})`,
    ),
  'signup-unpaid': (f) => ({
    summary: `signup ${f.signup} of customer ${f.customer} has no payment since ${f.since}`,
    proposal:
      'Stripe ends an incomplete subscription 23 hours after it was made. If the customer paid, complete the signup with the charge id; if not, dismiss this.',
  }),
  'debit-unsettled': (f) => ({
    summary: `the MoR has known charge ${f.charge ?? ''} since ${showIso(f.since)} but has not settled it`,
    proposal:
      'Ask the MoR what happened to the debit. Retry waits just as long again; apply it if the money is there; dismiss it if not; the invoice then stays as it is.',
  }),
  'charge-unknown': (f) => ({
    summary:
      f.knownSince === null
        ? `the MoR does not know charge ${f.charge ?? ''}, which the browser named for this invoice`
        : `the MoR does not know charge ${f.charge ?? ''} any longer; its money was on the way since ${showIso(f.knownSince)}, so the debit has probably failed`,
    proposal: 'Look the charge up at the MoR. Apply it if it is real; dismiss it if not; the invoice then stays open.',
  }),
  'charge-failed': (f) => ({
    summary: `the MoR says that charge ${f.charge ?? ''}, which the browser named for this invoice, failed: ${f.reason}`,
    proposal: 'Nothing was taken. Dismiss this; the invoice stays as it is and the customer must pay another way.',
  }),
};

type Late = FactOf<'charge-unsettled'> | FactOf<'charge-unconfirmed'>;

const ofSignup = ({ amount, signup }: Late): string =>
  `${amount === null ? 'the money' : showMoney(amount)} of signup ${signup ?? ''}`;

function late({ endsAt }: Late, summary: string): Sentences {
  return {
    summary,
    proposal: `At ${showIso(endsAt)} Stripe ends an incomplete subscription and voids its first invoice. Decide before: let it end and sign the customer up again once the money is there, or give the service meanwhile by a subscription that needs no first payment (a trial). Money that settles after the end becomes an invoice_not_payable item.`,
  };
}
