// The questions as one text for the MoR's support. They know nothing of Crossbill: it speaks of their events, charges and payments.
import { table } from '../table.js';
import { type Question, type Topic } from './questions.js';

const ASKED: Readonly<Record<Topic, readonly [head: string, question: string]>> = {
  lost_events: [
    'Events we may have missed',
    'Please send these events again, signed with the current time. A line without an event id stands for every event you made in this time.',
  ],
  missing_verdicts: [
    'Invoices without a result',
    'We expected you to charge these invoices, and no payment.* event has arrived. Did you receive invoice.created? Was the customer charged? If so, please send the event again.',
  ],
  unproven_charges: [
    'Charges we cannot confirm',
    'GET /api/payments/invoice?psp_reference=… has not confirmed these charges. Did each succeed, for this amount? For a line without a charge: was the payment intent confirmed, and by which charge?',
  ],
  unknown_refunds: [
    'Refunds without a result',
    'Did each of these refunds take place? Please name its refund id, its id at the processor, its amount and its status. A line without an amount: please list all refunds of the payment.',
  ],
  unnamed_payments: [
    'Payments without a payment id',
    'You took this money. What is your payment id (pay_…) of each? We need it to refund.',
  ],
  ambiguous_money: [
    'Money announced more than once',
    'Which lines of the same invoice are one and the same payment, and which are further money? Please name the payment id and the charge of each.',
  ],
};

/** One sentence when there is nothing to ask. */
export function letter(questions: readonly Question[], clientId: string, now: Date): string {
  if (questions.length === 0) return 'The books have no open question for the MoR.\n';
  const lines = [
    `Open questions about our account, client id ${clientId}, ${now.toISOString().slice(0, 10)}`,
    '',
    'Hello,',
    '',
    'please answer the questions below. All times are UTC. Invoices and customers are named by their ids on our billing platform.',
  ];
  for (const [n, { topic, items, more }] of questions.entries()) {
    const [head, question] = ASKED[topic];
    lines.push('', `${n + 1}. ${head}`, '', question, '', asTable(items).trimEnd());
    if (more) lines.push('There are more. We send the rest once these are answered.');
  }
  return `${lines.join('\n')}\n\nThank you.\n`;
}

/** A column that no line fills is left out. */
function asTable(items: Question['items']): string {
  const names = Object.keys(items[0] ?? {}).filter((name) => items.some((item) => (item[name] ?? null) !== null));
  const rows = items.map((item) => names.map((name) => item[name] ?? '-'));
  return table(
    names.map((name) => name.replaceAll('_', ' ')),
    rows,
  );
}
