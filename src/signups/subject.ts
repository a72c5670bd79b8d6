// The engine's table for signups: the rule for each event, call, item and choice.
import { type Subject } from '../engine/subject.js';
import { confirmCharged } from './confirm-charged.js';
import { takeCompleted, takeOverdue, unsettledItems } from './rules/signup.js';
import { nothingMore } from '../engine/commanded.js';

export const signups = {
  events: { 'signup.overdue': takeOverdue, 'signup.completed': takeCompleted },
  items: [unsettledItems],
  writes: [confirmCharged],
  choices: { signup_overdue: nothingMore },
} satisfies Subject;
