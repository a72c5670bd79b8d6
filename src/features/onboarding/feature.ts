// Onboarding of merchants, for partners of the MoR: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';

export const onboarding = feature({
  name: 'onboarding',
  modules: async () => [(await import('./onboarding.module.js')).OnboardingModule],
  commands: {
    setup: [
      {
        name: 'onboard',
        about: 'merchants at the MoR; needs partner credentials',
        load: async () => (await import('./onboard.command.js')).addOnboard,
      },
    ],
  },
});
