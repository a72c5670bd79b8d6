// The operator's choice about an open review item of the invoice.
import { type Resolution, type ReviewKind } from '../../src/domain/model.js';
import { INVOICE_ID } from './builders.js';
import { resolveReview } from './decide.js';
import { type LaneHarness } from './lane-harness.js';

/** Resolves the first open item, or the first of this kind. Fails if there is none, or the choice is refused. */
export async function resolveOpen(h: LaneHarness, resolution: Resolution, kind?: ReviewKind): Promise<void> {
  const { reviews } = await h.state(INVOICE_ID);
  const item = reviews.find((r) => r.status === 'open' && (kind === undefined || r.kind === kind));
  const choice = { resolution, note: null, by: 'ops' };
  const done = await h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? 'no open item', choice, ctx));
  if (!done.ok) throw new Error(`${done.code}: ${done.message}`);
}
