// The timeline stores codes, and a person reads words.
import { expect, it } from '@jest/globals';
import { Lane } from '../../../../src/engine/lane.js';
import { emptyLane } from '../../../../src/engine/context.js';
import { timelineSentence } from '../../../../src/core/invoices/timeline-words.js';
import { type JournalLine } from '../../../../src/shared/domain/model.js';
import { aCtx } from '../../../support/builders/channel-lane.js';
import { FACTS } from '../../../support/builders/item-facts.js';

const AT = new Date('2026-11-26T09:00:00Z');
const lineOf = (detail: JournalLine['detail'], over: Partial<JournalLine> = {}): JournalLine => ({
  ...{ lane: 'in_1', at: AT, kind: 'decision', ref: null, text: 'codes_of the_log', detail },
  ...over,
});
/** The sentences of the lines that `change` adds. */
const told = (change: (lane: Lane) => void): string[] => {
  const lane = new Lane(emptyLane('in_1'), aCtx(AT));
  change(lane);
  return lane.toState().journal.map(timelineSentence);
};

it('the timeline names a review item by its kind in words while it opens, changes and closes', () => {
  const item = { kind: 'double_payment', subject: 'pmt_1', fact: FACTS.double_payment } as const;
  const isIt = () => true;
  expect(
    told((lane) => {
      lane.openReview(item);
      lane.openReview({ ...item, dueAt: AT });
      lane.closeItems(isIt, { by: null, resolution: 'cleared', note: 'the refund settled it' });
      lane.openReview({ ...item, subject: 'pmt_2' });
      lane.closeItems(isIt, { by: 'ada', resolution: 'refund', note: null });
    }),
  ).toEqual([
    'A review item opened: double payment',
    'The review item has another deadline: double payment',
    'The review item closed, double payment: the refund settled it',
    'A review item opened: double payment',
    'ada settled the review item, double payment: refund',
  ]);
});

it('the timeline says in words what Crossbill called, what failed and what it no longer has to call', () => {
  const call = 'report_payment';
  const told = [
    lineOf({ call, status: 200 }, { kind: 'call' }),
    lineOf({ call, status: 429, failed: '429 rate_limit' }, { kind: 'call' }),
    lineOf({ call, left: 'the invoice is paid' }),
    lineOf({ call, next: 'key_2' }),
    lineOf({ notified: 'invoice.left_open' }),
    lineOf({ call: 'read_invoice', status: 200 }, { kind: 'call', text: 'read from Stripe: paid, 0.00 EUR due' }),
  ];
  expect(told.map(timelineSentence)).toEqual([
    'Reported the payment to Stripe',
    'Could not report the payment to Stripe: 429 rate_limit',
    'Crossbill no longer has to report the payment to Stripe: the invoice is paid',
    'Crossbill has still to report the payment to Stripe: the first request had no effect',
    'Your backend is notified: invoice left open',
    'Read from Stripe: paid, 0.00 EUR due',
  ]);
});

it('the timeline has a plain sentence for a call, an item and an event that only a newer release knows', () => {
  const sentences = [
    lineOf({ call: 'pay_by_pigeon', status: 200 }, { kind: 'call' }),
    lineOf({ item: 'moved', review: 'double_payment' }),
    lineOf({ item: 'opened', review: 'lost_pigeon' }),
    lineOf({ type: 'pigeon.landed', reason: null, sender: 'mor' }, { kind: 'event' }),
  ].map(timelineSentence);
  for (const sentence of sentences) expect(sentence).not.toContain('codes_of');
  expect(sentences.slice(2)).toEqual(['A review item opened: lost pigeon', 'Pigeon landed']);
});
