// Onboarding of merchants, for partners of the MoR: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';

export const onboarding = feature({
  name: 'onboarding',
  modules: async () => [(await import('./onboarding.module.js')).OnboardingModule],
  commands: async () => (await import('./onboard.command.js')).commands,
});
