// A notification as stored: its id, its body, its tries.
import { never } from '../../../../support/never.js';
import { expect, it } from '@jest/globals';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { putDown, putDownStep } from '../../../../../src/features/notifications/rules/all.js';
import { notificationId } from '../../../../../src/features/notifications/rules/put-down.js';
import { retryInMs, WAITS_MS } from '../../../../../src/features/notifications/rules/retry.js';
import { tellStep } from '../../../../support/builders/tell-step.js';
import { INVOICE_ID } from '../../../../support/builders/events.js';
import { paid as paidLane } from '../../../../support/builders/paid-lane.js';
import { SLACK, STANDARD } from '../../../../support/builders/notify-as.js';

const NOW = new Date('2026-11-22T09:00:00Z');
const paid = await (await paidLane()).state(INVOICE_ID);
const invoice = paid.invoice;
if (invoice === null) throw new Error('the lane has an invoice');
const open: LaneState = { ...paid, invoice: { ...invoice, status: 'open' }, payments: [] };

it('an unchanged lane makes no notification', () => {
  expect(tellStep(paid, paid)).toEqual([]);
  expect(putDownStep(paid, paid, STANDARD, NOW)).toEqual({ after: paid, notified: [] });
});

it('a paid invoice makes an invoice.paid notification and a line in the timeline', () => {
  const { notified, after } = putDownStep(open, paid, STANDARD, NOW);
  expect(notified.map((t) => t.type)).toContain('invoice.paid');
  expect(after.journal.map((l) => l.text)).toContain('your backend is notified: invoice.paid');
});

const [notice = never()] = tellStep(open, paid);

it("a notification's id depends only on its type and on the object behind it, so a restored database makes the same id", () => {
  expect(putDown(notice, STANDARD, NOW).id).toBe(putDown(notice, STANDARD, new Date(0)).id);
  expect(notificationId('invoice.paid', 'in_1')).not.toBe(notificationId('invoice.paid', 'in_2'));
  expect(notificationId('invoice.paid', 'in_1')).toMatch(/^msg_[0-9a-f]{32}$/);
});

it("a Slack notification is one line and escapes Slack's markup", () => {
  const text = (JSON.parse(putDown(notice, SLACK, NOW).body) as { text: string }).text;
  expect(text).toContain(`Invoice ${invoice.invoiceId} is paid (10.00 EUR)`);
  const link = {
    type: 'payment_link.created',
    subject: 'x',
    data: {
      payment_link_id: 'pl',
      invoice_id: '<!channel>',
      customer_id: null,
      subscription_id: null,
      url: 'https://p.example/?a=1&b=2',
      amount: null,
      currency: null,
      expires_at: null,
      automatic: false,
      console: '',
    },
  } as const;
  expect(putDown(link, SLACK, NOW).body).toContain('&lt;!channel&gt;');
  expect(putDown(link, SLACK, NOW).body).toContain('a=1&amp;b=2');
});

it('a notification has ten tries, 5 seconds to 24 hours apart, and waits as long as the receiver asks', () => {
  expect([WAITS_MS[0], WAITS_MS.at(-1)]).toEqual([5_000, 24 * 3_600_000]);
  expect(WAITS_MS.every((ms, i) => i === 0 || ms > (WAITS_MS[i - 1] ?? Infinity))).toBe(true);
  expect(retryInMs(1, null, 0)).toBe(5_000);
  expect(retryInMs(1, 60_000, 0.5)).toBe(60_000);
  expect(retryInMs(9, null, 1)).toBe(95_040_000);
  expect(retryInMs(10, null, 0)).toBeNull();
});
