// The engine's table for refunds: the rule for each event, call, item and choice.
import { type Subject } from '../../engine/subject.js';
import { countRefunds, reconsiderParked } from './rules/count.js';
import { creditNoteCall, mirrorRefunds, reportRefundCall } from './rules/mirror.js';
import { refundGaps, refundsBeyondSale, refundsElsewhere } from './rules/refund-gaps.js';
import { renamedRefunds } from './rules/refund.js';
import { applyRefunded } from './rules/refunded-event.js';
import { createRefundCall, withdrawStale } from './rules/refund-call.js';
import { stuckRefunds, applyStuckChoice } from './rules/stuck-refund.js';
import { nothingMore } from '../../engine/commanded.js';

export const refunds = {
  when: (lane) => lane.refunds.length > 0,
  events: { 'payment.refunded': applyRefunded },
  calls: { create_refund: createRefundCall, report_refund: reportRefundCall, issue_credit_note: creditNoteCall },
  untilStable: [countRefunds, mirrorRefunds, reconsiderParked],
  after: [withdrawStale],
  items: [refundsElsewhere, refundGaps, refundsBeyondSale, stuckRefunds, renamedRefunds],
  choices: { refund_stuck: applyStuckChoice, refund_gap: nothingMore },
} satisfies Subject;
