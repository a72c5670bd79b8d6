// The engine's table for second bodies of events: the rule for each event, call, item and choice.
import { type Subject } from '../engine/subject.js';
import { takeSecondBody } from './rules/second-body.js';

export const events = { events: { 'event.second_body': takeSecondBody } } satisfies Subject;
