// The daily comparison of the ledger with Stripe and the MoR: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';

export const verify = feature({
  name: 'verify',
  modules: async () => [(await import('./verify.module.js')).VerifyModule],
});
