// Joins the engine with the rule for a second body of an event.
import { type Subject } from '../../engine/subject.js';
import { takeSecondBody } from './rules/second-body.js';

export const events = { events: { 'event.second_body': takeSecondBody } } satisfies Subject;
