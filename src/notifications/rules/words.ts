// A notification for people, in one line, as an incoming webhook of Slack takes it.
import { money, showMoney } from '../../domain/money.js';
import { type Told } from '../../domain/notification.js';

export function inWords(told: Told): string {
  return escaped(sentence(told));
}

function sentence(told: Told): string {
  const { data: d } = told;
  switch (told.type) {
    case 'invoice.paid':
      return `Invoice ${told.data.invoice_id} is paid (${sum(told.data.amount_due, told.data.currency)}).${see(d)}`;
    case 'invoice.left_open':
      return `Invoice ${told.data.invoice_id} (${sum(told.data.amount_due, told.data.currency)}) is left open: ${why(told.data)}.${see(d)}`;
    case 'invoice.action_required':
      return `Invoice ${told.data.invoice_id} (${sum(told.data.amount_due, told.data.currency)}) waits for its customer to authenticate the payment.${see(d)}`;
    case 'customer.method_needed': {
      const { invoice_id, amount_due, currency, customer_id, decline_code } = told.data;
      return `Customer ${customer_id ?? 'unknown'} needs another payment method: invoice ${invoice_id} (${sum(amount_due, currency)}) was declined for good${decline_code === null ? '' : ` (${decline_code})`}.${see(d)}`;
    }
    case 'payment_link.created':
      return `Invoice ${told.data.invoice_id} has a payment link of ${sum(told.data.amount, told.data.currency)}: ${told.data.url}`;
    case 'refund.succeeded':
      return `Refund ${told.data.refund_id} of ${sum(told.data.amount, told.data.currency)} succeeded.${see(d)}`;
    case 'refund.failed':
      return `Refund ${told.data.refund_id} of ${sum(told.data.amount, told.data.currency)} failed${told.data.failure_code === null ? '' : ` (${told.data.failure_code})`}.${see(d)}`;
    case 'signup.completed':
      return `Customer ${told.data.customer_id} has signed up and paid ${sum(told.data.amount, told.data.currency)} (invoice ${told.data.invoice_id}).${see(d)}`;
    case 'review.opened':
      return `A review item waits for a person: ${plain(told.data.kind)}${of(told.data.invoice_id)}.${see(d)}`;
    case 'review.due_soon':
      return `A review item is due by ${told.data.due_at ?? 'an unknown time'}: ${plain(told.data.kind)}${of(told.data.invoice_id)}.${see(d)}`;
    case 'verify.differences':
      return `Verify found ${told.data.differences === 1 ? '1 difference' : `${told.data.differences} differences`} without an open review item.${see(d)}`;
    case 'webhooks.refusing':
      return `The webhook endpoint ${told.data.endpoint} refuses deliveries: ${told.data.reason} (${told.data.refused} since ${told.data.since}). ${told.data.check}${see(d)}`;
  }
}

function why(d: Extract<Told, { type: 'invoice.left_open' }>['data']): string {
  if (d.why === 'no_verdict') return 'the Merchant of Record has not said whether it was paid';
  if (d.why === 'review') return 'its payment waits for a person';
  return d.decline_code === null ? 'the payment failed' : `the payment failed (${d.decline_code})`;
}

const see = (d: Told['data']): string => ('console' in d ? ` See ${d.console} of the console.` : '');
const of = (invoiceId: string | null): string => (invoiceId === null ? '' : `, invoice ${invoiceId}`);
const plain = (kind: string): string => kind.replaceAll('_', ' ');

function sum(minor: number | null, currency: string | null): string {
  return minor === null || currency === null ? 'amount not known' : showMoney(money(BigInt(minor), currency));
}

/** Slack reads `<…>` as a link or a mention and `&` as an entity ("Formatting text for app surfaces", Escaping text). */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
