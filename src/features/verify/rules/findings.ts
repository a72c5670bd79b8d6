// Every difference verify can find: its kind, its repair, and its sentence. The comparisons give only ids and facts.
// Pure.
import { createHash } from 'node:crypto';
import {
  type Difference,
  type DifferenceKind,
  type OurInvoice,
  type Repair,
} from '../../../shared/domain/difference.js';
import { type Fact } from '../../../shared/domain/fact.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type ReviewRow } from '../../../shared/domain/review-row.js';
import { type Money, showMoney } from '../../../shared/domain/money.js';
import { sentencesOf } from '../../../core/reviews/rules/words.js';

type Ids = Pick<Difference, 'invoiceId' | 'paymentId' | 'refundId' | 'eventId' | 'objectId'>;
type About = Partial<Ids & Pick<Difference, 'reviewId'>>;

/**
 * Declares one kind of difference. Ids missing in `about` are null. The difference's own id depends on kind, ids and
 * facts, not on the sentence: it is the same in each run.
 */
function declare<F extends object>(kind: DifferenceKind, repair: Repair, sentence: (facts: F) => string) {
  return ({ reviewId = null, ...about }: About, facts: F): Difference => {
    const ids: Ids = { invoiceId: null, paymentId: null, refundId: null, eventId: null, objectId: null, ...about };
    return { id: idOf({ kind, ...ids, ...facts }), kind, ...ids, detail: sentence(facts), repair, reviewId };
  };
}

