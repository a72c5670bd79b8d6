// The engine's table for objects at the MoR: the rule for each event, call, item and choice.
import { type Subject } from '../../engine/subject.js';
import { pollObjects } from './rules/read-object.js';
import { nameCustomers } from './rules/object-money.js';
import { openObjectItems } from './rules/open-objects.js';

export const morObjects = {
  objects: 'all',
  before: [nameCustomers],
  after: [pollObjects],
  items: [openObjectItems],
} satisfies Subject;
