// Payments join the engine.
import { asReview } from '../engine/adapter.js';
import { nextLookup } from '../engine/lookup.js';
import { type Subject } from '../engine/subject.js';
import {
  chooseMark,
  endOfMarkCall,
  finalizeCall,
  identifyLookup,
  reportPaymentCall,
  setReferenceCall,
} from './rules/mark-calls.js';
import { closeRefunded, readToMark, settleMarks } from './rules/mark.js';
import { chargeLookup, chooseUnproven, takeNotPaid, takeSucceeded, unprovenItems } from './rules/payment.js';
import { declareSurplus, restItems } from './rules/surplus.js';

const chosen = asReview(chooseMark);

export const payments = {
  events: {
    'payment.succeeded': takeSucceeded,
    'payment.failed': takeNotPaid,
    'payment.requires_action': takeNotPaid,
  },
  calls: {
    finalize_invoice: finalizeCall,
    report_payment: reportPaymentCall,
    attach_payment: endOfMarkCall,
    set_reference: setReferenceCall,
    pay_out_of_band: endOfMarkCall,
  },
  money: [settleMarks, closeRefunded],
  rest: [declareSurplus],
  items: [unprovenItems, restItems],
  lookups: [nextLookup(chargeLookup), nextLookup(readToMark), nextLookup(identifyLookup)],
  choices: {
    amount_mismatch: chosen,
    currency_mismatch: chosen,
    customer_mismatch: chosen,
    invoice_not_payable: chosen,
    double_payment: chosen,
    partial_transfer: chosen,
    signup_unproven: asReview(chooseUnproven),
  },
} satisfies Subject;
