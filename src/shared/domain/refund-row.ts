// A refund of the MoR's money, and how far Stripe shows it.
import { keepCode, withoutWords } from './foreign-words.js';
import { bigint, bool, code, json, key, rowOf, type RowOf, text, time, word, type Mutable } from './row.js';
import { checkMove } from './move.js';

/**
 * The statuses of a refund, each with its possible next statuses. `requested`: stored. `unknown`: sent without a reply.
 * `pending`: a bank debit under way, or a status outside Document 3 (`morStatus`). `failed` frees the reserved amount.
 */
export const refundMoves = {
  requested: ['unknown', 'pending', 'succeeded', 'failed', 'joined'],
  unknown: ['pending', 'succeeded', 'failed', 'joined'],
  pending: ['succeeded', 'failed'],
  succeeded: [],
  failed: ['succeeded'],
  /**
   * One refund has two rows: an event made a row before our request did. The row of the request becomes `joined`: it
   * reserves no money, and no list shows it. The event's row names it in `askedAs` (docs/decisions/0008).
   */
  joined: [],
} as const satisfies Record<string, readonly string[]>;
export type RefundStatus = keyof typeof refundMoves;

/** How far Stripe shows a refund: each stage with its next stages. `not_needed`: for example, without a mark. */
export const mirrorMoves = {
  none: ['waiting', 'not_needed'],
  waiting: ['reporting', 'crediting', 'done', 'not_needed', 'parked'],
  reporting: ['crediting', 'done', 'parked'],
  crediting: ['done', 'parked'],
  parked: ['waiting', 'not_needed'],
  not_needed: ['waiting'],
  done: [],
} as const satisfies Record<string, readonly string[]>;
export type MirrorStage = keyof typeof mirrorMoves;

type RefundFailure = { readonly status: number | null; readonly code: string | null; readonly message: string };

export const REFUND = rowOf('refund', {
  /** Our own id. It never changes. */
  id: key(),
  /** Our id of the payment. */
  paymentRowId: text(),
  invoiceId: text(),
  morRefundId: text().orNull,
  processorRefundId: text().orNull,
  amount: bigint(),
  currency: code(3),
  status: word<RefundStatus>(),
  /** The MoR's status, if Document 3 does not list it: `status` is then `pending`. Null: Document 3 lists it. */
  morStatus: word().orNull.personal(keepCode),
  reason: text().orNull.said(),
  /** `api`: a request through Crossbill. `event`: somebody made the refund elsewhere, and an event reported it. */
  origin: word<'api' | 'event'>(),
  /** The MoR's payment id in our refund request. Null: Crossbill made no request. */
  askedOf: text().orNull,
  /**
   * The id of the `joined` row with our request for this refund. Such a second row exists if Crossbill received the
   * refund's event before the request, for example after a restore. Null: there is no second row.
   */
  askedAs: text().orNull,
  /** False: the refund would exceed the payment. Lists show it, but it does not count, and a review item reports it. */
  counted: bool(),
  /** `amount_refunded_total` of the refund's event. Null: there was no event, or it had no total. */
  totalAfter: bigint().orNull,
  /**
   * The part of the refund that returns money paid beyond the amount due. It reduces no sale, so no credit note shows
   * it.
   */
  surplus: bigint().first(0n),
  /**
   * The part of the refund that no credit note can take (credit-room.ts), once Crossbill shows the refund on Stripe.
   * Null: no such part.
   */
  beyondSale: bigint().orNull,
  mirror: word<MirrorStage>(),
  creditNoteId: text().orNull,
  /** The MoR's refusal. Null: none. */
  failure: json<RefundFailure>().orNull.said(withoutWords),
  createdAt: time(),
  succeededAt: time().orNull,
});
export type RefundRow = RowOf<typeof REFUND>;

/** Moves the status of a refund: whether the money went back. */
export function moveRefund(refund: Mutable<RefundRow>, to: RefundStatus, also: Partial<RefundRow> = {}): void {
  checkMove('a refund', refundMoves, refund.status, to);
  if (refund.status !== to) refund.morStatus = null;
  Object.assign(refund, { status: to }, also);
}

/** Moves the `mirror` stage of a refund: how far Stripe shows the refund. */
export function moveMirror(refund: Mutable<RefundRow>, to: MirrorStage, also: Partial<RefundRow> = {}): void {
  checkMove("a refund's twin", mirrorMoves, refund.mirror, to);
  Object.assign(refund, { mirror: to }, also);
}
