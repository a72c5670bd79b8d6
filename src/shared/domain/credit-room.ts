// How much of an invoice credit notes may still take. One answer for refunds and for losses.
import { type LaneRows } from './model.js';
import { type LossCredit } from './mor-object.js';
import { saleOf } from './surplus.js';

type Rows = Pick<LaneRows, 'invoice' | 'refunds' | 'objects'>;

/**
 * The room for one more credit note, in smallest units: the invoice's total less its credit notes, made by Crossbill or
 * by hand on Stripe. An older debt collected with the invoice is no part of its total. Null: the total is unknown.
 * The API reference of invoices and credit notes names no limit in words; Stripe refuses notes beyond the total.
 */
export function creditRoom({ invoice, refunds, objects }: Rows): bigint | null {
  const { total = null, amountCredited = null } = invoice ?? {};
  if (total === null) return null;
  const ours = refunds.reduce((sum, r) => (r.creditNoteId === null ? sum : sum + saleOf(r)), 0n);
  const made = creditsIn(objects).reduce((sum, c) => (c.noteId === null ? sum : sum + BigInt(c.minor)), ours);
  // Stripe's sum has the notes made by hand. A sum from before our newest note is too small.
  const credited = amountCredited !== null && amountCredited > made ? amountCredited : made;
  return total > credited ? total - credited : 0n;
}

/** True until the reply to a credit note: Stripe's sum may or may not have it, so the room is unknown. */
export function isNoteOnItsWay({ refunds, objects }: Pick<Rows, 'refunds' | 'objects'>): boolean {
  const stages = [...refunds.map((r) => r.mirror), ...creditsIn(objects).map((c) => c.stage)];
  return stages.some((stage) => stage === 'reporting' || stage === 'crediting');
}

function creditsIn(objects: Rows['objects']): readonly LossCredit[] {
  return objects.flatMap((o) => o.detail.credit ?? []);
}
