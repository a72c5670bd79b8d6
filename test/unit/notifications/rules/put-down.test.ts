// Which notifications a step of a lane makes: found by comparing the lane before and after it.
import { expect, it } from '@jest/globals';
import { type AttemptRow, type LaneState } from '../../../../src/domain/model.js';
import { newMorObject } from '../../../../src/domain/mor-object.js';
import { type ConfirmedMethod, type RetryTrail } from '../../../../src/domain/retry.js';
import { notificationId, putDown, putDownStep } from '../../../../src/notifications/rules/put-down.js';
import { retryInMs, WAITS_MS } from '../../../../src/notifications/rules/retry.js';
import { tellLane } from '../../../../src/notifications/rules/tell-lane.js';
import { findRefusalKind } from '../../../../src/domain/decline-kind.js';
import { INVOICE_ID } from '../../../support/builders.js';
import { paid as paidLane } from '../../../support/paid-lane.js';

const NOW = new Date('2026-11-22T09:00:00Z');
const paid = await (await paidLane()).state(INVOICE_ID);
const invoice = paid.invoice;
if (invoice === null) throw new Error('the lane has an invoice');
const [payment] = paid.payments;
if (payment === undefined) throw new Error('the lane has a payment');
const open: LaneState = { ...paid, invoice: { ...invoice, status: 'open' }, payments: [] };

const attempt = (over: Partial<AttemptRow> = {}): AttemptRow => ({
  eventId: 'evt_1',
  invoiceId: invoice.invoiceId,
  paymentId: 'pay_other',
  outcome: 'failed',
  amount: 2990n,
  currency: 'EUR',
  failureMessage: 'Ada Example has no money',
  declineCode: 'insufficient_funds',
  processorPaymentIntentId: 'pi_1',
  at: NOW,
  ...over,
});

it('a step without news makes no notification', () => {
  expect(tellLane(paid, paid)).toEqual([]);
  expect(putDownStep(paid, paid, 'standard', NOW)).toEqual({ after: paid, told: [] });
});

it('a paid invoice makes one notification with its payments, and a line in the timeline', () => {
  const { told, after } = putDownStep(open, paid, 'standard', NOW);
  expect(told.map((t) => t.type)).toContain('invoice.paid');
  expect(after.journal.map((l) => l.text)).toContain('your backend is notified: invoice.paid');
  const [first] = tellLane(open, paid);
  expect(first).toMatchObject({ type: 'invoice.paid', subject: invoice.invoiceId });
});

it('a refusal makes invoice.left_open with its decline code and no other words', () => {
  const told = tellLane(open, { ...open, attempts: [attempt()] });
  expect(told).toMatchObject([
    { type: 'invoice.left_open', data: { why: 'payment_failed', decline_code: 'insufficient_funds' } },
  ]);
  expect(JSON.stringify(told)).not.toContain('Ada');
});

const declined = (code: string, over: Partial<RetryTrail['refusal']> = {}): RetryTrail => {
  const kind = findRefusalKind('failed', code);
  const [at, heardAt] = [NOW.toISOString(), NOW.toISOString()];
  const refusal = { at, heardAt, eventId: 'evt_1', outcome: 'failed', kind, code, ...over } as const;
  return { refusal, retries: [], waitingSince: null, askedAt: null, ended: null };
};
const refusedLane = (retries: RetryTrail, method: ConfirmedMethod | null = null): LaneState => ({
  ...open,
  invoice: { ...invoice, status: 'open', retries, method },
  attempts: [attempt({ declineCode: retries.refusal.code })],
});

it('a hard decline asks for another payment method, with code, message, invoice, customer and amount', () => {
  const told = tellLane(open, refusedLane(declined('expired_card')));
  expect(told.map((t) => t.type)).toEqual(['invoice.left_open', 'customer.method_needed']);
  expect(told[1]).toMatchObject({
    subject: `${invoice.invoiceId}:attempt:evt_1`,
    data: {
      ...{ invoice_id: invoice.invoiceId, customer_id: invoice.customerId, payment_id: 'pay_other', amount: 2990 },
      ...{ decline_code: 'expired_card', failure_message: 'Ada Example has no money' },
    },
  });
});

