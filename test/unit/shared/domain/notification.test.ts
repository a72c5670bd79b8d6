// A notification in one line for people, and as it is written down: what it says of each thing that happened.
import { expect, it } from '@jest/globals';
import {
  NOTIFICATIONS,
  NOTIFICATION_TYPES,
  sampleOf,
  putDown,
} from '../../../../src/features/notifications/rules/all.js';
import { inWords } from '../../../../src/features/notifications/rules/in-words.js';
import { type NotificationType, type Notice } from '../../../../src/shared/domain/notification.js';
import { retryInMs } from '../../../../src/features/notifications/rules/retry.js';
import { SLACK, STANDARD } from '../../../support/builders/notify-as.js';

const NOW = new Date('2026-11-22T09:00:00Z');
/** A sample of the type in words, with other facts. */
const said = (type: NotificationType, over: object = {}): string => {
  const sample = sampleOf(type, 'x');
  return inWords(NOTIFICATIONS, { ...sample, data: { ...sample.data, ...over } }, null);
};
const INVOICE = 'See /console/invoices/in_sample in the console.';
const REVIEW = 'See /console/reviews/rev_sample in the console.';

it.each([
  ['invoice.paid', `Invoice in_sample is paid (29.90 EUR). ${INVOICE}`],
  [
    'invoice.left_open',
    `Invoice in_sample (29.90 EUR) is left open: the payment failed (insufficient_funds). ${INVOICE}`,
  ],
  [
    'invoice.action_required',
    `Invoice in_sample (29.90 EUR) waits for its customer to authenticate the payment. ${INVOICE}`,
  ],
  ['payment_link.created', 'Invoice in_sample has a payment link of 29.90 EUR: https://pay.example/pl_sample'],
  ['refund.succeeded', 'Refund ref_sample of 5.00 EUR succeeded. See /console/refunds/ref_sample in the console.'],
  [
    'refund.failed',
    'Refund ref_sample of 5.00 EUR failed (refund_declined). See /console/refunds/ref_sample in the console.',
  ],
  [
    'dispute.opened',
    'A bank disputes payment pay_sample of 29.90 EUR (invoice in_sample, customer cus_sample). The evidence is due by 2026-12-01T12:00:00.000Z. See /console/disputes/obj_sample in the console.',
  ],
  [
    'dispute.closed',
    'The dispute about payment pay_sample of 29.90 EUR (invoice in_sample, customer cus_sample) is lost. See /console/disputes/obj_sample in the console.',
  ],
  [
    'debit.returned',
    `A bank returned the debit of payment pay_sample: 29.90 EUR (invoice in_sample, customer cus_sample). ${INVOICE}`,
  ],
  ['signup.completed', `Customer cus_sample has signed up and paid 29.90 EUR (invoice in_sample). ${INVOICE}`],
  ['review.opened', `A review item waits for a person: dispute, invoice in_sample. ${REVIEW}`],
  ['review.due_soon', `A review item is due by 2026-12-01T12:00:00.000Z: dispute, invoice in_sample. ${REVIEW}`],
  [
    'webhooks.refusing',
    'The webhook endpoint mor_payments refuses deliveries: signature_mismatch (1 since 2026-11-22T09:00:00.000Z). Compare MOR_PAYMENT_WEBHOOK_SECRETS with the secret at the sender. If they agree, a proxy changes the body, or a stranger sends it. See /console/deliveries in the console.',
  ],
] as const)('the notification %s says in one sentence what happened, to what, and where to look', (type, sentence) => {
  expect(said(type)).toBe(sentence);
});

it('the notification of `crossbill verify` counts the differences', () => {
  expect(said('verify.differences', { differences: 4 })).toBe(
    'Verify found 4 differences without an open review item. See /console/verify in the console.',
  );
  expect(said('verify.differences', { differences: 1 })).toMatch(/^Verify found 1 difference without an open /);
});

it('the notification of an open invoice gives the reason in plain words', () => {
  const why = (over: object): string => / is left open: (.*)\. See/.exec(said('invoice.left_open', over))?.[1] ?? '';
  expect(why({ decline_code: null })).toBe('the payment failed');
  expect(why({ why: 'no_verdict' })).toBe('the Merchant of Record has not said whether it was paid');
  expect(why({ why: 'review' })).toBe('its payment waits for a person');
});

