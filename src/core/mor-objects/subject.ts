// The engine's table for objects at the MoR: the rule for each event, call, item and choice.
import { type Subject } from '../../engine/subject.js';
import { pollObjects, nameCustomers, openObjectItems } from './rules/mor-object.js';

export const morObjects = {
  objects: 'all',
  before: [nameCustomers],
  after: [pollObjects],
  items: [openObjectItems],
} satisfies Subject;
