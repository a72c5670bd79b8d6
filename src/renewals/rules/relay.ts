// `invoice.created` is handed on to the MoR, which charges for it.
import { type CallRule, carriedOut } from '../../domain/lane/subject.js';
import { type AnswerTo } from '../../domain/lane/answer.js';
import { callFailed } from '../../domain/lane/answer-parts.js';
import { sendAgain } from '../../domain/lane/change.js';
import { standingOf } from '../../enrolment/rules/enrolment.js';

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
