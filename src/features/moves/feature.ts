// Moving customers to the MoR, and back: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';

export const moves = feature({
  name: 'moves',
  modules: async () => [(await import('./moves.module.js')).MovesModule],
});
