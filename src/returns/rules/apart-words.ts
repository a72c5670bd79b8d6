// What is said of lost money that no mark has joined to its invoice.
import { type Apart } from '../../domain/facts/parts.js';

type Said = { readonly said: string; readonly proposal: string };

export const APART_WORDS: Readonly<Record<NonNullable<Apart>, Said>> = {
  'for-nothing': {
    said: '; that money stands on no invoice',
    proposal:
      'Do not bill the customer for it: it paid for nothing. Settle the item of the payment itself, then dismiss this.',
  },
  'maybe-for-nothing': {
    said: '; no invoice was marked for that money from here',
    proposal:
      'If the invoice was paid with this money (somebody marked it by hand, or the MoR told of one payment twice), bill the customer again or write the loss off. If it was paid twice, do not bill them: they owe nothing. Settle the item of the payment itself, then dismiss this.',
  },
  'not-booked': {
    said: '; whose money that was is not known here, and the loss is not in the ledger',
    proposal:
      "Find the payment in the MoR's dashboard. If its money is in the ledger, book the loss beside it. If an invoice was paid with it, bill the customer again or write the loss off.",
  },
};
