// A signup is compared with its first invoice before the shopper pays.
import { expect, it } from '@jest/globals';
import { type InvoiceStatus } from '../../../../../src/shared/domain/ports/billing-platform.js';
import { money } from '../../../../../src/shared/domain/money.js';
import { dueOf, refuseDifference } from '../../../../../src/core/signups/rules/first-invoice.js';
import { anInvoice, CUSTOMER_ID, INVOICE_ID } from '../../../../support/builders/events.js';
import { eur } from '../../../../support/builders/channel-object.js';

const due = (over: Parameters<typeof anInvoice>[0] = {}, customerId = CUSTOMER_ID) =>
  dueOf(anInvoice(over), customerId);
const refused = (status: number, code: string, field: string) => ({ ok: false, status, code, field });

it.each<InvoiceStatus>(['open', 'draft'])('the sum due on an invoice is what is left of it: %s', (status) => {
  expect(due({ status, amountDue: 2990n })).toEqual({ ok: true, value: eur(2990n) });
  expect(due({ status, amountDue: 2990n, amountPaid: 990n })).toEqual({ ok: true, value: eur(2000n) });
});

it.each<InvoiceStatus>(['paid', 'void', 'uncollectible'])('no signup can pay an invoice that is %s', (status) => {
  expect(due({ status })).toMatchObject(refused(409, 'invoice_not_payable', 'invoice_id'));
});

it("nothing due, another customer's invoice and an unknown invoice are refused, each with its own code", () => {
  expect(due({ amountDue: 0n })).toMatchObject(refused(409, 'invoice_not_payable', 'invoice_id'));
  expect(due({}, 'cus_elm')).toMatchObject(refused(409, 'customer_differs', 'customer.id'));
  expect(dueOf(null, CUSTOMER_ID)).toMatchObject(refused(404, 'not_found', 'invoice_id'));
  expect(due({ status: 'deleted' })).toMatchObject(refused(404, 'not_found', 'invoice_id'));
});

it('the customer is compared before the status, so nobody learns the status of another customer’s invoice', () => {
  expect(due({ status: 'paid' }, 'cus_elm')).toMatchObject(refused(409, 'customer_differs', 'customer.id'));
});

it('a sum other than the invoice’s is refused with both sums, and so is the same number in another currency', () => {
  expect(refuseDifference(INVOICE_ID, eur(2990n), eur(2990n), 'amount')).toBeNull();
  const differs = refuseDifference(INVOICE_ID, eur(3558n), eur(2990n), 'tax');
  expect(differs).toMatchObject(refused(409, 'amount_differs_from_invoice', 'tax'));
  expect(differs?.message).toMatch(/35\.58 EUR.*29\.90 EUR/);
  const yen = refuseDifference(INVOICE_ID, money(2990n, 'jpy'), eur(2990n), 'amount');
  expect(yen?.message).toMatch(/2990 JPY.*29\.90 EUR/);
});
