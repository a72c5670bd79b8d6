// The sentences of items about a charge that two invoices claim.
import { type Words } from '../../domain/fact.js';
import { showMoney } from '../../domain/money.js';
import { showIso } from '../../domain/show-time.js';

export const chargeWords: Words<'charge-elsewhere' | 'charge-corrected'> = {
  'charge-elsewhere': (f) => ({
    summary: `payment ${f.payment} of ${showMoney(f.amount)} for this invoice names charge ${f.charge ?? ''}, which is booked for payment ${f.holder} of invoice ${f.holderInvoice}${f.againAfter === null ? '' : `; the MoR says so again, after ${showIso(f.againAfter)}`}`,
    proposal:
      'Ask the MoR which invoice the charge paid. Nothing is booked or marked here. Dismiss it if the other invoice is the right one; if this one is, first mark it on Stripe by hand and credit the other, then dismiss it.',
  }),
  'charge-corrected': (f) => ({
    summary: `payment ${f.payment} for this invoice named a charge of another invoice; the MoR names charge ${f.charge ?? ''} now, which is booked here`,
    proposal: 'Dismiss this: the payment is marked on Stripe then, unless you have marked the invoice by hand.',
  }),
};
