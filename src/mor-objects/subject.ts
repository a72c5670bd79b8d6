// Joins the shared rules of transfers and payment links to the engine.
import { type Subject } from '../engine/subject.js';
import { lookAtObjects, nameCustomers, standingItems } from './rules/mor-object.js';

export const morObjects = {
  when: (lane) => lane.objects.length > 0,
  first: [nameCustomers],
  rest: [lookAtObjects],
  items: [standingItems],
} satisfies Subject;
