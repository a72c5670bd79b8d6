// Money that a bank took back: disputes and returned debits. This is everything the rest of Crossbill gets from this
// folder.
import { feature } from '../../feature.js';

export const losses = feature({
  name: 'losses',
  modules: async () => [
    (await import('./returns/returns.module.js')).ReturnsModule,
    (await import('./disputes/disputes.module.js')).DisputesModule,
  ],
});
