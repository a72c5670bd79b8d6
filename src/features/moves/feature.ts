// Moving customers to the MoR, and back: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';
import { MOVE_WORDS } from './erased.js';

export const moves = feature({
  name: 'moves',
  erased: { rows: [{ row: MOVE_WORDS, count: 'texts' }] },
  modules: async () => [(await import('./moves.module.js')).MovesModule],
  commands: {
    setup: [
      {
        name: 'move',
        about:
          "let the MoR collect: end Stripe's charges for the subscriptions of linked customers, 24 hours or more before a renewal",
        load: async () => (await import('./move.command.js')).addMove,
      },
    ],
  },
  status: async () => (await import('./move.status.js')).status,
});
