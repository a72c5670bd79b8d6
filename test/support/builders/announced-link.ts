// A payment that the MoR announces on the first link of a renewal, and the MoR's view of this link, for tests of
// decisions.
import { type ReviewRow } from '../../../src/shared/domain/review-row.js';
import { type CallOutcome } from '../../../src/shared/domain/ports/call.js';
import { type LinkFacts, type ObjectFacts } from '../../../src/shared/domain/ports/mor-channels.js';
import { callKey } from '../../../src/engine/context.js';
import { applyObjectRead } from '../rigs/object-calls.js';
import { aPaymentSucceeded, aRefund, delivery, INVOICE_ID, invoiceEvent } from './events.js';
import { failed } from '../fakes/fake-platform.js';
import { after, DAY_MS, HOUR_MS, refused, rig, SCHEDULE, state } from '../rigs/retry-rig.js';
import { resolveReview } from '../rigs/decide.js';

type Rig = ReturnType<typeof rig>;

/** The MoR announces a payment on the link now: by charge ch_9, unless `link` names another charge. */
export function captured(
  { h }: Pick<Rig, 'h'>,
  id = 'evt_captured',
  link: object = { paymentLinkId: 'link_1' },
): ReturnType<typeof delivery> {
  const type = 'payment.captured';
  const created = h.clock.now().toISOString();
  const data = { pspReference: 'ch_9', ...link };
  return delivery('mor_events', id, type, INVOICE_ID, { id, type, created, data });
}

/** A schedule with a link first, and a charge a day later. */
export const CHARGED_NEXT = {
  retrySchedule: { ...SCHEDULE, hard: [{ do: 'link' }, { do: 'charge', afterMs: DAY_MS }] },
} as const;

/** A renewal refused for good, with its first link. */
export async function withLink(over: Parameters<typeof rig>[0] = {}): Promise<Rig> {
  const r = rig(over);
  await refused(r, 'stolen_card');
  await r.h.drain();
  return r;
}

/** A link with an announced charge ch_9. `read` is the MoR's reply to reads of the link. */
export async function withOneCharge(read: Rig['links']['read']): Promise<Rig> {
  const r = await withLink(CHARGED_NEXT);
  r.links.read = read;
  await r.h.take(captured(r));
  return r;
}

/** A link with announced charges ch_9 and ch_10. `read` is the MoR's reply to reads of the link. */
export async function withTwoCharges(read: Rig['links']['read']): Promise<Rig> {
  const r = await withOneCharge(read);
  await r.h.take(captured(r, 'evt_captured_2', { paymentLinkId: 'link_1', pspReference: 'ch_10' }));
  return r;
}

/** A renewal refused for good. `reply` is the MoR's reply to the request for its link. */
export async function withLinkAsked(reply: Rig['links']['createLink']): Promise<Rig> {
  const r = rig(CHARGED_NEXT);
  r.links.createLink = reply;
  await refused(r, 'stolen_card');
  await r.h.drain();
  await after(r, 1_000);
  return r;
}

/** The MoR refuses a request for a link. */
export const notGiven = async (): Promise<CallOutcome<LinkFacts>> =>
  failed('refused', { status: 409, code: 'no_active_arrangement', message: 'none' });

/** Names the first link as an announcement does, by the key of its request. */
export async function byKey(rig: Rig): Promise<{ readonly idempotencyKey: string }> {
  return { idempotencyKey: callKey('create_payment_link', (await state(rig)).objects[0]?.id ?? '', 1) };
}

/** The MoR's payment event with this charge. */
export const paid = (rig: Rig, paymentId = 'pay_nine', chargeId = 'ch_9'): Promise<unknown> =>
  rig.h.take(aPaymentSucceeded({ paymentId, chargeId, at: rig.h.clock.now() }));

/** Lets this many hours pass, one by one. */
export async function hours(rig: Rig, times: number): Promise<void> {
  for (let n = 0; n < times; n++) await after(rig, HOUR_MS);
}

/** A caller asks about the first link. `read` is the MoR's reply. */
export async function callerReads(rig: Rig, read: Rig['links']['read']): Promise<void> {
  const id = (await state(rig)).objects[0]?.id ?? '';
  const shown = await read('payment_link', 'link_1');
  await rig.h.command(INVOICE_ID, (s, ctx) => ({ ok: true, state: applyObjectRead(s, id, shown, ctx), value: null }));
}

/** The money in the books: for each payment its charge and the state of its mark. */
export const taken = async (rig: Rig): Promise<string[]> =>
  (await state(rig)).payments
    .filter((p) => p.succeededAt !== null)
    .map((p) => `${p.processorChargeId ?? ''} ${p.mark}`);

/** For each refund: the state of its refund on Stripe, and the name of its payment. */
export async function mirrors(rig: Rig): Promise<readonly unknown[]> {
  const s = await state(rig);
  return s.refunds.map((x) => [x.mirror, s.payments.find((p) => p.id === x.paymentRowId)?.paymentId]);
}

export const topics = async (rig: Rig): Promise<readonly string[]> => (await openItems(rig)).map((x) => x.topic);

export async function openItems(rig: Rig): Promise<readonly ReviewRow[]> {
  return (await state(rig)).reviews.filter((x) => x.status === 'open');
}

/** A person chooses this resolution for an open item, by default the first one. */
export async function settled(rig: Rig, resolution: 'dismiss' | 'retry' | 'refund', count = 0): Promise<void> {
  const item = (await openItems(rig))[count];
  const choice = { resolution, by: 'ops', note: null } as const;
  if (item !== undefined) await rig.h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item.id, choice, ctx));
}

export const dismissed = (rig: Rig, count = 0): Promise<void> => settled(rig, 'dismiss', count);

/**
 * Somebody marks the invoice on Stripe with a payment record with this reference, as an item about the link proposes.
 */
export async function markedByHand({ h }: Rig, reference = 'link_1'): Promise<void> {
  h.platform.payAnotherWay(INVOICE_ID);
  const record = { id: 'pr_hand', reference, minor: 1000n, currency: 'EUR', paymentId: '', refunds: [] };
  h.platform.records.push({ ...record, invoiceId: INVOICE_ID });
  h.platform.payments.set(INVOICE_ID, [{ recordId: 'pr_hand', minor: 1000n }]);
  await h.take(invoiceEvent('invoice.paid'));
}

/** The MoR knows the link again, and the link is paid. */
export function isPaid(rig: Rig): void {
  Reflect.deleteProperty(rig.links, 'read');
  rig.links.pay('link_1');
}

/** The MoR refunds 10.00 EUR of this charge. */
export const givenBack = (rig: Rig, paymentId: string, chargeId: string): Promise<unknown> =>
  rig.h.take(aRefund({ paymentId, chargeId, amount: 1000, at: rig.h.clock.now() }));

/** The MoR is down. */
export const away = async () => failed('unknown', { status: 503 });

/** The MoR does not know the link, or no longer knows it. */
export const gone = async () => ({ ok: true, status: 404, requestId: null, value: null }) as const;

/** The MoR's view of a link of 10.00 EUR, all due. `over` changes fields. */
export function shows(over: Partial<LinkFacts>): (kind: string, morId: string) => Promise<CallOutcome<ObjectFacts>> {
  const all = { minor: 1000n, currency: 'EUR' };
  const link = { status: 'PAYABLE', url: 'https://pay.example/1', expiresAt: null, priced: all, due: all } as const;
  return async (_, morId) => {
    const value: ObjectFacts = { kind: 'payment_link', link: { ...link, morId, ...over } };
    return { ok: true, status: 200, requestId: null, value };
  };
}
