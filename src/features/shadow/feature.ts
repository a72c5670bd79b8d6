// What shadow mode shows: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';

export const shadow = feature({
  name: 'shadow',
  modules: async () => [(await import('./shadow.module.js')).ShadowModule],
  commands: {
    setup: [
      {
        name: 'shadow',
        about:
          'compare shadow mode with your present integration; exit code 0 the same, 3 differences, 4 could not compare',
        load: async () => (await import('./shadow.command.js')).addShadow,
      },
    ],
  },
  status: async () => (await import('./shadow.status.js')).status,
});
