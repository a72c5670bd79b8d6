// The fields of a subscription's move, for the page, the CSV and the command line's table.
import { field, fields } from '../../frames/console/fields.js';
import { id } from '../../frames/console/show.js';
import { type MoveView } from './move.view.js';

export const moveFields = fields<MoveView>({
  subscription_id: field.text({ label: 'Subscription', phone: 'lead', cell: (m) => id(m.subscription_id) }),
  customer_id: field.customer({ label: 'Customer', phone: 'below' }),
  status: field.status({ label: 'Status', phone: 'side' }),
  fact: field.word(),
  reason: field.text({ label: 'Why', phone: 'below', cell: (m) => m.reason ?? '' }),
  way: field.word(),
  renews_at: field.time({ label: 'Renews', none: 'not known' }),
  moved_at: field.time(),
  changed_by: field.text(),
  created_at: field.time(),
  updated_at: field.time('Changed'),
});
