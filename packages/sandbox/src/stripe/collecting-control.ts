// Control routes for Stripe's own collection: the next attempt, the retry settings, and the outcomes of cards.
import { Fields } from '../kernel/json.js';
import { type CardReply, type Cards, cardReplies } from './cards.js';
import { type Collecting } from './collecting.js';
import { type StripeContext } from './context.js';

export function addCollectingControls({ kernel, state }: StripeContext, collecting: Collecting, cards: Cards): void {
  kernel.control(
    'POST',
    '/_sandbox/stripe/retry',
    'the next attempt for an open invoice now: asks for payment, charges a card, or fails: {invoice}',
    (request) => {
      const fields = new Fields(request.body);
      const invoice = state.invoices.get(fields.string('invoice'));
      if (invoice?.status !== 'open') return fields.refuse('invoice', 'no such open invoice');
      collecting.attempt(invoice);
      return { status: 200, body: state.invoiceBody(invoice) };
    },
  );
  kernel.control(
    'POST',
    '/_sandbox/stripe/retry-settings',
    'the account: {days?: days between attempts, then?: past_due|cancel}',
    (request) => {
      const fields = new Fields(request.body);
      const { settings } = collecting;
      if (fields.has('days')) settings.days = daysOf(fields);
      if (fields.has('then')) settings.then = fields.oneOf('then', ['past_due', 'cancel'] as const);
      return { status: 200, body: settings };
    },
  );
  kernel.control(
    'POST',
    '/_sandbox/stripe/cards',
    `how charges of a card on Stripe itself go: {payment_method, outcome} with one of ${cardReplies.join(', ')}, or a list for the coming charges`,
    (request) => {
      const fields = new Fields(request.body);
      const method = fields.string('payment_method');
      if (!state.paymentMethods.has(method)) return fields.refuse('payment_method', 'no such payment method');
      const outcome = outcomeOf(fields);
      cards.choose(method, outcome);
      return { status: 200, body: { payment_method: method, outcome } };
    },
  );
}

function daysOf(fields: Fields): number[] {
  const given = fields.value['days'];
  if (!Array.isArray(given)) return fields.refuse('days', 'must be a list of days');
  return given.map((day) =>
    typeof day === 'number' && day > 0 && day <= 60 ? day : fields.refuse('days', 'must be numbers from 0 to 60'),
  );
}

function outcomeOf(fields: Fields): CardReply | CardReply[] {
  const given = fields.value['outcome'];
  if (!Array.isArray(given)) return fields.oneOf('outcome', cardReplies);
  return given.map(
    (one) => cardReplies.find((a) => a === one) ?? fields.refuse('outcome', `must be of ${cardReplies.join(', ')}`),
  );
}
