// The fields of a refused renewal, for the page and the CSV.
import { amountOf, currencyOf, timeOf } from '../../frames/api/http/values.js';
import { field, fields } from '../../frames/console/fields.js';
import { html, type Piece } from '../../frames/console/html.js';
import { time, words } from '../../frames/console/show.js';
import { refusalWords } from '../../shared/domain/decline-words.js';
import { type RetriedInvoice } from './retries.repository.js';

/**
 * One refused renewal, with the API's names for an invoice and its `retries`. `made`: the number of retries sent.
 * @param why why the schedule plans nothing after this kind of refusal; null: it has steps
 */
export function listedRetry({ invoice: i, state }: RetriedInvoice, why: string | null) {
  const { refusal, retries = [], ended } = i.retries ?? {};
  return {
    id: i.invoiceId,
    number: i.number,
    customer_id: i.customerId,
    amount_due: amountOf(i.amountDue),
    amount_remaining: amountOf(i.amountRemaining),
    currency: currencyOf(i.currency),
    state,
    decline_kind: refusal?.kind ?? null,
    decline_code: refusal?.code ?? null,
    refused_at: refusal?.at ?? null,
    made: retries.filter((r) => !r.withdrawn).length,
    next_try_at: timeOf(i.nextTryAt),
    expected_by: timeOf(i.expectedBy),
    ended_at: ended?.at ?? null,
    ended_why: ended?.why ?? null,
    why,
  };
}

type ListedRetry = ReturnType<typeof listedRetry>;

export const retryFields = fields<ListedRetry>({
  id: field.id('Invoice'),
  amount_due: field.money({ label: 'Due', phone: 'lead', link: 'invoices' }),
  currency: field.currency(),
  state: field.status({ label: 'State', phone: 'side' }),
  next_try_at: field.time({ label: 'Next step', phone: 'below', cell: nextOf }),
  customer_id: field.customer({ label: 'Customer', phone: 'below' }),
  decline_kind: field.word({
    label: 'Refusal',
    cell: (r) => html`${words(r.decline_kind ?? '')}${r.decline_code !== null && `: ${reasonOf(r.decline_code)}`}`,
  }),
  refused_at: field.time('Refused at'),
  made: field.count('Retries'),
  number: field.text(),
  amount_remaining: field.money(),
  decline_code: field.word(),
  expected_by: field.time(),
  ended_at: field.time(),
});

const reasonOf = (declineCode: string): string =>
  refusalWords({ outcome: 'failed', declineCode, failureMessage: null });

function nextOf(listedRetry: ListedRetry): Piece {
  const at = (text: string | null, none?: string): Piece => time(text === null ? null : new Date(text), none);
  switch (listedRetry.state) {
    case 'planned':
      return html`next try ${at(listedRetry.next_try_at)}`;
    case 'awaiting_answer':
      return html`answer expected by ${at(listedRetry.expected_by, 'an unknown time')}`;
    case 'payment_link':
      return 'the customer can pay by link';
    case 'ended':
      return html`ended
      ${at(listedRetry.ended_at)}${listedRetry.ended_why !== null && html`: <bdi>${listedRetry.ended_why}</bdi>`}`;
    case 'collected':
      return 'nothing: it is paid';
    case 'not_retried':
      return listedRetry.why === null ? 'nothing planned: its page says why' : `nothing planned: ${listedRetry.why}`;
  }
}
