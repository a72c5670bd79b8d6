// What stands above a review item says what happened in words; the id of its dispute stands beside it.
import { expect, it } from '@jest/globals';
import { type FactsByKind } from '../../../../src/domain/fact.js';
import { disputeOf } from '../../../../src/reviews/rules/headline.js';
import { headlineOf, sentencesOf } from '../../../../src/reviews/rules/words.js';
import { FACTS } from '../../../support/item-facts.js';

const UNTIL = '2026-11-29T01:28:00.000Z';
const said = (fact: FactsByKind['dispute']): string => headlineOf({ fact });
const amount = { minor: 45000n, currency: 'EUR' };
const asked = { dispute: 'dp_1', until: UNTIL, afterOutcome: null, url: null };
const sum = { amount, unread: null };

it("a headline gives the bank's act, without the dispute's id or deadline", () => {
  const fact = { code: 'evidence-due', ...asked, ...sum } as const;
  expect(said(fact)).toBe("the customer's bank disputes 450.00 EUR: evidence is needed");
  expect(sentencesOf({ fact }).summary).toBe(
    "the customer's bank disputes 450.00 EUR: dispute dp_1, evidence is needed by 2026-11-29 01:28 UTC",
  );
  expect(said({ ...fact, until: null })).toBe(
    "the customer's bank disputes 450.00 EUR: evidence is needed (no deadline given)",
  );
});

it("a headline names no id of a dispute, alert or payment, and keeps the MoR's own words", () => {
  expect(said({ code: 'evidence-returned', ...asked, note: 'page 2 is missing' })).toBe(
    'the evidence for the dispute was sent back, new evidence is needed: page 2 is missing',
  );
  const lost = { code: 'dispute-lost', dispute: 'dp_1', ...sum, bookedSince: false, apart: null } as const;
  expect(said({ ...lost, twice: null })).toBe('the dispute was lost: the bank took 450.00 EUR back');
  const alert = { alert: 'al_1', payment: 'pay_1' };
  expect(said({ code: 'alert-received', ...alert, until: UNTIL, ...sum })).toBe(
    'a chargeback of 450.00 EUR is about to be raised',
  );
  expect(said({ code: 'alert-handled', ...alert, refunded: false })).toBe(
    'the alert was handled; it does not say whether the payment was refunded',
  );
  expect(said({ code: 'alert-handled', ...alert, refunded: true })).toBe(
    'the alert was answered with a refund of the payment, whose event has not come yet',
  );
});

it('the headline of any other item is its summary', () => {
  const fact = FACTS.double_payment;
  expect(headlineOf({ fact })).toBe(sentencesOf({ fact }).summary);
});

it('Crossbill knows a dispute or an alert by the subject of its item', () => {
  expect(disputeOf('dp_1:lost')).toEqual({ what: 'dispute', name: 'dp_1' });
  expect(disputeOf('alert:al:1:outcome')).toEqual({ what: 'alert', name: 'al:1' });
});
