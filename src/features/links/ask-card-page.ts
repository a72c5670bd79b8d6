// The text that asks a customer for another card: to copy, or as an e-mail in the person's own program. Crossbill sends
// nothing to a customer.
import { type FoundCustomer } from '../../frames/console/finder.js';
import { type InvoiceView } from '../../engine/read-model.js';
import { actRow, copyable } from '../../frames/console/acts.js';
import { type Html, html } from '../../frames/console/html.js';
import { day } from '../../frames/console/show.js';
import { refusalWords } from '../../shared/domain/decline-words.js';
import { type MorObjectRow } from '../../shared/domain/mor-object.js';
import { sayMoney } from '../../shared/domain/money.js';

type Letter = { readonly subject: string; readonly text: string };

/** Writes the letter. `name` null: Stripe has no name. */
export function letterOf(
  invoice: Pick<InvoiceView, 'invoice' | 'attempts'>,
  link: MorObjectRow,
  name: string | null,
): Letter {
  const { invoice: i, attempts } = invoice;
  const of = i.number === null ? 'your invoice' : `invoice ${i.number}`;
  const sum =
    i.amountRemaining === null || i.currency === null
      ? 'the amount'
      : sayMoney({ minor: i.amountRemaining, currency: i.currency });
  const refused = attempts.findLast((a) => a.outcome !== 'succeeded');
  const why = refused === undefined ? '' : `: ${refusalWords(refused)}`;
  const until = link.deadline === null ? '' : ` until ${day(link.deadline)}`;
  const lines = [
    name === null ? 'Hello,' : `Hello ${name},`,
    '',
    `we could not collect ${sum} for ${of}${why}.`,
    `Please pay with another card here${until}:`,
    link.url ?? '',
    '',
    'Thank you.',
  ];
  return { subject: `Another card for ${of}`, text: lines.join('\n') };
}

export function letterPart(view: InvoiceView, link: MorObjectRow, customer: FoundCustomer | 'unknown' | null): Html {
  const known = customer === 'unknown' ? null : customer;
  const letter = letterOf(view, link, known?.name ?? null);
  const to = `mailto:${encodeURIComponent(known?.email ?? '')}?subject=${encodeURIComponent(letter.subject)}&body=${encodeURIComponent(letter.text.replaceAll('\n', '\r\n'))}`;
  const path = `/console/invoices/${encodeURIComponent(view.invoice.invoiceId)}`;
  return html`${actRow([
      html`<a class="button first" href="${to}">Write the e-mail</a>`,
      html`<a class="button quiet" href="${path}">Back to the invoice</a>`,
    ])}
    <p class="dim">
      ${known === null || known.email === null ? 'Stripe did not show the customer’s address: fill it in.' : html`To <bdi>${known.email}</bdi>.`}
      Crossbill writes to nobody: the button opens your own e-mail program with this text.
    </p>
    ${inYourShop(view)}
    <pre tabindex="0" role="group" aria-label="The text to send">${letter.text}</pre>
    <p>The link alone: ${copyable(link.url ?? '')}</p>`;
}

/** The other way to another card: the customer confirms it in the merchant's shop. */
export function inYourShop({ invoice: i }: Pick<InvoiceView, 'invoice'>): Html {
  const methods = `/console/customers/${encodeURIComponent(i.customerId ?? '')}#payment-methods`;
  return html`<p class="dim">
    If the customer gives another card in your shop instead, <a href="${methods}">report it</a>, and Crossbill tries the
    charge again.
  </p>`;
}
