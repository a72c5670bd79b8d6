// The features, in order. To remove one, delete its folder and its two lines here: nothing else names it.
import { type Feature } from './feature.js';
import { documents } from './features/documents/feature.js';
import { enrolment } from './features/enrolment/feature.js';
import { links } from './features/links/feature.js';
import { losses } from './features/losses/feature.js';
import { moves } from './features/moves/feature.js';
import { notifications } from './features/notifications/feature.js';
import { onboarding } from './features/onboarding/feature.js';
import { overview } from './features/overview/feature.js';
import { retries } from './features/retries/feature.js';
import { shadow } from './features/shadow/feature.js';
import { tax } from './features/tax/feature.js';
import { transfers } from './features/transfers/feature.js';
import { verify } from './features/verify/feature.js';

/** The order is the order of their rules, and of their routes in the API reference. */
export const FEATURES = [
  losses,
  enrolment,
  links,
  moves,
  transfers,
  verify,
  notifications,
  tax,
  onboarding,
  retries,
  documents,
  shadow,
  overview, // last: its catch-all route answers unknown console pages
] as const satisfies readonly Feature[];
