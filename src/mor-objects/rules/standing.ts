// What can still be paid, or may be, although its invoice is settled another way: the customer may pay twice, so a person is told.
import { type LaneRows } from '../../domain/model.js';
import {
  heardAt,
  isLiveProforma,
  isPayableLink,
  isStandingLink,
  type MorObjectRow,
  TRANSFERRED,
} from '../../domain/mor-object.js';
import { type Holds, itemRule } from '../../engine/items.js';

type StandingFact = Holds<'may-stand' | 'still-payable'>['fact'];

/** A proforma invoice or a link next to its settled invoice, until it ends. */
export const standingItems = itemRule({ 'may-stand': whyOver, 'still-payable': whyOver }, function* (lane) {
  for (const o of lane.objects) {
    if (o.kind !== 'proforma' && o.kind !== 'payment_link') continue;
    const stands = canBePaid(o, lane.now);
    const fact = dangerOf(lane, o, stands) ?? (stands || o.status === 'REQUESTED' ? openFact(lane, o) : null);
    if (fact !== null)
      yield { kind: 'double_payment', about: o, paymentRowId: null, fact, actions: ['retry', 'dismiss'] };
  }
});

function canBePaid(o: MorObjectRow, now: Date): boolean {
  if (o.kind === 'payment_link') return isStandingLink(o) && isPayableLink(o, now);
  return o.morId !== null && isLiveProforma(o) && o.status !== 'REQUESTED' && !TRANSFERRED.has(o.status);
}

function dangerOf({ invoice }: LaneRows, o: MorObjectRow, stands: boolean): StandingFact | null {
  const what = o.kind === 'payment_link' ? 'payment_link' : 'proforma';
  const object = o.number ?? o.morId ?? o.id;
  if (o.detail.mayStand === true) return { code: 'may-stand', what, object, invoice: o.invoiceId };
  const status = invoice?.platformStatus;
  if ((status !== 'paid' && status !== 'void') || !stands || heardAt(o) !== null) return null;
  return { code: 'still-payable', what, object, status, until: o.deadline?.toISOString() ?? null };
}

/** A payment on it was announced, or its answer is awaited: nobody knows yet how it ends, and what a person was told still holds. */
function openFact({ reviews }: LaneRows, { id }: MorObjectRow): StandingFact | null {
  const open = reviews.find((r) => r.status === 'open' && r.kind === 'double_payment' && r.subject === id);
  const fact = open?.fact;
  return fact?.code === 'may-stand' || fact?.code === 'still-payable' ? fact : null;
}

function whyOver(lane: LaneRows, { subject }: { readonly subject: string }): string {
  const o = lane.objects.find((x) => x.id === subject);
  return `the ${o?.kind === 'proforma' ? 'proforma invoice' : 'link'} is ${o?.status ?? 'gone'}`;
}
