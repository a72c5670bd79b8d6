// The engine's table for invoices: the rule for each event, call, item and choice.
import { nextLookup } from '../../engine/lookup.js';
import { invoiceLookup } from '../books/rules/invoice-facts.js';
import { type Subject } from '../../engine/subject.js';
import { dropFirstCharge, firstChargeLookup } from './rules/first-charge.js';
import { chooseDraft, draftItems } from './rules/invoice.js';
import { relayCall } from './rules/relay.js';
import { chooseOverdue, debitLookup, expectVerdict, overdueItems } from './rules/verdict.js';

export const invoices = {
  before: [dropFirstCharge, expectVerdict],
  calls: { relay_event: relayCall },
  items: [overdueItems, draftItems],
  lookups: [nextLookup(firstChargeLookup), nextLookup(invoiceLookup), nextLookup(debitLookup)],
  choices: { renewal_overdue: chooseOverdue, finalization_failed: chooseDraft },
} satisfies Subject;
