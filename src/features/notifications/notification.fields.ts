// The fields of a notification, for the page, the CSV and the command line's table.
import { field, fields } from '../../frames/console/fields.js';
import { html } from '../../frames/console/html.js';
import { dotted } from '../../frames/console/show.js';
import { type NotificationView } from './notification.view.js';

export const notificationFields = fields<NotificationView>({
  id: field.id('Notification'),
  type: field.text({
    label: 'Type',
    phone: 'lead',
    cell: (n) => html`<a href="/console/notifications/${encodeURIComponent(n.id)}">${dotted(n.type)}</a>`,
  }),
  status: field.status({ label: 'Status', phone: 'side' }),
  invoice_id: field.ref('invoices', 'Invoice'),
  attempts: field.count('Tries'),
  last_error: field.text({ label: 'Last error', phone: 'below', cell: (n) => n.last_error ?? '' }),
  created_at: field.time({ label: 'Created', phone: 'below' }),
  next_try_at: field.time(),
  delivered_at: field.time(),
});
