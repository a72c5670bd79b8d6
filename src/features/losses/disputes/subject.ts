// The engine's table for disputes and alerts: the rule for each event, call, item and choice.
import { type Subject } from '../../../engine/subject.js';
import { nameDisputed } from './rules/dispute.js';
import { alertItems, disputeItems } from './rules/items.js';

export const disputes = {
  objects: ['dispute', 'alert'],
  after: [nameDisputed],
  items: [disputeItems, alertItems],
} satisfies Subject;