it('a soft decline, or a hard one before the newest refusal, asks for no other payment method', () => {
  for (const trail of [declined('insufficient_funds'), declined('expired_card', { eventId: 'evt_2' })])
    expect(tellLane(open, refusedLane(trail)).map((t) => t.type)).toEqual(['invoice.left_open']);
});

it('a hard decline of the old method asks for no third one while the confirmed one is untried', () => {
  const method = { id: 'met_1', at: new Date(invoice.firstSeenAt.getTime() + 1).toISOString(), by: 'shop' };
  expect(tellLane(open, refusedLane(declined('expired_card'), method)).map((t) => t.type)).toEqual([
    'invoice.left_open',
  ]);
});

it('a refusal after the money makes no notification', () => {
  expect(tellLane(paid, { ...paid, attempts: [attempt()] })).toEqual([]);
  const held: LaneState = { ...open, invoice: { ...invoice, status: 'held' } };
  expect(tellLane(held, { ...held, attempts: [attempt()] })).toEqual([]);
  const same = { ...open, payments: [{ ...payment, paymentId: 'pay_other' }] };
  expect(tellLane(same, { ...same, attempts: [attempt()] })).toEqual([]);
});

it('a payment link makes a notification once it has an address', () => {
  const link = newMorObject(NOW, {
    id: 'lnk_1',
    kind: 'payment_link',
    invoiceId: invoice.invoiceId,
    status: 'REQUESTED',
    amount: 2990n,
    currency: 'EUR',
  });
  const asked: LaneState = { ...open, objects: [link] };
  expect(tellLane(open, asked)).toEqual([]);
  const made: LaneState = {
    ...open,
    objects: [{ ...link, morId: 'pl_1', url: 'https://pay.example/pl_1', status: 'PAYABLE' }],
  };
  expect(tellLane(asked, made)).toMatchObject([
    {
      type: 'payment_link.created',
      subject: 'pl_1',
      data: { url: 'https://pay.example/pl_1', amount: 2990, currency: 'eur' },
    },
  ]);
  expect(tellLane(made, { ...made, objects: made.objects.map((o) => ({ ...o, status: 'EXPIRED' })) })).toEqual([]);
});

const [told] = tellLane(open, paid);
if (told === undefined) throw new Error('nothing is told');

it('a notification’s id comes from its event, so a restored backup gives the same one', () => {
  expect(putDown(told, 'standard', NOW).id).toBe(putDown(told, 'standard', new Date(0)).id);
  expect(notificationId('invoice.paid', 'in_1')).not.toBe(notificationId('invoice.paid', 'in_2'));
  expect(notificationId('invoice.paid', 'in_1')).toMatch(/^msg_[0-9a-f]{32}$/);
});

it('a Slack notification is one line and escapes Slack’s markup', () => {
  const text = (JSON.parse(putDown(told, 'slack', NOW).body) as { text: string }).text;
  expect(text).toContain(`Invoice ${invoice.invoiceId} is paid (10.00 EUR)`);
  const link = {
    type: 'payment_link.created',
    subject: 'x',
    data: {
      payment_link_id: 'pl',
      invoice_id: '<!channel>',
      customer_id: null,
      url: 'https://p.example/?a=1&b=2',
      amount: null,
      currency: null,
      expires_at: null,
      automatic: false,
      console: '',
    },
  } as const;
  expect(putDown(link, 'slack', NOW).body).toContain('&lt;!channel&gt;');
  expect(putDown(link, 'slack', NOW).body).toContain('a=1&amp;b=2');
});

it('a notification gets ten tries, from 5 seconds to 24 hours apart, and waits as long as the receiver asks', () => {
  expect([WAITS_MS[0], WAITS_MS.at(-1)]).toEqual([5_000, 24 * 3_600_000]);
  expect(WAITS_MS.every((ms, i) => i === 0 || ms > (WAITS_MS[i - 1] ?? Infinity))).toBe(true);
  expect(retryInMs(1, null, 0)).toBe(5_000);
  expect(retryInMs(1, 60_000, 0.5)).toBe(60_000);
  expect(retryInMs(9, null, 1)).toBe(95_040_000);
  expect(retryInMs(10, null, 0)).toBeNull();
});
