// Signups join the engine.
import { nothingMore, type Subject } from '../engine/subject.js';
import { takeCompleted, takeOverdue, unsettledItems } from './rules/signup.js';

export const signups = {
  events: { 'signup.overdue': takeOverdue, 'signup.completed': takeCompleted },
  items: [unsettledItems],
  choices: { signup_overdue: nothingMore },
} satisfies Subject;
