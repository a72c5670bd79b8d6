// `invoice.created` is handed on to the MoR, which charges for it.
import { type LaneState } from '../../domain/model.js';
import { type CallRule, carriedOut, type SettleRule } from '../../domain/lane/subject.js';
import { type AnswerTo } from '../../domain/lane/answer.js';
import { callFailed } from '../../domain/lane/answer-parts.js';
import { sendAgain, takeCallBack } from '../../domain/lane/change.js';
import { paymentThatCame } from '../../domain/lane/payment.js';
import { isOver } from '../../domain/status.js';
import { standingOf } from '../../enrolment/rules/enrolment.js';

/**
 * What the MoR has not answered is not sent again once the invoice is over or its money came: a MoR that was out for hours would charge a
 * customer who has paid. It may have heard an earlier try all the same; what it took then, its own event tells.
 */
export const settleRelay: SettleRule = (s, ctx) => {
  const why = pointless(s);
  if (why === null) return s;
  return s.messages
    .filter((m) => m.kind === 'relay_event' && m.status === 'pending')
    .reduce((state, m) => takeCallBack(state, m, why, ctx), s);
};

/** Null: the MoR has still to hear of it. */
function pointless(s: LaneState): string | null {
  const status = s.invoice?.platformStatus ?? 'unknown';
  return paymentThatCame(s) ?? (isOver(status) ? `the invoice is ${status}` : null);
}

export const relayCall: CallRule<AnswerTo<'relay_event'>> = {
  order: 3,
  waits: (s, ctx) => standingOf(s, ctx) === 'unknown', // of who is not enrolled nothing is relayed
  answered: (s) => s,
  refused: (s, m, f, ctx) => {
    const proposal =
      'The MoR did not accept this event. Find out why, then retry; otherwise it may not charge this renewal.';
    return callFailed(s, m, f, { proposal }, ctx);
  },
  resolve: (s, r, { resolution }, ctx) =>
    carriedOut(
      resolution === 'retry'
        ? sendAgain(s, (m) => m.kind === 'relay_event' && r.subject === `relay_event:${m.subject}`, ctx)
        : s,
    ),
};
