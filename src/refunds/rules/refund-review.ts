// What a person may choose for a refund that is stuck, and what comes of it.
import { type LaneState, type ReviewRow } from '../../domain/model.js';
import { type Commanded, type Refusal, refuse } from '../../engine/commanded.js';
import { decideAgain } from './refund-answer.js';
import { RENAMED } from './misnamed-payment.js';
import { requestOf } from './stuck-refund.js';
import { putRefund, sendAgain } from '../../engine/change.js';
import { moveMirror, moveRefund } from '../../engine/moves.js';
import { carriedOut, type ReviewRule } from '../../engine/subject.js';

/** A refund that is stuck, or failed. */
export const stuckRefundReview: ReviewRule = (s, r, choice, ctx) => {
  if (choice.resolution === 'apply') return endRefund(s, r, choice);
  if (choice.resolution !== 'retry') return carriedOut(s);
  const refund = s.refunds.find((x) => x.id === r.refundId);
  // One that failed is asked for again as another refund: its amount is no longer reserved.
  if (refund === undefined || refund.status === 'failed') return carriedOut(s);
  if (refund.failure?.code === RENAMED)
    return refuse(409, RENAMED, 'The request of this refund names another payment: it cannot be sent again.');
  if (requestOf(s, refund.id)?.status === 'done')
    return refuse(
      409,
      'refund_answered',
      'The MoR has answered this request, so it is not sent again. Ask the MoR what became of the refund: if it failed, apply with a note.',
    );
  return erasedRequest(s, r) ?? carriedOut(sendAgain(s, (m) => m === requestOf(s, refund.id), ctx));
};

/** A refund's twin that Stripe refused. It is made of the refund, not of the request to the MoR, which may be erased by now. */
export const mirrorReview: ReviewRule = (s, r, { resolution }) => {
  if (resolution !== 'retry') return carriedOut(s);
  const refund = s.refunds.find((x) => x.id === r.refundId);
  return carriedOut(refund?.mirror === 'parked' ? putRefund(s, moveMirror(refund, 'waiting')) : s);
};

/**
 * Without its bytes a refund would be one of all that remains (Document 3): it must never leave. Null: they are there. Not asked of one that was
 * answered, whose bytes engine/lane-log.ts leaves out after a while: it is not sent again.
 */
export function erasedRequest(s: LaneState, { refundId }: ReviewRow): Refusal | null {
  if (requestOf(s, refundId)?.wire.body !== null) return null;
  return refuse(409, 'request_erased', 'The request of this refund was erased or purged: it cannot be sent again.');
}

/**
 * A person has it from the MoR that a refund failed, of which no event tells (Document 3 names none): its amount is free again. Only
 * what is not being sent any more, and never without a word on who said so: a refund that was made after all would be made twice.
 */
function endRefund(
  s: LaneState,
  r: ReviewRow,
  choice: { readonly note: string | null; readonly by: string },
): Commanded<null> {
  const refund = s.refunds.find((x) => x.id === r.refundId);
  if (refund === undefined || refund.status === 'succeeded' || refund.status === 'failed')
    return { ok: true, state: s, value: null };
  const said = choice.note?.trim() ?? '';
  if (said === '')
    return refuse(400, 'note_required', 'The note must say who at the MoR told you that this refund failed.', 'note');
  if (requestOf(s, refund.id)?.status === 'pending') {
    return refuse(409, 'refund_being_sent', "This refund is still being sent: wait for the MoR's answer.");
  }
  const failure = { status: null, code: 'told_by_person', message: `${choice.by} says that it failed: ${said}` };
  return {
    ok: true,
    state: decideAgain(putRefund(s, { ...moveRefund(refund, 'failed'), failure }), refund.paymentRowId),
    value: null,
  };
}
