// One charge is one sum of money: it is booked for one payment, and pays one invoice, whatever the MoR's events name.
import { type LaneState, type PaymentRow } from '../../domain/model.js';
import { paymentCollected } from './postings.js';
import {
  addEntry,
  type ChargeHolder,
  type Ctx,
  openReview,
  openReviewOf,
  putPayment,
  restateReview,
} from '../../engine/change.js';
import { effectName } from '../../domain/payment-name.js';
import { moveMark } from '../../engine/moves.js';

/**
 * Books what the MoR took. `p` is stored with its charge. When the charge was collected for another invoice's payment, nothing is
 * booked and nothing will be marked: the payment is kept aside, and an item names both.
 */
export function collect(s: LaneState, p: PaymentRow, amount: bigint, ctx: Ctx, eventId: string | null): LaneState {
  const charge = p.processorChargeId;
  const holder = charge === null ? undefined : ctx.chargesElsewhere?.get(charge);
  if (holder !== undefined) return aside(s, p, amount, holder, ctx);
  const entry = paymentCollected(p, amount, ctx.now, eventId);
  const again = s.payments.some((x) => x.id !== p.id && x.succeededAt !== null && x.processorChargeId === charge);
  return addEntry(s, again ? { ...entry, processorChargeId: null } : entry);
}

function aside(s: LaneState, p: PaymentRow, amount: bigint, holder: ChargeHolder, ctx: Ctx): LaneState {
  const mark = p.mark === 'parked' ? p : moveMark(p.mark === 'waiting' ? p : moveMark(p, 'waiting'), 'parked');
  const row: PaymentRow = { ...mark, succeededAt: null, proveDueAt: null };
  const subject = `${p.id}${SHARED}`;
  const asked = openReview(putPayment(s, row), ctx, {
    kind: 'double_payment',
    subject,
    paymentRowId: p.id,
    fact: {
      code: 'charge-elsewhere',
      payment: effectName(p),
      amount: { minor: amount, currency: p.currency },
      charge: p.processorChargeId,
      holder: holder.payment,
      holderInvoice: holder.invoiceId,
      againAfter: saidAgainAfter(s, p, subject),
    },
    actions: ['dismiss'],
  });
  // Whoever has answered that already is not asked again.
  return openReviewOf(asked, 'double_payment', subject) === undefined ? letGo(asked, row) : asked;
}

/** The MoR refused it after the question was answered, or was asked to charge it again, and says after that that it was taken: that is news. */
function saidAgainAfter(s: LaneState, p: PaymentRow, subject: string): string | null {
  const answered = s.reviews.findLast((r) => r.subject === subject && r.resolution === 'dismiss');
  if (answered === undefined || p.succeededAt === null) return null;
  const { refusal, retries = [] } = s.invoice?.retries ?? {};
  const times = [p.verdictAt?.toISOString(), refusal?.at, ...retries.map((r) => r.at)];
  const last =
    times
      .filter((at) => at !== undefined)
      .toSorted()
      .at(-1) ?? '';
  const isNews = last > answered.createdAt.toISOString() && p.succeededAt.toISOString() > last;
  return isNews ? last : null;
}

/**
 * A person says that the charge paid the other invoice. For this one nothing came and nothing was refused: what the MoR says of it from now
 * on counts as its first word (`saysNothing`).
 */
export function letGo(s: LaneState, p: PaymentRow): LaneState {
  return putPayment(s, { ...moveMark(p, 'none'), status: 'failed', verdictAt: null });
}

const SHARED = ':charge';

/** The MoR has corrected the charge while a person looks into it: the payment is booked, and waits for them, who may have marked it by hand. */
export function tellOwnCharge(s: LaneState, { id }: PaymentRow, ctx: Ctx): LaneState {
  const open = openReviewOf(s, 'double_payment', `${id}${SHARED}`);
  const p = s.payments.find((x) => x.id === id);
  if (open === undefined || p === undefined || p.succeededAt === null) return s;
  const fact = { code: 'charge-corrected', payment: effectName(p), charge: p.processorChargeId } as const;
  return restateReview(s, ctx, open, { kind: 'double_payment', fact, actions: ['dismiss'] });
}
