// The sentence on top of an invoice and of a payment: what it says of each sum, and what it leaves out.
import { expect, it } from '@jest/globals';
import { type AttemptRow, type PaymentRow } from '../../../../src/shared/domain/payment-row.js';
import { type RefundRow } from '../../../../src/shared/domain/refund-row.js';
import { type MorObjectRow } from '../../../../src/shared/domain/mor-object.js';
import { newRefund } from '../../../../src/core/refunds/rules/refund.js';
import { refusalWords } from '../../../../src/shared/domain/decline-words.js';
import { paymentSentence } from '../../../../src/core/payments/payment-sentence.js';
import {
  NOW,
  nov,
  object,
  type Over,
  payment,
  refusal,
  review,
  said,
  trail,
} from '../../../support/builders/answer-facts.js';
import { ctx } from '../../../support/builders/asked-refund.js';

const text = (over: Over): string => said(over)[1];
const refund = (status: RefundRow['status']): RefundRow => ({
  ...newRefund(ctx(), payment({}), { amount: 1_000n, reason: null, origin: 'api' }),
  status,
});
const ON_ITS_WAY = ['requested', 'unknown', 'pending'] as const;
const OVER = ['succeeded', 'failed', 'joined'] as const;
const refusedOnce = { attempts: [refusal(5)] };

const paid = (over: Over = {}) => said({ payments: [payment({})], ...over, invoice: { status: 'paid' } });
const both = (...overs: Partial<PaymentRow>[]) =>
  paid({ payments: overs.map((over, i) => payment({ id: `pmt_${i}`, ...over })) })[1];
const took = 'Paid: the MoR took 29.90 EUR on 5 Nov';

it('the console’s sentence about a paid invoice names the amount and day of each payment, as far as known', () => {
  expect(both({ amount: null })).toBe('Paid: the MoR took an unknown amount on 5 Nov.');
  expect(both({ succeededAt: null })).toBe('Paid: the MoR took 29.90 EUR.');
  expect(both({}, { amount: 1_000n, origin: 'proforma' })).toBe(`${took} and 10.00 EUR on 5 Nov by bank transfer.`);
});

it('the console’s sentence about a paid invoice names the refund of a double payment in a separate clause', () => {
  const second = payment({ id: 'pmt_2', paymentId: 'pay_2', mark: 'closed', amountRefunded: 2_990n });
  const [, text] = said({ invoice: { status: 'paid' }, payments: [payment({}), second] });
  expect(text).toBe('Paid: the MoR took 29.90 EUR on 5 Nov; 29.90 EUR of another payment was refunded.');
});

it('the console’s sentence about a fully refunded invoice ignores an earlier refused payment', () => {
  const refused = payment({ id: 'pmt_0', paymentId: 'pay_0', mark: 'none', status: 'failed', succeededAt: null });
  const [, text] = said({ invoice: { status: 'paid' }, payments: [refused, payment({ amountRefunded: 2_990n })] });
  expect(text).toBe('Paid: the MoR took 29.90 EUR on 5 Nov; all of it was refunded.');
});

it('the console’s sentence about a paid invoice says "all of it was refunded" only if each payment is fully refunded', () => {
  expect(both({ amountRefunded: 2_990n }, { amountRefunded: 2_990n })).toContain('; all of it was refunded.');
  expect(both({ amountRefunded: 2_990n }, {})).toContain('; 29.90 EUR of it was refunded.');
  expect(both({ amountRefunded: 2_990n }, { amountRefunded: 1_000n })).toContain(
    '; 29.90 EUR and 10.00 EUR of it was refunded.',
  );
  expect(both({ amount: null, amountRefunded: 1_000n })).toContain('; 10.00 EUR of it was refunded.');
});

it.each(ON_ITS_WAY)('the console’s sentence about a paid invoice names a refund in the status %s', (status) => {
  expect(paid({ refunds: [refund(status)] })).toEqual(['good', `${took}; a refund of 10.00 EUR is on its way.`]);
});

it.each(OVER)('the console’s sentence about a paid invoice leaves out a refund in the status %s', (status) => {
  expect(paid({ refunds: [refund(status)] })).toEqual(['good', `${took}.`]);
});

