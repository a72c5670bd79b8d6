// The sentences of items about a charge claimed by two invoices.
import { type Words } from '../../domain/fact.js';
import { showMoney } from '../../domain/money.js';

export const chargeWords: Words<'charge-elsewhere'> = {
  'charge-elsewhere': (f) => ({
    summary: `payment ${f.payment} of ${showMoney(f.amount)} for this invoice names charge ${f.charge ?? ''}, which is booked for payment ${f.holder} of invoice ${f.holderInvoice}`,
    proposal:
      'Ask the MoR which invoice the charge paid. Nothing is booked or marked here. If it paid the other, dismiss this, then have the MoR charge this invoice, or collect it another way: Crossbill charges nobody for it. If it paid this one, mark it on Stripe by hand and credit the other, then dismiss this.',
  }),
};
