// Which customers the MoR charges (ENROLMENT): everything the rest of Crossbill gets from this folder.
import './facts.js';
import { feature } from '../../feature.js';
import { enrolment as lane } from './subject.js';
import { enrolmentWords } from './words.js';

export const enrolment = feature({
  name: 'enrolment',
  modules: async () => [(await import('./enrolment.module.js')).EnrolmentModule],
  status: async () => (await import('./enrolment.status.js')).status,
  checks: async () => (await import('./enrolment.checks.js')).checks,
  lanes: [lane],
  words: enrolmentWords,
  impacts: { double_charge_risk: 'Stripe may charge the customer in addition to the MoR.' },
});
