// The steps of a rehearsal, in order.
import { verify } from './end.steps.js';
import { anotherCard, declined, paymentLink, retry } from './refusal.steps.js';
import { mark, partRefund, renewal } from './renewal.steps.js';
import { firstInvoice, signup } from './signup.steps.js';
import { answers, customer, settings } from './start.steps.js';
import { type Step } from './step.js';

export const STEPS: readonly Step[] = [
  settings,
  customer,
  answers,
  signup,
  firstInvoice,
  renewal,
  mark,
  partRefund,
  declined,
  anotherCard,
  retry,
  paymentLink,
  verify,
];
