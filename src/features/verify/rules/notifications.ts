// The notification about a verify run.
import { count, counts, text } from '../../../shared/domain/notification-fields.js';
import { notification, page, see } from '../../../shared/domain/notification-parts.js';

export const verifyNotifications = {
  'verify.differences': notification(
    'A verify run found differences without an open review item',
    {
      run_id: text('The id of the verify run; `GET /v1/verify` has the newest run.', 'ver_sample'),
      differences: count('The number of differences.', 1),
      by_kind: counts('The number of differences of each kind.', { no_verdict: 1 }),
      console: page('/console/verify'),
    },
    (d) =>
      `Verify found ${d.differences} difference${d.differences === 1 ? '' : 's'} without an open review item.${see(d)}`,
  ),
};

declare module '../../../shared/domain/notification.js' {
  interface FeatureNotifications {
    readonly 'verify.differences': (typeof verifyNotifications)['verify.differences'];
  }
}
