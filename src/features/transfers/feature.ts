// Proforma invoices and bank transfers: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';

export const transfers = feature({
  name: 'transfers',
  modules: async () => [(await import('./transfers.module.js')).TransfersModule],
});
