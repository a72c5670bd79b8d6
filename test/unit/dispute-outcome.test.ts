// Who won a dispute, and whether an alert was answered with a refund: a loss is booked for good, so only clear words count.
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { outcomeIn, refundedIn } from '../../src/disputes/rules/outcome.js';

describe('the outcome of a dispute', () => {
  it.each([
    'Won',
    'merchant_won',
    'decided in favour of the seller',
    'FAVOR_MERCHANT',
    'customer_lost',
    'cardholderLost',
    'the issuer lost',
    'the buyer lost',
    'Dispute won',
    'the dispute was won',
    'resolved: won',
    'WON_BY_MERCHANT',
    'won after review',
    'dispute cancelled',
    'chargeback_canceled',
    'DISPUTE_WITHDRAWN',
    'the chargeback was reversed',
  ])('is won for the merchant: %s', (said) => {
    expect(outcomeIn({ outcome: said })).toEqual({ outcome: 'won', said });
  });

  it.each([
    'Lost',
    'merchant_lost',
    'you lose',
    'you lost',
    'case closed: lost',
    'won by the cardholder',
    'accepted',
    'chargedback',
    'charged_back',
    'cardholder_won',
    'buyer won',
    'ISSUER_WON',
    'the bank won',
    'in favour of the buyer',
    'favour: issuer',
    'favor_bank',
  ])('is lost for the merchant: %s', (said) => {
    expect(outcomeIn({ outcome: said })).toEqual({ outcome: 'lost', said });
  });

  it.each([
    'charged',
    'sent back',
    'in favour',
    'merchant',
    'seller contacted',
    'customer',
    'won, then lost',
    'not lost',
    'lost: no evidence',
    'won although reversed and charged back',
    'reversed by the bank',
    'merchant won, bank informed',
    'seller lost, cardholder informed',
    'lost to the cardholder',
    'LOST_TO_ISSUER',
    'Lost. The bank kept the money.',
    'won against the issuer',
    'Won: the bank closed the case',
    'won, accepted by the bank',
    'REPRESENTMENT_ACCEPTED',
    'defence accepted',
    'evidence accepted',
    'reversed',
    'payment_reversed',
    'funds reversed',
    'withdrawn',
    'FUNDS_WITHDRAWN',
    'defense_withdrawn',
    'withdrawn by the cardholder',
    'dispute withdrawn by the cardholder',
    'cancelled',
    'payment cancelled',
    'partially won',
    'lost in part',
    'the parcel was lost',
    "hasn't been won",
    'won?',
    '!won',
    '未won',
    '未 lost',
    'wonderful',
    '',
  ])('is not clear, so a person is asked and nothing is booked: %p', (said) => {
    expect(outcomeIn({ outcome: said }).outcome).toBe('decided');
  });

  /** What a MoR may say for the merchant, and against. */
  const ours = ['won', 'reversed', 'withdrawn', 'cancelled', 'favour of the merchant', 'accepted by'];
  const theirs = ['lost', 'lose', 'accepted', 'charged back', 'chargedback', 'not', 'favour of the buyer', 'kept by'];
  const others = [
    'the',
    'was',
    'dispute',
    'chargeback',
    'case',
    'closed',
    'after review',
    'money',
    'evidence',
    'by',
    'to',
  ];
  const mixed = (...sides: (readonly string[])[]): fc.Arbitrary<string> =>
    fc
      .tuple(...sides.map((words) => fc.constantFrom(...words)), fc.array(fc.constantFrom(...others), { maxLength: 5 }))
      .chain((chosen) => fc.shuffledSubarray(chosen.flat(), { minLength: chosen.flat().length }))
      .chain((words) => fc.constantFrom(' ', '_', ': ').map((between) => words.join(between)));

  it('is not clear as soon as words of both sides meet, in any order and beside whatever else', () => {
    fc.assert(
      fc.property(mixed(ours, theirs), (said) => {
        expect(outcomeIn({ outcome: said }).outcome).toBe('decided');
      }),
      { numRuns: 1_000 },
    );
  });

  it('is not clear where merchant and buyer are both named, whoever is said to have won', () => {
    const buyers = ['customer', 'cardholder', 'buyer', 'issuer', 'bank'];
    fc.assert(
      fc.property(mixed(['merchant', 'seller', 'you'], buyers, ['won', 'lost']), (said) => {
        expect(outcomeIn({ outcome: said }).outcome).toBe('decided');
      }),
      { numRuns: 1_000 },
    );
  });

  it('is read wherever it stands, first where it is called the outcome', () => {
    expect(outcomeIn({ result: 'lost' })).toEqual({ outcome: 'lost', said: 'lost' });
    expect(outcomeIn({ resolution: 'WON' })).toEqual({ outcome: 'won', said: 'WON' });
    expect(outcomeIn({ status: 'lost' })).toEqual({ outcome: 'lost', said: 'lost' });
    expect(outcomeIn({ status: 'closed', dispute: { outcome: 'won' } })).toEqual({ outcome: 'won', said: 'won' });
    expect(outcomeIn({ disputeId: 'won' })).toEqual({ outcome: 'decided', said: null });
  });
});

describe('the outcome of an alert', () => {
  it.each([
    { refunded: true },
    { payment_refunded: 'TRUE' },
    { isRefunded: 'yes' },
    { wasRefunded: true, outcome: 'declined' },
    { outcome: 'REFUNDED' },
    { result: 'refund issued' },
    { resolution: 'PaymentRefunded' },
    { status: 'full_refund' },
  ])('says that the payment was given back: %j', (data) => {
    expect(refundedIn(data)).toBe(true);
  });

  it.each([
    { refunded: false },
    { refunded: 'No' },
    { paymentRefunded: 'false', outcome: 'refunded' },
    { outcome: 'NOT_REFUNDED' },
    { outcome: 'unrefunded' },
    { outcome: 'non-refunded' },
    { outcome: 'NoRefund' },
    { outcome: 'declined' },
    { outcome: 'alert ignored' },
    { outcome: 'REJECTED' },
    { outcome: 'no further refund' },
    { outcome: 'refund failure' },
    { outcome: 'refund refused' },
    { outcome: 'refund failed' },
    { outcome: 'refund denied' },
    { outcome: 'unable to refund' },
    { outcome: 'refund_cancelled' },
    { outcome: 'non_refundable' },
  ])('says that it was not: %j', (data) => {
    expect(refundedIn(data)).toBe(false);
  });

  it.each([
    {},
    { outcome: 'closed' },
    { outcome: 'failed' },
    { outcome: 'refund pending' },
    { outcome: 'refund requested' },
    { outcome: 'refund impossible' },
    { outcome: 'refunded, no longer disputed' },
    { refunded: 'untrue' },
    { refunded: 'no idea' },
    { refunded: 'yesterday' },
    { refunded: 1 },
    { refunded: null },
  ])('does not say: %j', (data) => {
    expect(refundedIn(data)).toBeNull();
  });
});
