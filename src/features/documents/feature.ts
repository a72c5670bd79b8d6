// Invoice files and e-invoices of the MoR: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';

export const documents = feature({
  name: 'documents',
  modules: async () => [(await import('./documents.module.js')).DocumentsModule],
});
