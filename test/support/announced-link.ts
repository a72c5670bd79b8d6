// A payment that the MoR announces on the first link of a renewal, and what the MoR says of that link then: for tests of decisions.
import { resolveReview } from '../../src/lane/rules/resolve-review.js';
import { type ReviewRow } from '../../src/domain/model.js';
import { type CallOutcome } from '../../src/domain/ports/call.js';
import { type LinkFacts, type ObjectFacts } from '../../src/domain/ports/mor-channels.js';
import { delivery, INVOICE_ID } from './builders.js';
import { DAY_MS, refused, rig, SCHEDULE, state } from './retry-rig.js';

type Rig = ReturnType<typeof rig>;

/** The MoR announces a payment on the link, made now: by charge ch_9. */
export function captured(
  { h }: Pick<Rig, 'h'>,
  id = 'evt_captured',
  link: object = { paymentLinkId: 'link_1' },
): ReturnType<typeof delivery> {
  const type = 'payment.captured';
  const created = h.clock.now().toISOString();
  const data = { ...link, pspReference: 'ch_9' };
  return delivery('mor_events', id, type, INVOICE_ID, { id, type, created, data });
}

/** A link comes first, and a charge a day after it. */
export const CHARGED_NEXT = {
  retrySchedule: { ...SCHEDULE, hard: [{ do: 'link' }, { do: 'charge', afterMs: DAY_MS }] },
} as const;

/** A renewal that was refused for good, and its first link. */
export async function withLink(over: Parameters<typeof rig>[0] = {}): Promise<Rig> {
  const r = rig(over);
  await refused(r, 'stolen_card');
  await r.h.drain();
  return r;
}

export const summaries = async (r: Rig): Promise<readonly string[]> => (await openItems(r)).map((x) => x.summary);

export async function openItems(r: Rig): Promise<readonly ReviewRow[]> {
  return (await state(r)).reviews.filter((x) => x.status === 'open');
}

/** A person looks into an open item, the first one unless it is said which, and chooses this. */
export async function settled(r: Rig, resolution: 'dismiss' | 'retry', n = 0): Promise<void> {
  const item = (await openItems(r))[n];
  const choice = { resolution, by: 'ops', note: null } as const;
  if (item !== undefined) await r.h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item.id, choice, ctx));
}

export const dismissed = (r: Rig, n = 0): Promise<void> => settled(r, 'dismiss', n);

/** The MoR does not know the link, or not any more. */
export const gone = async () => ({ ok: true, status: 404, requestId: null, value: null }) as const;

/** A link of 10.00 EUR, of which all is due, as the MoR shows it: `over` is what differs. */
export function shows(over: Partial<LinkFacts>): (kind: string, morId: string) => Promise<CallOutcome<ObjectFacts>> {
  const all = { minor: 1000n, currency: 'EUR' };
  const link = { status: 'PAYABLE', url: 'https://pay.example/1', expiresAt: null, priced: all, due: all } as const;
  return async (_, morId) => {
    const value: ObjectFacts = { kind: 'payment_link', link: { ...link, morId, ...over } };
    return { ok: true, status: 200, requestId: null, value };
  };
}
