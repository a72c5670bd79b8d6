// What stands above a review item says what happened in words; the id of its dispute stands beside it.
import { describe, expect, it } from '@jest/globals';
import { disputeOf, headlineOf } from '../../src/reviews/rules/headline.js';

const DUE = new Date('2026-11-29T01:28:00Z');
const said = (subject: string, summary: string, dueAt: Date | null = null): string =>
  headlineOf({ kind: 'dispute', subject, summary, dueAt });

describe('the headline of a review item', () => {
  it("says what the bank did, without the dispute's id and without the deadline that stands beside it", () => {
    const summary = "the customer's bank disputes 450.00 EUR: dispute dp_1, evidence is needed by 2026-11-29 01:28 UTC";
    expect(said('dp_1', summary, DUE)).toBe("the customer's bank disputes 450.00 EUR: evidence is needed");
    expect(said('dp_1', summary)).toBe(
      "the customer's bank disputes 450.00 EUR: evidence is needed by 2026-11-29 01:28 UTC",
    );
  });

  it("names neither dispute, alert nor payment by its id at any stage, and keeps the MoR's own words", () => {
    expect(
      said(
        'dp_1:revision',
        'the evidence for dispute dp_1 was sent back, new evidence is needed by 2026-11-29 01:28 UTC: page 2 is missing',
        DUE,
      ),
    ).toBe('the evidence for the dispute was sent back, new evidence is needed: page 2 is missing');
    expect(said('dp_1:lost', 'dispute dp_1 was lost: the bank took 450.00 EUR back')).toBe(
      'the dispute was lost: the bank took 450.00 EUR back',
    );
    expect(
      said(
        'alert:al_1',
        'a chargeback of 29.90 EUR is about to be raised: alert al_1 on payment pay_1, to be handled by 2026-11-29 01:28 UTC',
        DUE,
      ),
    ).toBe('a chargeback of 29.90 EUR is about to be raised');
    expect(
      said(
        'alert:al_1:outcome',
        'alert al_1 on payment pay_1 was handled; it does not say whether the payment was refunded',
      ),
    ).toBe('the alert was handled; it does not say whether the payment was refunded');
    expect(
      said(
        'alert:al_1:outcome',
        'alert al_1 was answered with a refund of payment pay_1, whose event has not come yet',
      ),
    ).toBe('the alert was answered with a refund of the payment, whose event has not come yet');
  });

  it('is the summary as it is for every other item', () => {
    const summary = '29.90 EUR was taken although the invoice was already paid another way';
    expect(headlineOf({ kind: 'double_payment', subject: 'pay_1', summary, dueAt: DUE })).toBe(summary);
  });

  it('knows a dispute or an alert by the subject of its item', () => {
    expect(disputeOf('dp_1:lost')).toEqual({ what: 'dispute', name: 'dp_1' });
    expect(disputeOf('alert:al:1:outcome')).toEqual({ what: 'alert', name: 'al:1' });
  });
});
