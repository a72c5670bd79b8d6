// Payment links, on request and after a failed renewal: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';

export const links = feature({
  name: 'links',
  modules: async () => [(await import('./links.module.js')).LinksModule],
});
