// Customers who must have a saved payment method at the MoR before Stripe charges nobody: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';

export const enrolment = feature({
  name: 'enrolment',
  modules: async () => [(await import('./enrolment.module.js')).EnrolmentModule],
});
