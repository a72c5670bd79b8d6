// The engine's table for bank transfers: the rule for each event, call, item and choice.
import { nextLookup } from '../../engine/lookup.js';
import { type Subject } from '../../engine/subject.js';
import { createProformaCall, proformaLookup, unheardTransfers } from './rules/proforma.js';

export const transfers = {
  objects: ['proforma'],
  calls: { create_proforma: createProformaCall },
  items: [unheardTransfers],
  lookups: [nextLookup(proformaLookup)],
} satisfies Subject;
