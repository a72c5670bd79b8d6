// Why an invoice is paid or not, in one sentence: for every state that it can be in.
import { expect, it } from '@jest/globals';
import { type PaymentRow } from '../../../../src/shared/domain/payment-row.js';
import { type MorObjectRow } from '../../../../src/shared/domain/mor-object.js';
import { lastRead } from '../../../../src/core/invoices/invoice-sentence.js';
import { paymentSentence } from '../../../../src/core/payments/payment-sentence.js';
import { ordinal } from '../../../../src/shared/domain/when.js';
import {
  nov,
  object,
  type Over,
  payment,
  refusal,
  review,
  said,
  trail,
} from '../../../support/builders/answer-facts.js';

const refused = { payments: [payment({ status: 'failed', succeededAt: null, mark: 'none' })] };
const STORIES: readonly (readonly [what: string, over: Over, tone: string, text: string])[] = [
  [
    'waits for the customer’s authentication before the next try',
    {
      ...refused,
      attempts: [refusal(3), refusal(5, { outcome: 'requires_action' })],
      invoice: { retries: trail(), nextTryAt: nov(8) },
    },
    'warn',
    'Not paid: the bank wants the customer to authenticate (5 Nov, second try; next on 8 Nov).',
  ],
  [
    'failed with no further try',
    { ...refused, attempts: [refusal(5, { declineCode: 'expired_card' })], invoice: { retries: trail() } },
    'bad',
    'Not paid: the card has expired (5 Nov, first try; no further try is planned).',
  ],
  [
    'is tried again today',
    { ...refused, attempts: [refusal(5)], invoice: { retries: trail(), nextTryAt: nov(6, 15) } },
    'warn',
    'Not paid: there is not enough money in the account (5 Nov, first try; next at 15:00 UTC today).',
  ],
  [
    'waits for the MoR’s reply to a retry',
    { ...refused, attempts: [refusal(4)], invoice: { retries: trail({ waitingSince: nov(5).toISOString() }) } },
    'warn',
    "Not paid: there is not enough money in the account (4 Nov, first try; waiting for the MoR's answer since 5 Nov).",
  ],
  [
    'has no more tries in its schedule',
    {
      ...refused,
      attempts: [refusal(5, { declineCode: 'some_new_code' })],
      invoice: { retries: trail({ ended: { at: nov(5).toISOString(), how: 'cancel', why: null } }) },
    },
    'warn',
    'Not paid: the bank declined the charge (some_new_code) (5 Nov, first try; no more tries since 5 Nov: the subscription is cancelled on Stripe).',
  ],
  [
    'can be paid by a link after a refusal',
    {
      ...refused,
      attempts: [refusal(5, { declineCode: null, failureMessage: 'No answer' })],
      objects: [object({ kind: 'payment_link', status: 'PAYABLE', deadline: nov(12) })],
    },
    'warn',
    'Not paid: the charge failed: "No answer" (5 Nov, first try; the customer can pay by link until 12 Nov).',
  ],
  [
    'is uncollectible',
    { ...refused, attempts: [refusal(5)], invoice: { platformStatus: 'uncollectible' } },
    'warn',
    'Not paid: there is not enough money in the account (5 Nov, first try; it is marked uncollectible on Stripe).',
  ],
  [
    'is expected',
    { invoice: { status: 'expected', expectedBy: nov(7) } },
    'wait',
    "Not paid yet: the MoR's answer is expected by 7 Nov.",
  ],
  [
    'waits for a bank debit',
    { invoice: { status: 'expected', expectedBy: nov(14), paysByDebit: true } },
    'wait',
    "Not paid yet: the customer pays by bank debit, and the MoR's answer is expected by 14 Nov.",
  ],
  [
    'is past the MoR’s deadline',
    { invoice: { status: 'expected' } },
    'bad',
    'Not paid: the MoR has sent no verdict since 3 Nov; its verdict was due by 4 Nov.',
  ],
  [
    'can be paid by a bank transfer',
    { invoice: { status: 'expected' }, objects: [object({ kind: 'proforma', status: 'ISSUED', deadline: nov(20) })] },
    'wait',
    'Not paid yet: a proforma invoice is open, due by 20 Nov.',
  ],
  [
    'is sent to the customer by mail',
    { invoice: { status: 'expected', expectedBy: null, collectionMethod: 'send_invoice' } },
    'wait',
    'Not paid yet: Stripe e-mails this invoice, and Crossbill sets no deadline.',
  ],
  [
    'is not read from Stripe yet',
    { invoice: { status: 'expected', expectedBy: null, platformStatus: 'unknown' } },
    'wait',
    'Not known yet: Stripe has not reported the amount due.',
  ],
  [
    'cannot be finalized',
    { invoice: { status: 'expected', platformStatus: 'draft', finalizationError: 'no tax location' } },
    'bad',
    'Not paid: Stripe could not finalize the invoice: "no tax location".',
  ],
  [
    'is refunded after its only payment',
    { payments: [payment({ mark: 'closed', amountRefunded: 2_990n })] },
    'warn',
    'Not paid: the MoR took 29.90 EUR on 5 Nov and gave it back.',
  ],
  [
    'is paid in part',
    {
      payments: [payment({ origin: 'proforma', amount: 1_000n, waived: ['amount_mismatch'] })],
      invoice: { amountPaid: 1_000n, amountRemaining: 1_990n },
    },
    'warn',
    'Paid in part: the MoR took 10.00 EUR on 5 Nov by bank transfer; 19.90 EUR is due.',
  ],
  [
    'waits for a bank debit to settle',
    { payments: [payment({ mark: 'proving', succeededAt: null, status: 'processing', pendingSince: nov(4) })] },
    'wait',
    'Not paid yet: the MoR has known the charge since 4 Nov and has not settled it (bank debits take days).',
  ],
  [
    'is paid',
    { invoice: { status: 'paid' }, payments: [payment({})] },
    'good',
    'Paid: the MoR took 29.90 EUR on 5 Nov.',
  ],
  [
    'is paid and partly refunded',
    { invoice: { status: 'paid' }, payments: [payment({ origin: 'payment_link', amountRefunded: 1_000n })] },
    'good',
    'Paid: the MoR took 29.90 EUR on 5 Nov by payment link; 10.00 EUR of it was refunded.',
  ],
  [
    'is paid and fully refunded',
    { invoice: { status: 'paid' }, payments: [payment({ origin: 'signup', amountRefunded: 2_990n })] },
    'good',
    'Paid: the MoR took 29.90 EUR on 5 Nov at signup; all of it was refunded.',
  ],
  [
    'is paid and disputed',
    {
      invoice: { status: 'paid' },
      payments: [payment({})],
      objects: [object({ kind: 'dispute', status: 'action_needed', deadline: nov(9) })],
    },
    'warn',
    'Paid: the MoR took 29.90 EUR on 5 Nov; the customer disputes the payment: evidence is due by 9 Nov.',
  ],
  [
    'is paid and its dispute is lost',
    { invoice: { status: 'paid' }, payments: [payment({})], objects: [object({ kind: 'dispute', status: 'lost' })] },
    'warn',
    'Paid: the MoR took 29.90 EUR on 5 Nov; the bank took the money back: a dispute was lost.',
  ],
  [
    'is paid and its debit is returned',
    {
      invoice: { status: 'paid' },
      payments: [payment({})],
      objects: [object({ kind: 'debit_return', status: 'returned' })],
    },
    'warn',
    'Paid: the MoR took 29.90 EUR on 5 Nov; the bank took the debit back.',
  ],
  [
    'is paid twice',
    {
      invoice: { status: 'paid' },
      payments: [payment({}), payment({ id: 'pmt_2', mark: 'parked', succeededAt: nov(6) })],
    },
    'bad',
    'Paid: the MoR took 29.90 EUR on 5 Nov; the MoR also took 29.90 EUR on 6 Nov, and a person must decide about that money.',
  ],
  [
    'is paid without the MoR',
    { invoice: { status: 'paid', platformStatus: 'paid' } },
    'good',
    'Paid on Stripe, but not through the MoR.',
  ],
  [
    'is paid by nobody, because credit notes took all of it',
    { invoice: { status: 'paid', platformStatus: 'paid', amountDue: 0n, total: 2990n, amountCredited: 2990n } },
    'good',
    'Nothing was due: credit notes took all of it.',
  ],
  [
    'is marked right now',
    { invoice: { status: 'marking' }, payments: [payment({ mark: 'attaching' })] },
    'wait',
    'Paid: the MoR took 29.90 EUR on 5 Nov; Crossbill is marking it on Stripe.',
  ],
  [
    'is marked right now while Stripe fails',
    {
      invoice: { status: 'marking' },
      payments: [payment({ mark: 'attaching' })],
      calls: [{ peer: 'stripe', kind: 'report_payment', status: 'pending', attempts: 4, nextTryAt: nov(6, 13) }],
    },
    'wait',
    'Paid: the MoR took 29.90 EUR on 5 Nov; Stripe has not confirmed the mark after 4 tries; Crossbill tries again at 13:00 UTC today.',
  ],
  [
    'has an unproven charge',
    { invoice: { status: 'marking' }, payments: [payment({ mark: 'proving', succeededAt: null })] },
    'wait',
    "Not proven yet: the customer's browser reports a payment, and Crossbill asks the MoR about the charge.",
  ],
  [
    'is held until its draft is finalized',
    { invoice: { status: 'held', finalizesAt: nov(6, 14) }, payments: [payment({ mark: 'held' })] },
    'wait',
    'Paid: the MoR took 29.90 EUR on 5 Nov; Crossbill marks it as soon as Stripe finalizes the draft, at 14:00 UTC today.',
  ],
  [
    'is held on a draft with a failed finalization',
    { invoice: { status: 'held', finalizationError: 'no tax location' }, payments: [payment({ mark: 'held' })] },
    'bad',
    'Paid: the MoR took 29.90 EUR on 5 Nov, but Stripe could not finalize the invoice, so Crossbill cannot mark it: "no tax location".',
  ],
  [
    'is in review',
    {
      invoice: { status: 'review' },
      payments: [payment({ mark: 'parked' })],
      reviews: [
        review({ id: 'rev_0', fact: { code: 'lane-stuck', lane: 'in_1', why: 'no' } }),
        review({ paymentRowId: 'pmt_1' }),
      ],
    },
    'bad',
    'A person must decide: the MoR took 19.90 EUR, but 29.90 EUR is due.',
  ],
  [
    'is left unmarked by the operator',
    {
      invoice: { status: 'review' },
      payments: [payment({ mark: 'parked' })],
      reviews: [review({ status: 'resolved', resolution: 'dismiss', resolvedBy: 'ada' })],
    },
    'warn',
    'Not marked on Stripe: the MoR took money, and ada closed its review item.',
  ],
  [
    'is void',
    { invoice: { status: 'void', platformStatus: 'void' } },
    'calm',
    'Not to be paid: the invoice is void on Stripe.',
  ],
  [
    'belongs to a customer outside the enrolment',
    { invoice: { status: 'ignored', enrolled: false } },
    'calm',
    'Ignored: its customer is not enrolled, so the MoR does not charge it.',
  ],
  [
    'is the first invoice of a subscription',
    { invoice: { status: 'ignored', billingReason: 'subscription_create' } },
    'calm',
    'Crossbill expects nothing: a signup pays the first invoice of its subscription.',
  ],
  ['has nothing due', { invoice: { status: 'ignored', amountDue: 0n } }, 'calm', 'Nothing is due on this invoice.'],
];