it.each<readonly [string, MorObjectRow, string, string]>([
  ['a dispute that was won', object({ kind: 'dispute', status: 'won' }), 'good', '; a dispute was won'],
  [
    'a dispute that was won and goes on',
    object({ kind: 'dispute', status: 'won', detail: { outcomeAt: '2026-11-01', saidAt: '2026-11-02' } }),
    'warn',
    '; the customer disputes the payment',
  ],
  [
    'a dispute whose outcome is not clear',
    object({ kind: 'dispute', status: 'decided' }),
    'warn',
    '; Crossbill cannot read the outcome of a dispute',
  ],
  [
    'a dispute without a deadline',
    object({ kind: 'dispute', status: 'action_needed' }),
    'warn',
    '; the customer disputes the payment',
  ],
  ['no debit that was returned by mistake', object({ kind: 'debit_return', status: 'undone' }), 'good', ''],
  ['nothing of an e-invoice', object({ kind: 'e_invoice', status: 'ISSUED' }), 'good', ''],
])('the console’s sentence about a paid invoice mentions %s', (_, o, tone, what) => {
  expect(paid({ objects: [o] })).toEqual([tone, `${took}${what}.`]);
});

const marking = (calls: Over['calls'], payments = [payment({ mark: 'attaching' })]) =>
  text({ invoice: { status: 'marking' }, payments, calls: calls ?? [] });
const call = { peer: 'stripe', kind: 'report_payment', status: 'pending', attempts: 1, nextTryAt: nov(7) } as const;

it('the console’s sentence about an invoice being marked counts only the tries of pending calls to Stripe', () => {
  expect(marking([call])).toContain('Stripe has not confirmed the mark after one try; Crossbill tries again on 7 Nov.');
  for (const over of [{ peer: 'mor' }, { status: 'done' }, { attempts: 0 }] as const)
    expect(marking([{ ...call, ...over }])).toBe(`${took}; Crossbill is marking it on Stripe.`);
});

it('the console’s sentence about an invoice being marked names the payment under way, and no other payment', () => {
  const others = (['none', 'closed', 'parked'] as const).map((mark) => payment({ id: mark, mark, amount: 5n }));
  expect(marking([], [...others, payment({ mark: 'paying' })])).toContain('took 29.90 EUR');
  expect(marking([], others)).toBe('Paid; Crossbill is marking it on Stripe.');
});

it('the console’s sentence about a payment on a draft says when Crossbill marks the invoice', () => {
  const held = (payments: PaymentRow[]) => text({ invoice: { status: 'held' }, payments });
  const waits = 'Crossbill marks it as soon as Stripe finalizes the draft.';
  const other = payment({ id: 'pmt_0', mark: 'closed', amount: 5n });
  expect(held([other, payment({ mark: 'held' })])).toBe(`Paid: the MoR took 29.90 EUR on 5 Nov; ${waits}`);
  expect(held([other])).toBe(`Paid; ${waits}`);
});

it('the console’s sentence about an invoice in review shows the open item of the waiting payment', () => {
  const asked = (...reviews: Parameters<typeof review>[0][]) =>
    text({ invoice: { status: 'review' }, payments: [payment({ mark: 'parked' })], reviews: reviews.map(review) });
  const [first, no, that] = ['is it this', 'no', 'that'].map((why) => ({
    fact: { code: 'lane-stuck', lane: 'in_1', why } as const,
  }));
  const notified = (why: string): string =>
    `A person must decide: Crossbill cannot decide or store the next step of in_1: ${why}.`;
  expect(asked({ ...first }, { ...no, paymentRowId: 'pmt_9' })).toBe(notified('is it this'));
  expect(asked({ ...first }, { ...that, paymentRowId: 'pmt_1' })).toBe(notified('that'));
  expect(asked({ ...first, status: 'resolved' }, { ...that })).toBe(notified('that'));
  const two = [payment({ id: 'pmt_0' }), payment({ mark: 'parked' })];
  const reviews = [review({ paymentRowId: 'pmt_0' }), review({ ...that, paymentRowId: 'pmt_1' })];
  expect(text({ invoice: { status: 'review' }, payments: two, reviews })).toBe(notified('that'));
});

