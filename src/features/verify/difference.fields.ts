// The fields of a difference, for its CSV.
import { field, fields } from '../../frames/console/fields.js';
import { type Difference } from '../../shared/domain/difference.js';
import { type DifferenceView, differenceView } from '../../core/invoices/difference.view.js';

type Listed = DifferenceView & { readonly acknowledged_by?: string | undefined; readonly note?: string | undefined };

export const differenceFields = fields<Listed>({
  id: field.id(),
  kind: field.word(),
  invoice_id: field.id(),
  payment_id: field.id(),
  refund_id: field.id(),
  event_id: field.id(),
  object_id: field.id(),
  detail: field.text(),
  repair: field.word(),
  review_id: field.id(),
  acknowledged_by: field.text(),
  note: field.text(),
});

/** A row of the CSV: the difference with its acknowledgement. */
export function listedDifference(difference: Difference): Listed {
  const { by, note } = difference.acknowledged ?? {};
  return { ...differenceView(difference), acknowledged_by: by, note };
}
