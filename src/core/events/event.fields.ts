// The fields of an event, for the page, the CSV and the command line's table.
import { field, fields } from '../../frames/console/fields.js';
import { html } from '../../frames/console/html.js';
import { capital, eventWords, foreign, invoiceNumberLink, words } from '../../frames/console/show.js';
import { type ListedEvent } from './event.view.js';

export const eventFields = fields<ListedEvent>({
  id: field.id('Id'),
  type: field.text({
    label: 'Event',
    phone: 'lead',
    cell: (e) =>
      html`<a href="/console/events/${encodeURIComponent(e.id)}" title="${e.type}">${eventWords(e.type)}</a>`,
  }),
  status: field.status({ label: 'Status', phone: 'side' }),
  source: field.word({ label: 'Sender', cell: (e) => html`<span class="whole">${capital(words(e.source))}</span>` }),
  lane: field.text({
    label: 'Invoice',
    cell: (e) => (e.lane.startsWith('in_') ? invoiceNumberLink(e.lane, e.invoice_number) : ''),
  }),
  reason: field.text({
    label: 'Why',
    phone: 'below',
    cell: (e) => (e.reason === undefined ? '' : foreign(e.reason)),
  }),
  note: field.text(),
  received_at: field.time({ label: 'Received', phone: 'below' }),
  decided_at: field.time(),
  event_id: field.id(),
  attempts: field.count(),
});