it('the console’s sentence about an unmarked invoice names the last operator to dismiss an item', () => {
  const left = (...reviews: Parameters<typeof review>[0][]) =>
    text({ invoice: { status: 'review' }, reviews: reviews.map((r) => review({ status: 'resolved', ...r })) });
  const by = (who: string) => `Not marked on Stripe: the MoR took money, and ${who} closed its review item.`;
  const dismissed = { resolution: 'dismiss', resolvedBy: 'ada' } as const;
  expect(left(dismissed, { resolution: 'apply', resolvedBy: 'ben' })).toBe(by('ada'));
  expect(left(dismissed, { ...dismissed, resolvedBy: 'cyd' })).toBe(by('cyd'));
  expect(left({ resolution: 'dismiss' })).toBe(by('a person'));
  expect(left()).toBe(by('a person'));
});

it('the console’s sentence about an unpaid invoice names the newest refusal', () => {
  const attempts: AttemptRow[] = [refusal(5, { declineCode: 'expired_card' }), refusal(4)];
  expect(text({ attempts })).toContain('the card has expired (5 Nov, second try;');
  expect(text({ attempts: [...attempts, refusal(6, { outcome: 'succeeded' })] })).toContain('(5 Nov, second try;');
});

it('the console’s sentence about a partly paid invoice names the amount still due, if known', () => {
  const part = { payments: [payment({ amount: 1_000n })] };
  for (const invoice of [{ amountRemaining: null }, { currency: null }])
    expect(text({ ...part, invoice })).not.toContain('Paid in part');
  const next = { invoice: { amountRemaining: 1_990n, platformStatus: 'uncollectible' } } as const;
  expect(text({ ...part, ...next })).toContain('19.90 EUR is due; it is marked uncollectible on Stripe.');
});

it('the console’s sentence about an unpaid invoice names a payment only if the MoR took the money and refunded it in full', () => {
  const kept = payment({ id: 'pmt_0', mark: 'closed', amount: 5n });
  const untaken = payment({ id: 'pmt_1', mark: 'closed', succeededAt: null, amountRefunded: 5n, amount: 5n });
  const back = payment({ id: 'pmt_2', mark: 'closed', amountRefunded: 2_990n });
  expect(text({ payments: [kept, untaken, back] })).toBe('Not paid: the MoR took 29.90 EUR on 5 Nov and gave it back.');
  const written = { invoice: { platformStatus: 'uncollectible' } } as const;
  expect(text({ payments: [back], ...written })).toContain('gave it back; it is marked uncollectible on Stripe.');
  expect(text({ payments: [kept] })).not.toContain('gave it back');
});

it('the console’s sentence about an unpaid invoice turns urgent at the MoR’s deadline', () => {
  const at = (expectedBy: Date, paysByDebit: boolean | null = null) => said({ invoice: { expectedBy, paysByDebit } });
  expect(at(NOW)[0]).toBe('bad');
  expect(at(new Date(NOW.getTime() + 1))[0]).toBe('wait');
  expect(at(nov(4), true)[1]).toContain('its verdict was due by 4 Nov, even for a bank debit.');
  expect(at(nov(4), false)[1]).toContain('its verdict was due by 4 Nov.');
});

it('the console’s sentence about an unpaid invoice says that no charge is known', () => {
  expect(said({ invoice: { expectedBy: null } })).toEqual([
    'wait',
    'Not paid yet, and Crossbill knows of no charge by the MoR.',
  ]);
});

it('the console’s sentence about an unpaid invoice names a payable payment link', () => {
  const link = (status: string) => text({ ...refusedOnce, objects: [object({ kind: 'payment_link', status })] });
  expect(link('PAYABLE')).toContain('; the customer can pay by link).');
  expect(link('REQUESTED')).toContain('; no further try is planned).');
});

