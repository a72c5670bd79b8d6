// Tax calculations and the tax catalogue: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';

export const tax = feature({
  name: 'tax',
  modules: async () => [(await import('./tax.module.js')).TaxModule],
});