function idOf(parts: object): string {
  const text = JSON.stringify(parts, (_, v: unknown) => (typeof v === 'bigint' ? String(v) : v));
  return `dif_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
}

/** The open item about the difference. Null: there is none. */
export function reviewOf(invoice: OurInvoice, match: (item: ReviewRow) => boolean): string | null {
  return invoice.openReviews.find(match)?.id ?? null;
}

export function aboutOf(payment: PaymentRow): { readonly invoiceId: string; readonly paymentId: string } {
  return { invoiceId: payment.invoiceId, paymentId: payment.paymentId ?? payment.id };
}

/**
 * A possible reason for a credit note without a refund. Without the reason a person could refund the same money twice.
 */
export type Cover =
  | { readonly by: 'nothing' }
  | { readonly by: 'refund'; readonly refund: string; readonly unfinished: string | null; readonly note: string | null }
  | { readonly by: 'loss'; readonly lost: Money };

function coverWords(cover: Cover): string {
  if (cover.by === 'nothing') return 'Crossbill knows no equal refund.';
  if (cover.by === 'loss')
    return `A bank took back ${showMoney(cover.lost)}. If the note writes this off, refund nothing.`;
  if (cover.note !== null && cover.unfinished === null)
    return `Refund ${cover.refund} of the same amount has its own note ${cover.note}. If both notes are for this refund, Stripe shows it twice: refund nothing more.`;
  const why =
    cover.unfinished === null
      ? 'This refund has no other note'
      : `This refund is ${cover.unfinished} and gets its own note after its success`;
  return `The note may be for refund ${cover.refund} of the same amount. ${why}: do not refund the payment again.`;
}

type NoteByHand = { readonly note: string; readonly amount: Money; readonly cover: Cover };
type OnRecord = { readonly record: string; readonly refunded: Money; readonly mirrored: Money };
type Paid = { readonly marked: Money; readonly paid: Money; readonly status: string };
type Claim = { readonly invoice: string; readonly payment: string; readonly mark: string };

const onRecord = (onRecord: OnRecord): string =>
  `Payment record ${onRecord.record} shows refunds of ${showMoney(onRecord.refunded)}. The ledger has ${showMoney(onRecord.mirrored)}.`;
const paid = (paid: Paid): string =>
  `Crossbill marked ${showMoney(paid.marked)}. Stripe shows ${showMoney(paid.paid)} paid (invoice: ${paid.status}).`;
const claim = (claim: Claim): string => `payment ${claim.payment} of invoice ${claim.invoice} (mark: ${claim.mark})`;

export const finding = {
  // Differences within our own records
  unmarked: declare(
    'charged_not_marked',
    'look-again',
    (f: { taken: Money; mark: string }) =>
      `The MoR took ${showMoney(f.taken)}. Stripe does not show the payment (mark: ${f.mark}).`,
  ),
  unmirrored: declare(
    'refund_not_mirrored',
    'look-again',
    (f: { refunded: Money; mirror: string; untilPaid: boolean }) =>
      `The MoR refunded ${showMoney(f.refunded)}. ${
        f.untilPaid
          ? 'Stripe shows the refund only after the rest of the invoice is paid.'
          : `Stripe does not show the refund (mirror: ${f.mirror}).`
      }`,
  ),
  refundGap: declare('amount_differs', 'person', (f: { fact: Fact }) => sentencesOf(f).summary),
  chargeTwice: declare(
    'charge_on_two_invoices',
    'person',
    (f: { charge: string; first: Claim; second: Claim }) =>
      `Two payments name charge ${f.charge}: ${claim(f.first)} and ${claim(f.second)}.`,
  ),
  noVerdict: declare('no_verdict', 'person', () => 'The MoR has not reported a charge or a refusal.'),
  leftOut: declare('no_verdict', 'person', () => 'No signup asks for this first invoice, so the MoR never charges it.'),

  // Differences to an invoice on Stripe
  unknownInvoice: declare(
    'event_never_delivered',
    'look-again',
    (f: { invoice: string; status: string }) => `Crossbill received no event of invoice ${f.invoice} (${f.status}).`,
  ),
  otherStatus: declare(
    'event_never_delivered',
    'look-again',
    (f: { shown: string; known: string | null }) =>
      `The invoice is ${f.shown} on Stripe. Crossbill last saw it ${f.known ?? 'without a status'}.`,
  ),
  nothingPaid: declare('charged_not_marked', 'person', paid),
  lessPaid: declare('amount_differs', 'person', paid),
  detached: declare(
    'charged_not_marked',
    'person',
    (f: { record: string; amount: Money; status: string }) =>
      `Somebody detached payment record ${f.record} of ${showMoney(f.amount)} from the invoice (${f.status}).`,
  ),
  foreignRecord: declare(
    'marked_not_charged',
    'person',
    (f: { record: string; waiting: string | null }) =>
      `Payment record ${f.record} pays the invoice. ${
        f.waiting === null
          ? 'The MoR reported no such payment.'
          : `Payment ${f.waiting} of the same amount waits for a person.`
      }`,
  ),
  outOfBand: declare(
    'marked_not_charged',
    'person',
    (f: { amount: Money }) =>
      `Somebody marked ${showMoney(f.amount)} as paid out of band. The MoR reported no such payment.`,
  ),
  overpaid: declare(
    'overpaid',
    'person',
    (f: { surplus: Money; refunded: Money | null }) =>
      `The invoice is overpaid by ${showMoney(f.surplus)}. Stripe credited this to the customer's balance.${
        f.refunded === null ? '' : ` The MoR refunded ${showMoney(f.refunded)} of it: deduct this from the balance.`
      }`,
  ),
  eventMissing: declare(
    'event_never_delivered',
    'take-in-event',
    (f: { type: string; createdAt: string }) => `Event ${f.type} of ${f.createdAt} never arrived.`,
  ),
  unreadable: declare(
    'unreadable',
    'person',
    (f: { id: string }) => `Crossbill could not read ${f.id}, and did not compare it.`,
  ),

  // Differences to refunds, credit notes and balances on Stripe
  noteGone: declare(
    'refund_not_mirrored',
    'person',
    (f: { note: string; of: string; state: string }) => `Credit note ${f.note} for ${f.of} is ${f.state}.`,
  ),
  noteDiffers: declare(
    'amount_differs',
    'person',
    (f: { refund: string; sale: Money; noted: Money }) =>
      `Refund ${f.refund} reduces the sale by ${showMoney(f.sale)}. Its credit note says ${showMoney(f.noted)}.`,
  ),
  notedByHand: declare(
    'refunded_by_hand',
    'person',
    (f: NoteByHand) => `Credit note ${f.note} gives back ${showMoney(f.amount)}. ${coverWords(f.cover)}`,
  ),
  notedToBalance: declare(
    'credited_by_hand',
    'person',
    (f: NoteByHand) =>
      `Credit note ${f.note} credits the customer's balance with ${showMoney(f.amount)}. ${coverWords(f.cover)}`,
  ),
  balanceCredited: declare(
    'credited_by_hand',
    'person',
    (f: { customer: string; entry: string; amount: Money }) =>
      `Somebody credited customer ${f.customer}'s balance with ${showMoney(f.amount)} (${f.entry}). The MoR does not know of it.`,
  ),
  recordGone: declare(
    'charged_not_marked',
    'person',
    (f: { record: string }) => `Stripe has no payment record ${f.record}.`,
  ),
  lessRefunded: declare('refund_not_mirrored', 'person', onRecord),
  moreRefunded: declare('refunded_by_hand', 'person', onRecord),

  // Differences to the MoR's answers
  unknownCharge: declare(
    'marked_not_charged',
    'person',
    (f: { charge: string }) =>
      `Crossbill marked this invoice paid for charge ${f.charge}. The MoR does not know this charge.`,
  ),

  // Differences found after a loss window
  verdictLost: declare(
    'no_verdict',
    'person',
    () =>
      'No verdict arrived. The MoR may have given up on it while the webhook endpoints were closed: ask the MoR to send it again.',
  ),
  refusalOld: declare(
    'no_verdict',
    'person',
    () =>
      'The last verdict is a refusal. A later verdict may have been lost while the webhook endpoints were closed: ask the MoR about payments since then.',
  ),
  successLost: declare(
    'charged_not_marked',
    'person',
    (f: { reference: string }) =>
      `The MoR knows a charge for ${f.reference}, but its last event is a refusal. A later event may be lost: ask the MoR to send it again.`,
  ),
  refundLost: declare(
    'refund_not_mirrored',
    'person',
    (f: { refund: string }) =>
      `The MoR has a document of refund ${f.refund}, but here the refund is still pending. Its event may be lost: ask the MoR to send it again.`,
  ),
  objectMoved: declare(
    'event_never_delivered',
    'look-again',
    (f: { object: string; shown: string; known: string }) =>
      `${f.object} is ${f.shown} at the MoR, but still ${f.known} in Crossbill.`,
  ),
};
