// Notifications on the first page: those that Crossbill gave up.
import { type Needed } from '../../frames/console/needs.js';
import { count } from '../../frames/console/show.js';

export function deadNeeds(dead: number): Needed {
  const what =
    dead === 1
      ? 'Crossbill gave up a notification to your backend'
      : `Crossbill gave up ${count(dead)} notifications to your backend`;
  const next = 'See the answers of your backend. Fix it, then send again.';
  return { needs: dead > 0 ? [{ what, next, path: '/console/notifications?status=dead' }] : [] };
}
