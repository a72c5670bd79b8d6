// The engine's table for losses to banks: the rule for each event, call, item and choice.
import { type Subject } from '../../../engine/subject.js';
import { bookCredits, creditItems, creditLossCall, reportLossCall, takeLossChoice } from './rules/credit.js';
import { bookLosses, lostDisputes, returnedDebits } from './rules/loss.js';

export const returns = {
  objects: ['dispute', 'debit_return'],
  calls: { report_refund: reportLossCall, issue_credit_note: creditLossCall },
  after: [bookLosses, bookCredits],
  items: [lostDisputes, returnedDebits, creditItems],
  choices: { dispute: takeLossChoice, debit_returned: takeLossChoice },
} satisfies Subject;
