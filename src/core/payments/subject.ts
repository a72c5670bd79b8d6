// The engine's table for payments: the rule for each event, call, item and choice.
import { type ChoiceRule } from '../../engine/commanded.js';
import { type Lane } from '../../engine/lane.js';
import { type PaymentEvent } from '../../engine/event.js';
import { nextLookup } from '../../engine/lookup.js';
import { type Subject } from '../../engine/subject.js';
import { chooseMark, chooseRefund, type GiveBack } from './rules/mark-choices.js';
import { endOfMarkCall, finalizeCall, reportPaymentCall, setReferenceCall } from './rules/mark-calls.js';
import { identifyLookup } from './rules/identify-mark.js';
import { closeRefunded, readToMark, settleMarks } from './rules/mark.js';
import { declareSurplus, leftItems } from './rules/surplus.js';
import { applyNotPaid, applySucceeded } from './rules/payment.js';
import { chargeLookup, chooseUnproven, unprovenItems } from './rules/proof.js';

/** Actions of other folders on a payment: refund it (refunds/), or retry a refused renewal (retries/). */
export type Others = { readonly giveBack: GiveBack; readonly tryAgain: (lane: Lane, event: PaymentEvent) => void };

export const joinPayments = ({ giveBack, tryAgain }: Others) => {
  const notPaid = (lane: Lane, event: PaymentEvent) => applyNotPaid(lane, event, tryAgain);
  const chosen: ChoiceRule = (lane, values, choice) =>
    choice.resolution === 'refund' ? chooseRefund(lane, values, choice.by, giveBack) : chooseMark(lane, values, choice);
  return {
    events: { 'payment.succeeded': applySucceeded, 'payment.failed': notPaid, 'payment.requires_action': notPaid },
    calls: {
      finalize_invoice: finalizeCall,
      report_payment: reportPaymentCall,
      attach_payment: endOfMarkCall,
      set_reference: setReferenceCall,
      pay_out_of_band: endOfMarkCall,
    },
    untilStable: [settleMarks, closeRefunded],
    after: [declareSurplus],
    items: [unprovenItems, leftItems],
    lookups: [nextLookup(chargeLookup), nextLookup(readToMark), nextLookup(identifyLookup)],
    choices: {
      amount_mismatch: chosen,
      currency_mismatch: chosen,
      customer_mismatch: chosen,
      invoice_not_payable: chosen,
      double_payment: chosen,
      partial_transfer: chosen,
      signup_unproven: chooseUnproven,
    },
  } satisfies Subject;
};
