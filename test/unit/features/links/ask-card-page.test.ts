// The letter that asks a customer for another card.
import { expect, it } from '@jest/globals';
import { letterOf, letterPart } from '../../../../src/features/links/ask-card-page.js';
import { type InvoiceView } from '../../../../src/engine/read-model.js';
import { aLink } from '../../../support/builders/channel-object.js';
import { lane } from '../../../support/builders/waiting-payment.js';

const URL = 'https://pay.example/l/1?a=b&c=d';
const link = aLink({ url: URL, deadline: new Date('2026-12-04T10:00:00Z') });
const invoice = {
  ...(lane().invoice as InvoiceView['invoice']),
  number: 'AB-0007',
  amountRemaining: 4950n,
  currency: 'GBP',
};
const view = {
  ...lane(),
  invoice,
  attempts: [{ outcome: 'failed', declineCode: 'expired_card', failureMessage: null }],
} as unknown as InvoiceView;

it('the letter for another card names the invoice, the amount, the reason, the link and its last day', () => {
  const { subject, text } = letterOf(view, link, 'Grace');
  for (const fact of ['Grace', 'AB-0007', '49.50 GBP', 'expired', URL, '4 Dec 2026']) expect(text).toContain(fact);
  expect(subject).toContain('AB-0007');
});

it('the e-mail’s link keeps every character of letter and address, and an unknown customer leaves the address empty', () => {
  const hrefOf = (customer: Parameters<typeof letterPart>[2]): string =>
    (/href="(mailto:[^"]*)"/.exec(letterPart(view, link, customer).toString())?.[1] ?? '').replaceAll('&amp;', '&');
  const known = hrefOf({ customerId: 'cus_1', name: 'Grace', email: 'grace+1&co@example.com' });
  expect(decodeURIComponent(known.slice('mailto:'.length).split('?')[0] ?? '')).toBe('grace+1&co@example.com');
  expect(new URLSearchParams(known.split('?')[1]).get('body')).toContain(URL);
  expect(hrefOf('unknown')).toMatch(/^mailto:\?subject=/);
  expect(hrefOf(null)).toMatch(/^mailto:\?subject=/);
});
