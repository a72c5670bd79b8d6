// The closing table of the demo counts each channel from the three sides.
import { expect, it } from '@jest/globals';
import { closingRows } from '../../src/demo/report.js';
import { newTally } from '../../src/demo/story.js';
import { type MutableSides, threeSides } from './sides.js';

function rows(change: (sides: MutableSides) => void): ReadonlyMap<string, string> {
  const sides = threeSides();
  change(sides);
  const tally = { ...newTally(), taxed: 7, documents: 6, eInvoices: 1, disputesWon: 1, disputesLost: 1, merchants: 1 };
  const numbers = { signups: 12, trials: 4, faults: 0, deaths: 0, renewalsMs: 1_000, tally };
  return new Map(closingRows(sides, numbers).map(([label, value, more]) => [label, `${value} ${more}`.trim()]));
}

it("the demo's report counts a transfer as full or partial by the amount due on the invoice", () => {
  const found = rows((s) => {
    const [paid] = s.mor.payments;
    if (paid === undefined) return;
    s.mor.payments.push({ ...paid, id: 'pf_1', kind: 'transfer', invoiceId: 'in_paid', amount: 2900 });
    s.mor.payments.push({ ...paid, id: 'pf_2', kind: 'transfer', invoiceId: 'in_declined', amount: 1000 });
  });
  expect(found.get('Bank transfers')).toBe('2 1 in full, 1 in part');
});

it("the demo's report counts a declined renewal as paid after a payment by link, and no longer as declined", () => {
  const found = rows((s) => {
    const [, declined] = s.mor.payments;
    if (declined === undefined) return;
    s.mor.payments.push({ ...declined, id: 'pay_3', kind: 'link', status: 'succeeded' });
    for (const i of s.stripe.invoices) i.status = 'paid';
  });
  expect(found.get('Payment links')).toBe('1 0 for invoices without a card, 1 for a declined renewal');
  expect(found.get('Renewals paid')).toBe('2 1 at a link');
  expect(found.get('Declined, still open')).toBe('0');
});

it("the demo's report counts signups with tax, documents, disputes and onboarded merchants", () => {
  const found = rows(() => undefined);
  expect(found.get('Signups with tax')).toMatch(/^7 /);
  expect(found.get('Documents fetched')).toBe('7 1 of them an e-invoice');
  expect(found.get('Disputes')).toBe('2 1 won, 1 lost and booked');
  expect(found.get('Merchants onboarded')).toBe('1');
});
