// A person's choice for the newest open review item of an invoice.
import { type ReviewKind, type Resolution } from '../../src/domain/model.js';
import { INVOICE_ID } from './builders.js';
import { resolveReview } from './decide.js';
import { type LaneHarness } from './lane-harness.js';

export async function chooseItem(
  h: LaneHarness,
  resolution: Resolution,
  {
    kind,
    note = null,
    by = 'ada',
  }: { readonly kind?: ReviewKind; readonly note?: string | null; readonly by?: string } = {},
) {
  const open = (await h.state(INVOICE_ID)).reviews.filter((r) => r.status === 'open');
  const item = open.findLast((r) => kind === undefined || r.kind === kind);
  return h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', { resolution, note, by }, ctx));
}
