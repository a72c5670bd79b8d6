// Why nothing is due on an invoice that Stripe shows as paid.
import { expect, it } from '@jest/globals';
import { type InvoiceRow } from '../../../../src/shared/domain/invoice-row.js';
import { whyNothingDue } from '../../../../src/shared/domain/nothing-due.js';
import { lane } from '../../../support/builders/asked-refund.js';
import { never } from '../../../support/never.js';

it.each<[string, Partial<InvoiceRow>, ReturnType<typeof whyNothingDue>]>([
  ['an amount was due', { amountDue: 2990n, amountCredited: 500n }, null],
  ['the amount due is unknown', { amountDue: null }, null],
  ['credit notes take all of it', { amountDue: 0n, amountCredited: 2990n }, 'credited'],
  ['the customer’s balance covers it', { amountDue: 0n, amountCredited: 0n }, 'balance'],
  ['credit notes take a part, and the balance the rest', { amountDue: 0n, amountCredited: 990n }, 'covered'],
  ['Stripe has reported no sum of the notes', { amountDue: 0n, amountCredited: null }, 'covered'],
  ['its total is nothing', { amountDue: 0n, total: 0n }, 'empty'],
  ['its total is below nothing', { amountDue: 0n, total: -500n }, 'empty'],
])('of a paid invoice, if %s, the reason that nothing was due follows from its amounts', (_, over, why) => {
  const { invoice } = lane();
  expect(whyNothingDue({ ...(invoice ?? never()), ...over })).toBe(why);
});
