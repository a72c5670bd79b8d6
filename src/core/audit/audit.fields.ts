// The fields of the audit trail, for the page and the CSV.
import { field, fields } from '../../frames/console/fields.js';
import { html } from '../../frames/console/html.js';
import { foreign, reference, status } from '../../frames/console/show.js';
import { type AuditView } from './audit.view.js';

export const auditFields = fields<AuditView>({
  at: field.time({ label: 'When', phone: 'below' }),
  actor: field.text({
    label: 'Who',
    phone: 'below',
    cell: (a) => html`${foreign(a.actor)} ${a.role !== null && html`<span class="dim">(${a.role})</span>`}`,
  }),
  role: field.word(),
  action: field.text({ label: 'What', phone: 'lead', cell: (a) => html`<code>${a.action}</code>` }),
  target: field.text({ label: 'About', cell: (a) => (a.target === undefined ? '' : reference(a.target)) }),
  outcome: field.status({
    label: 'Outcome',
    phone: 'side',
    cell: (a) => html`${status(a.outcome)} ${a.status !== null && html`<span class="dim">${a.status}</span>`}`,
  }),
  status: field.count(),
  source: field.text({ label: 'From', cell: (a) => html`<code>${a.source}</code>` }),
});
