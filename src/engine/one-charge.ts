// One charge is one sum of money: booked for one payment, paying one invoice, whatever the MoR's events name.
import { type PaymentRow, type ReviewRow } from '../domain/model.js';
import { effectName } from '../domain/payment-name.js';
import { type ChargeHolder } from './context.js';
import { moveMark } from './moves.js';
import { type Draft, type Lane } from './draft.js';
import { paymentCollected } from '../domain/postings.js';

/**
 * Books what the MoR took for a payment. False: the charge was collected for another invoice's payment. Then nothing is booked or marked, and
 * an item names both.
 */
export function collect(lane: Lane, p: Draft<PaymentRow>, eventId: string | null): boolean {
  const { amount, processorChargeId: charge } = p;
  if (amount === null) return true;
  const holder = charge === null ? undefined : lane.ctx.chargesElsewhere?.get(charge);
  if (holder !== undefined) {
    setAside(lane, p, amount, holder);
    return false;
  }
  const isOf = (paymentRowId: string | null, topic: string): boolean =>
    topic === 'charge-elsewhere' && paymentRowId === p.id;
  const how = { by: null, resolution: 'cleared', note: 'the MoR names a charge of its own for it' } as const;
  lane.closeItems((r) => isOf(r.paymentRowId, r.topic), how);
  const entry = paymentCollected(p, amount, lane.now, eventId);
  const again = lane.payments.some((x) => x.id !== p.id && x.succeededAt !== null && x.processorChargeId === charge);
  lane.book(again ? { ...entry, processorChargeId: null } : entry);
  return true;
}

/** The payment waits for a person, who can only leave it aside. It stays aside when the MoR names the same charge again. */
function setAside(lane: Lane, p: Draft<PaymentRow>, amount: bigint, holder: ChargeHolder): void {
  Object.assign(p, { succeededAt: null, proveDueAt: null });
  if (p.mark === 'closed') p.status = 'failed';
  else {
    if (p.mark !== 'parked') moveMark(p, 'waiting');
    moveMark(p, 'parked');
  }
  lane.ask({
    kind: 'double_payment',
    subject: `${p.id}:charge`,
    paymentRowId: p.id,
    fact: {
      code: 'charge-elsewhere',
      payment: effectName(p),
      amount: { minor: amount, currency: p.currency },
      charge: p.processorChargeId,
      holder: holder.payment,
      holderInvoice: holder.invoiceId,
    },
    actions: ['dismiss'],
  });
}

/** A signup's charge is real: from here on it is a payment like any other. */
export function believe(lane: Lane, p: Draft<PaymentRow>, how: string): void {
  if (p.amount === null) return;
  const isNew = p.succeededAt === null;
  Object.assign(p, { status: 'succeeded', succeededAt: p.succeededAt ?? lane.now, proveDueAt: null });
  if (isNew && !collect(lane, p, null)) return;
  moveMark(p, 'waiting');
  lane.say('decision', `charge ${p.processorChargeId ?? ''} is proven: ${how}`, p);
}

/** The amount of a signup's payment is certain: its item closes, and a mark that waited for it goes on. */
export function settleAmount(lane: Lane, p: Draft<PaymentRow>, note: string): void {
  const isAsked = lane.reviews.some((r) => isOfAmount(p, r));
  if (!isAsked) return;
  lane.closeItems((r) => isOfAmount(p, r), { by: null, resolution: 'cleared', note });
  if (p.mark === 'parked' && p.succeededAt !== null) moveMark(p, 'waiting');
}

function isOfAmount({ signupId }: PaymentRow, r: ReviewRow): boolean {
  return signupId !== null && r.status === 'open' && r.kind === 'amount_mismatch' && r.subject === signupId;
}
