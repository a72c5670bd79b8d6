// The engine's table for losses to banks: the rule for each event, call, item and choice.
import { type Subject } from '../../../engine/subject.js';
import { postCredits, creditItems, creditLossCall, reportLossCall, applyLossChoice } from './rules/credit.js';
import { postLosses } from './rules/loss.js';
import { lostDisputes, returnedDebits } from './rules/loss-items.js';

export const returns = {
  objects: ['dispute', 'debit_return'],
  calls: { report_refund: reportLossCall, issue_credit_note: creditLossCall },
  after: [postLosses, postCredits],
  items: [lostDisputes, returnedDebits, creditItems],
  choices: { dispute: applyLossChoice, debit_returned: applyLossChoice },
} satisfies Subject;
