// The customer has another payment method, and its confirmation is known: what is remembered of it. What follows, next-try.ts decides.
import { type Commanded } from '../../engine/commanded.js';
import { type Ctx, note, putInvoice, putObject } from '../../engine/change.js';
import { type LaneState } from '../../domain/model.js';
import { isPayableLink } from '../../domain/mor-object.js';
import { type ConfirmedMethod } from '../../domain/retry.js';
import { isOutside, isOver } from '../../domain/status.js';
import { methodObstacle } from './next-try.js';

/**
 * The invoice gets to know the method once, however often it is named. Also an invoice without a verdict keeps it: a refusal on its way was of
 * the method before. A payment link is read before anything is charged next to it.
 */
export function takeMethod(s: LaneState, method: ConfirmedMethod, ctx: Ctx): Commanded<{ readonly id: string }> {
  const i = s.invoice;
  const value = { id: method.id };
  const known = i?.method ?? null;
  if (i === null || isOutside(s) || isOver(i.platformStatus) || (known !== null && known.at >= method.at))
    return { ok: true, state: s, value };
  if (s.payments.some((p) => p.mark !== 'none')) return { ok: true, state: s, value };
  const links = s.objects.filter((o) => isPayableLink(o, ctx.now) && o.morId !== null);
  const asked = links.reduce((state, o) => putObject(state, { ...o, readDueAt: ctx.now }), s);
  const who = method.by === null ? 'a charge succeeded' : `${method.by} reported it`;
  const why = methodObstacle(s, ctx);
  const text = `another payment method of the customer is confirmed: ${who}${why === null ? '' : `. It is not tried now: ${why}`}`;
  const told = note(asked, ctx, method.by === null ? 'decision' : 'person', text, method.id);
  return { ok: true, state: putInvoice(told, { ...i, method }), value };
}
