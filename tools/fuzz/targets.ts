// Every target that needs no daemon.
import { type Target } from './target.js';
import { doorTargets } from './targets/doors.js';
import { insideTargets } from './targets/inside.js';
import { peerTargets } from './targets/peers.js';
import { settingTargets } from './targets/settings.js';
import { textTargets } from './targets/texts.js';

export const targets: readonly Target[] = [
  ...doorTargets,
  ...peerTargets,
  ...settingTargets,
  ...textTargets,
  ...insideTargets,
];
