// Retries of failed renewals: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';

export const retries = feature({
  name: 'retries',
  modules: async () => [(await import('./retries.module.js')).RetriesModule],
});