it('the console’s sentence about an unpaid invoice says when the MoR charges next, or that no try follows', () => {
  const next = (over: Over) => text({ ...refusedOnce, ...over });
  const call = { peer: 'relay', kind: 'retry_charge', status: 'pending', attempts: 0, nextTryAt: NOW } as const;
  const none = '; no further try is planned).';
  expect(next({ calls: [call] })).toContain('; Crossbill asks the MoR again).');
  for (const over of [{ status: 'done' }, { kind: 'relay_event' }] as const)
    expect(next({ calls: [{ ...call, ...over }] })).toContain(none);
  const due = (nextTryAt: Date) => next({ invoice: { retries: trail(), nextTryAt } });
  expect(due(NOW)).toContain('; next at any moment).');
  expect(due(nov(5))).toContain('; next at any moment).');
  expect(due(nov(6, 13))).toContain('; next at 13:00 UTC today).');
  const ended = { at: nov(5).toISOString(), how: 'uncollectible', why: null } as const;
  expect(next({ invoice: { retries: trail({ ended }), nextTryAt: nov(8) } })).toContain(
    '; no more tries since 5 Nov: the invoice is marked uncollectible on Stripe).',
  );
});

const of = (over: Partial<PaymentRow>, refunds: RefundRow[] = [], objects: MorObjectRow[] = []) =>
  paymentSentence({ payment: payment(over), refunds, objects }, NOW);

it.each([
  ['bad while the payment is in review', { mark: 'parked' }, 'bad'],
  ['good after the mark on Stripe', { mark: 'confirmed' }, 'good'],
  ['wait while the payment waits for its mark', { mark: 'waiting' }, 'wait'],
] as const)('the tone of the console’s sentence about a payment is %s', (_, over, tone) => {
  expect(of(over).tone).toBe(tone);
});

it('the console’s sentence about a payment warns of a lost dispute, not of a won dispute', () => {
  const won = object({ kind: 'dispute', status: 'won' });
  const lost = object({ kind: 'dispute', status: 'lost' });
  expect(of({}, [], [won]).tone).toBe('good');
  expect(of({}, [], [won, lost]).tone).toBe('warn');
});

it('the console’s sentence about a payment names refunded and pending amounts', () => {
  expect(of({ status: 'refunded', amountRefunded: 2_990n }).text).toContain('; all of it was refunded;');
  for (const status of ON_ITS_WAY)
    expect(of({}, [refund(status)]).text).toContain('; a refund of 10.00 EUR is on its way;');
  for (const status of OVER) expect(of({}, [refund(status)]).text).not.toContain('on its way');
});

it('the console’s sentence about a refused payment gives the reason, and the time if known', () => {
  const refused = { succeededAt: null, declineCode: 'expired_card' } as const;
  expect(of({ ...refused, status: 'requires_action' }).text).toBe(
    'Not taken: the bank wants the customer to authenticate.',
  );
  expect(of({ ...refused, status: 'failed', verdictAt: nov(5) }).text).toBe('Not taken: the card has expired (5 Nov).');
  expect(of({ mark: 'none' }).text).toContain('; it is not marked on Stripe.');
});

it('the console’s sentence about a pending payment says since when it is pending', () => {
  const pending = { succeededAt: null, status: 'processing' } as const;
  expect(of({ ...pending, pendingSince: nov(4), recordedAt: nov(3) }).text).toContain('known since 4 Nov;');
  expect(of({ ...pending, recordedAt: nov(3) }).text).toContain('known since 3 Nov;');
});

const words = (declineCode: string | null, failureMessage: string | null = null) =>
  refusalWords({ outcome: 'failed', declineCode, failureMessage });

it.each([
  ['do_not_honor', 'the bank declined the charge and gave no reason'],
  ['card_declined', 'the bank declined the charge and gave no reason'],
  ['pickup_card', 'the bank declined the charge for good (pickup_card)'],
  ['a_new_code', 'the bank declined the charge (a_new_code)'],
  [' EXPIRED_CARD ', 'the card has expired'],
])('the console explains the decline code %s as: %s', (code, text_) => {
  expect(words(code)).toBe(text_);
});

it('the console shows the MoR’s own text for a refusal without a decline code', () => {
  expect(words(null, ' No answer ')).toBe('the charge failed: "No answer"');
  for (const nothing of [null, ' ']) expect(words(' ', nothing)).toBe('the charge failed');
});
