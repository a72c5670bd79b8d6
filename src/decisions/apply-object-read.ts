// Takes in a read of a proforma invoice or a payment link at the MoR, or that there was none.
import { type LaneState } from '../domain/model.js';
import { type CallOutcome, mayPass } from '../domain/ports/call.js';
import { announcedAt } from '../domain/mor-object.js';
import { type ObjectFacts } from '../domain/ports/mor-channels.js';
import { type Ctx, putObject, retryAt } from '../engine/change.js';
import { LINK_CONFIRM_TRIES } from '../policy.js';
import { objectGone } from '../mor-objects/rules/mor-object.js';
import { takeProformaRead } from '../transfers/rules/proforma-answer.js';
import { closeUnshown, takeLinkRead, tellGone, tellUnreadable } from '../links/rules/link-answer.js';

/** Null: the MoR does not know it any more. */
export function applyObjectRead(
  s: LaneState,
  objectId: string,
  outcome: CallOutcome<ObjectFacts | null>,
  ctx: Ctx,
): LaneState {
  const o = s.objects.find((x) => x.id === objectId);
  if (o === undefined) return s;
  // A caller who asks about it before it is due takes none of its tries.
  const isEarly = o.readDueAt !== null && o.readDueAt > ctx.now;
  const readAttempts = isEarly ? o.readAttempts : o.readAttempts + 1;
  const stillDue = isEarly ? o.readDueAt : null;
  const { silentSince = ctx.now.toISOString(), ...detail } = o.detail;
  if (!outcome.ok) {
    if (o.readDueAt === null) return s;
    const readDueAt = retryAt(ctx, readAttempts, outcome.retryAfterMs, !mayPass(outcome));
    const failed = { ...o, readAttempts, readDueAt, detail: { ...detail, silentSince } };
    const later = putObject(s, failed);
    return o.kind === 'payment_link' ? tellUnreadable(later, failed, outcome, ctx) : later;
  }
  const facts = outcome.value;
  // Announced on a link that the MoR does not know yet: a read may be behind.
  if (facts === null && announcedAt(o) !== null && readAttempts < LINK_CONFIRM_TRIES)
    return putObject(s, {
      ...o,
      readAttempts,
      readDueAt: stillDue ?? retryAt(ctx, readAttempts, null),
      detail,
    });
  const read = { ...o, readDueAt: null, readAttempts, detail };
  if (facts === null) return tellGone(objectGone(s, { ...read, readAttempts: 0 }, ctx), o, ctx);
  const answered = closeUnshown(s, o, 'the MoR answers about it again', ctx);
  return facts.kind === 'proforma'
    ? takeProformaRead(answered, read, facts.proforma, ctx)
    : takeLinkRead(answered, { ...read, readDueAt: stillDue }, facts.link, ctx);
}
