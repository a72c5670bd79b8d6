// The fields of a review item, for the CSV and the command line's table. The console shows no table of items.
import { field, fields } from '../../frames/console/fields.js';
import { type ReviewView } from './review.view.js';

export const reviewFields = fields<ReviewView>({
  id: field.id('Review item'),
  due_at: field.time('Due'),
  created_at: field.time('Since'),
  kind: field.word('Kind'),
  status: field.status('Status'),
  invoice_id: field.ref('invoices', 'Invoice'),
  summary: field.text('What happened'),
  fact: field.word(),
  payment_id: field.id(),
  refund_id: field.id(),
  resolved_at: field.time(),
  resolved_by: field.text(),
  resolution: field.word(),
  note: field.text(),
});