it.each(STORIES)('the console’s sentence explains an invoice that %s', (_, over, tone, text) => {
  expect(said(over)).toEqual([tone, text]);
});

it('the console’s sentence about an invoice adds the year to a day of another year, and writes "third" for a third try', () => {
  const text = said({ ...refused, attempts: [refusal(5, { at: new Date('2025-12-30T10:00:00Z') })] })[1];
  expect(text).toContain('30 Dec 2025');
  expect([1, 2, 3, 10, 11, 12, 13, 21, 22, 23, 101, 111].map(ordinal).join(' ')).toBe(
    'first second third tenth 11th 12th 13th 21st 22nd 23rd 101st 111th',
  );
});

const of = (over: Partial<PaymentRow>, objects: readonly MorObjectRow[] = []): string =>
  paymentSentence({ payment: payment(over), refunds: [], objects }, nov(6, 12)).text;

it('the console’s sentence about a payment names its success, its refunds and its state on Stripe', () => {
  expect(of({})).toBe('Taken by the MoR on 5 Nov; Stripe shows the payment on its invoice.');
  expect(of({ status: 'partially_refunded', amountRefunded: 500n })).toContain('; 5.00 EUR of it was refunded;');
  expect(of({ mark: 'parked' })).toContain('it is not marked on Stripe: a person must decide.');
  expect(of({ mark: 'held' })).toContain('Crossbill marks it on Stripe once the invoice is final.');
  expect(of({ mark: 'closed' })).toContain('it is not marked on Stripe.');
  expect(of({ mark: 'paying' })).toContain('Crossbill is marking it on Stripe.');
  expect(of({}, [object({ kind: 'debit_return', status: 'returned' })])).toContain('the bank took the debit back');
  const failed = { succeededAt: null, status: 'failed', declineCode: 'lost_card', verdictAt: nov(5) } as const;
  expect(of(failed)).toBe('Not taken: the card was reported lost (5 Nov).');
  expect(of({ ...failed, mark: 'closed', verdictAt: null, processorChargeId: 'ch_1' })).toBe(
    'A person dismissed it: the ledger has no money of charge ch_1 for this invoice.',
  );
  expect(of({ succeededAt: null, status: 'processing' })).toContain('Not settled yet: known since 6 Nov');
  expect(of({ succeededAt: null, status: 'refunded' })).toBe('So far the ledger has no charge of it for this invoice.');
});

it("the last look at Stripe's facts is a read, or an event since the read", () => {
  const [read, later] = [new Date('2026-11-05T10:00:00Z'), new Date('2026-11-05T11:00:00Z')];
  expect(lastRead({ factsAt: read, readAt: read })).toEqual({ how: 'read', at: read });
  expect(lastRead({ factsAt: later, readAt: read })).toEqual({ how: 'reported', at: later });
  expect(lastRead({ factsAt: read, readAt: null })).toEqual({ how: 'reported', at: read });
  expect(lastRead({ factsAt: null, readAt: null })).toBeNull();
});
