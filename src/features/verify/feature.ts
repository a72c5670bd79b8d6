// The daily comparison of the ledger with Stripe and the MoR: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';
import { FORGET_DETAILS, FORGET_LOOSE_NOTES, FORGET_NOTES } from './erased.js';

export const verify = feature({
  name: 'verify',
  erased: { texts: [FORGET_NOTES, FORGET_DETAILS], mentions: [FORGET_LOOSE_NOTES] },
  modules: async () => [(await import('./verify.module.js')).VerifyModule],
  commands: async () => (await import('./verify.command.js')).commands,
  status: async () => (await import('./verify.status.js')).status,
  checks: async () => (await import('./verify.checks.js')).checks,
});
