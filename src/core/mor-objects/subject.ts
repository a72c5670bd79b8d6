// The engine's table for objects at the MoR: the rule for each event, call, item and choice.
import { type Subject } from '../../engine/subject.js';
import { pollObjects, nameCustomers, standingItems } from './rules/mor-object.js';

export const morObjects = {
  objects: 'all',
  before: [nameCustomers],
  after: [pollObjects],
  items: [standingItems],
} satisfies Subject;
