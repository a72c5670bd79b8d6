// All targets that need no daemon.
import { type Target } from './target.js';
import { endpointTargets } from './targets/endpoints.js';
import { logRows } from './targets/log-rows.js';
import { saidTargets } from './targets/passed-on.js';
import { peerTargets } from './targets/peers.js';
import { peopleTargets } from './targets/people.js';
import { settingTargets } from './targets/settings.js';
import { textTargets } from './targets/texts.js';

export const targets: readonly Target[] = [
  ...endpointTargets,
  ...peerTargets,
  ...settingTargets,
  ...textTargets,
  logRows,
  ...peopleTargets,
  ...saidTargets,
];
