// The console's first page, its search and the pages over all nouns: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';

export const overview = feature({
  name: 'overview',
  modules: async () => [(await import('./overview.module.js')).OverviewModule],
});
