// A person's choice for the newest open review item of an invoice.
import { type ReviewKind } from '../../../src/shared/domain/fact.js';
import { type Resolution } from '../../../src/shared/domain/review-row.js';
import { INVOICE_ID } from '../builders/events.js';
import { resolveReview } from './decide.js';
import { type LaneHarness } from './lane-harness.js';

type Choice = { readonly kind?: ReviewKind; readonly note?: string | null; readonly by?: string };

/** Makes the choice, and returns Crossbill's answer. */
export async function tryChoice(
  harness: LaneHarness,
  resolution: Resolution,
  { kind, note = null, by = 'ada' }: Choice = {},
) {
  const open = (await harness.state(INVOICE_ID)).reviews.filter((r) => r.status === 'open');
  const item = open.findLast((r) => kind === undefined || r.kind === kind);
  return harness.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', { resolution, note, by }, ctx));
}

/** Makes the choice. Throws if there is no such item, or if Crossbill refuses the choice. */
export async function chooseItem(harness: LaneHarness, resolution: Resolution, choice: Choice = {}): Promise<void> {
  const done = await tryChoice(harness, resolution, choice);
  if (!done.ok) throw new Error(`${done.code}: ${done.message}`);
}
