// Who won a dispute, and whether an alert was answered with a refund: a loss is booked for good, so only clear words count.
import { describe, expect, it } from '@jest/globals';
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
    'cancelled',
    'chargeback_canceled',
    'withdrawn by the cardholder',
    'chargeback reversed',
  ])('is won for the merchant: %s', (said) => {
    expect(outcomeIn({ outcome: said })).toEqual({ outcome: 'won', said });
  });

  it.each([
    'Lost',
    'merchant_lost',
    'you lose',
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
    'wonderful',
    '',
  ])('is not clear, so a person is asked and nothing is booked: %p', (said) => {
    expect(outcomeIn({ outcome: said }).outcome).toBe('decided');
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
  ])('says that it was not: %j', (data) => {
    expect(refundedIn(data)).toBe(false);
  });

  it.each([
    {},
    { outcome: 'closed' },
    { outcome: 'failed' },
    { refunded: 'untrue' },
    { refunded: 'no idea' },
    { refunded: 'yesterday' },
    { refunded: 1 },
    { refunded: null },
  ])('does not say: %j', (data) => {
    expect(refundedIn(data)).toBeNull();
  });
});