it('a notification calls an unknown amount or deadline unknown, and leaves out an unknown code or invoice', () => {
  for (const over of [{ amount_due: null }, { currency: null }]) {
    expect(said('invoice.paid', over)).toContain('is paid (amount not known). ');
  }
  expect(said('invoice.paid', { amount_due: 0 })).toContain('is paid (0.00 EUR). ');
  expect(said('refund.failed', { failure_code: null })).toContain('of 5.00 EUR failed. See');
  const unknown = { payment_id: null, amount: null, customer_id: null, due_at: null };
  expect(said('dispute.opened', unknown)).toContain('a payment of amount not known (invoice in_sample). See');
  expect(said('debit.returned', { status: 'undone' })).toContain('recorded by mistake');
  expect(said('review.opened', { invoice_id: null })).toContain('a person: dispute. See');
  expect(said('review.due_soon', { due_at: null })).toContain('is due by an unknown time: dispute');
});

it('a notification spells out the kind of a review item, and writes amounts with their currency’s decimals', () => {
  expect(said('review.opened', { kind: 'double_charge_risk' })).toContain(': double charge risk, invoice');
  expect(said('invoice.paid', { amount_due: 500, currency: 'jpy' })).toContain('(500 JPY)');
  expect(said('invoice.paid', { amount_due: 1500, currency: 'kwd' })).toContain('(1.500 KWD)');
});

it.each(NOTIFICATION_TYPES)('the sentence of the notification %s is plain ASCII', (type) => {
  expect(said(type)).toMatch(/^[\x20-\x7e]+$/);
});

it('a notification for Slack escapes all markup in its facts', () => {
  expect(said('invoice.paid', { invoice_id: '<!channel> & <@U1> &' })).toContain(
    'Invoice &lt;!channel&gt; &amp; &lt;@U1&gt; &amp; is paid',
  );
});

it.each(NOTIFICATION_TYPES)('the notification %s has its type, time and facts in the receiver’s format', (type) => {
  const notice = sampleOf(type, 'x');
  const invoiceId = ['verify.differences', 'webhooks.refusing'].includes(type) ? null : 'in_sample';
  const standard = putDown(notice, STANDARD, NOW);
  expect(standard).toMatchObject({ type, subject: 'x', format: 'standard', at: NOW, invoiceId });
  expect(JSON.parse(standard.body)).toEqual({ type, timestamp: NOW.toISOString(), data: notice.data });
  const slack = putDown(notice, SLACK, NOW);
  expect(slack).toMatchObject({ id: standard.id, format: 'slack', invoiceId });
  expect(JSON.parse(slack.body)).toEqual({ text: inWords(NOTIFICATIONS, notice, null) });
});

it('a Slack notification has a whole link into the console if CONSOLE_URL is set, and the path alone if it is not', () => {
  for (const type of NOTIFICATION_TYPES) {
    const notice = sampleOf(type, 'x');
    const at = (consoleUrl: string | null): string => putDown(notice, { ...SLACK, consoleUrl }, NOW).body;
    if (type === 'payment_link.created') continue; // it has the link's own address
    expect(at('https://billing.example.com')).toContain(` https://billing.example.com${notice.data.console} in the`);
    expect(at(null)).toContain(` ${notice.data.console} in the`);
  }
});

it('notifications of different types or about different objects have different ids', () => {
  const ids = NOTIFICATION_TYPES.flatMap((type) => ['x', 'y'].map((s) => putDown(sampleOf(type, s), SLACK, NOW).id));
  expect(new Set(ids).size).toBe(2 * NOTIFICATION_TYPES.length);
});

it('a notification without an invoice id in its facts belongs to no invoice', () => {
  const notice = sampleOf('review.opened', 'x');
  expect(
    putDown({ ...notice, data: { ...notice.data, invoice_id: null } } as Notice, STANDARD, NOW).invoiceId,
  ).toBeNull();
});

it('a sample notification contains only ids that end in _sample', () => {
  for (const type of NOTIFICATION_TYPES) {
    const { data } = sampleOf(type, 'x');
    for (const [name, value] of Object.entries(data)) {
      if (name.endsWith('_id') && value !== null)
        expect([type, name, value]).toEqual([type, name, expect.stringMatching(/_sample$/)]);
    }
  }
});

it('Crossbill adds up to a tenth to the pause before a retry of a notification, so the retries do not come all at once', () => {
  expect([0, 0.5, 0.99].map((jitter) => retryInMs(2, null, jitter))).toEqual([300_000, 315_000, 329_700]);
  expect(retryInMs(1, null, 0.123_456)).toBe(5_062);
  expect(retryInMs(1, 5_100, 1)).toBe(5_500);
});
