// What shadow mode shows: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';

export const shadow = feature({
  name: 'shadow',
  modules: async () => [(await import('./shadow.module.js')).ShadowModule],
  commands: async () => (await import('./shadow.command.js')).commands,
  status: async () => (await import('./shadow.status.js')).status,
});
