// The daily comparison of the ledger with Stripe and the MoR: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';
import { verifyNotifications } from './rules/notifications.js';
import { FORGET_DETAILS, FORGET_LOOSE_NOTES, FORGET_NOTES } from './erased.js';

export const verify = feature({
  name: 'verify',
  erased: { texts: [FORGET_NOTES, FORGET_DETAILS], mentions: [FORGET_LOOSE_NOTES] },
  modules: async () => [(await import('./verify.module.js')).VerifyModule],
  commands: {
    act: [
      {
        name: 'verify',
        about:
          'compare ledger, Stripe and the MoR; exit code 0 clean or acknowledged, 3 differences, 4 could not compare',
        load: async () => (await import('./verify.command.js')).addVerify,
      },
    ],
    setup: [
      {
        name: 'backfill',
        about: 'fetch missing events and invoices from Stripe',
        load: async () => (await import('./verify.command.js')).addBackfill,
      },
    ],
  },
  notifications: verifyNotifications,
  status: async () => (await import('./verify.status.js')).status,
  checks: async () => (await import('./verify.checks.js')).checks,
});
