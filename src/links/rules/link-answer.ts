// What the MoR answered about a payment link: to its creation, or to a read. A link that is paid brings its money.
import { type LaneState } from '../../domain/model.js';
import {
  announcedAt,
  isPayableLink,
  type MorObjectRow,
  type Observation,
  objectName,
  onObject,
} from '../../domain/mor-object.js';
import { type LinkFacts } from '../../domain/ports/mor-channels.js';
import { type Ctx, note, openReviewOf, putObject, retryAt, restateReview } from '../../engine/change.js';
import { LINK_CONFIRM_TRIES, LINK_SILENT_MS } from '../../policy.js';
import { nameFirst } from './settle-announced.js';
import { takeMoney } from '../../mor-objects/rules/take-money.js';
import { decimalFromMinor, type Money, showMoney } from '../../domain/money.js';
import { type CallFailure, mayPass, said } from '../../domain/ports/call.js';
import { type CallRule, carriedOut } from '../../engine/subject.js';
import { type AnswerTo, callFailed, refusalOf } from '../../engine/call.js';
import {
  applyChannelRefusal,
  applyChannelSilence,
  askHowMuch,
  askOfMoney,
  closeAsked,
  sayOfLink,
} from '../../mor-objects/rules/mor-object.js';
import { requestUnwanted } from '../../mor-objects/rules/withdraw.js';
import { hasFallback, unshown } from './recovery.js';

export const createLinkCall: CallRule<AnswerTo<'create_payment_link'>> = {
  order: 1,
  ...requestUnwanted,
  answered: (s, m, { link }, ctx) => {
    const o = s.objects.find((x) => x.id === m.subject);
    return o === undefined ? s : takeLink(s, { ...o, morId: link.morId }, link, 'answer', ctx);
  },
  refused: (s, m, f, ctx) => {
    const state = applyChannelRefusal(s, m, f, ctx);
    const o = state.objects.find((x) => x.id === m.subject);
    if (o !== undefined && announcedAt(o) !== null)
      return askOfMoney(
        state,
        o,
        { code: 'link-refused', ...onObject(o), status: f.status, error: f.code, said: said(f) },
        ctx,
      );
    if (o?.detail.automatic !== true) return state; // whoever asked is told
    if (hasFallback(o, ctx)) {
      const why = `the MoR does not collect in ${o.detail.jurisdiction ?? ''}: the jurisdiction of the settings is asked for`;
      return note(putObject(state, { ...o, status: 'REPLACED' }), ctx, 'decision', why, o.id);
    }
    return callFailed(state, m, { code: 'recovery-refused', ...refusalOf(m, f) }, {}, ctx);
  },
  silent: (s, m, _, ctx) => applyChannelSilence(s, m, ctx),
  resolve: (s, r, { resolution }, ctx) => {
    const link = s.objects.find((o) => r.subject === `create_payment_link:${o.id}`);
    if (resolution !== 'retry' || link?.status !== 'REFUSED') return carriedOut(s);
    // Set aside, so that recovery.ts asks for another under a new key.
    return carriedOut(putObject(s, { ...link, status: 'REPLACED', updatedAt: ctx.now }));
  },
};

/** A read of a payment link: `o` is the row with the read taken off its list. */
export function takeLinkRead(s: LaneState, o: MorObjectRow, f: LinkFacts, ctx: Ctx): LaneState {
  const told = f.status === o.status ? s : note(s, ctx, 'call', `${objectName(o)} is ${f.status}`, o.id);
  return takeLink(told, o, f, 'read', ctx);
}

/** A link as it is now. Paid: the money counts from here on. */
export function takeLink(s: LaneState, o: MorObjectRow, f: LinkFacts, source: 'answer' | 'read', ctx: Ctx): LaneState {
  const row: MorObjectRow = {
    ...o,
    status: f.status,
    url: f.url,
    deadline: f.expiresAt ?? o.deadline,
    amount: f.priced?.minor ?? o.amount,
    currency: f.priced?.currency ?? o.currency,
    detail: { ...o.detail, priced: decimal(f.priced), due: decimal(f.due) },
    updatedAt: f.status === o.status ? o.updatedAt : ctx.now,
  };
  if (f.status === 'PAID') return takePaidLink(s, { ...row, readDueAt: null, readAttempts: 0 }, f, source, ctx);
  if (announcedAt(row) === null) {
    return tellOfPart(putObject(s, { ...row, readDueAt: null, readAttempts: 0 }), row, f, ctx);
  }
  // The event was ahead of the link, or they do not agree.
  const waiting = putObject(s, {
    ...row,
    readDueAt: row.readDueAt ?? retryAt(ctx, Math.max(1, row.readAttempts), null),
  });
  if (row.readAttempts < LINK_CONFIRM_TRIES) return waiting;
  return askOfMoney(waiting, row, { code: 'link-not-paid', ...onObject(row), status: f.status }, ctx);
}

/**
 * The MoR does not let us read a link on which it announced a payment, or which has ended, or gives no usable answer for days: nobody else will
 * ever say whether the money came, and until then nothing else is tried (retries/rules/refusal.ts).
 */
export function tellUnreadable(s: LaneState, o: MorObjectRow, f: CallFailure, ctx: Ctx): LaneState {
  const announced = announcedAt(o);
  const isPayable = isPayableLink(o, ctx.now);
  // Its payment is in the books: once it has ended there is nothing to find out.
  if (o.paymentRowId !== null) return isPayable ? s : putObject(s, { ...o, readDueAt: null });
  if ((announced === null && isPayable) || o.readAttempts < LINK_CONFIRM_TRIES) return s;
  // It may be away, and answer tomorrow.
  const since = o.detail.silentSince === undefined ? ctx.now : new Date(o.detail.silentSince);
  if (mayPass(f) && ctx.now.getTime() - since.getTime() < LINK_SILENT_MS) return s;
  // Whoever looked into it while it could be paid is asked once more.
  const told = {
    code: 'link-unread',
    ...onObject(o),
    announced: announced !== null,
    ended: !isPayable,
    answer: lastRead(f),
  } as const;
  if (announced === null) return sayOfLink(s, o, told, ctx, unshown(o));
  return askOfMoney(closeUnshown(s, o, TOLD_ELSEWHERE, ctx), o, told, ctx);
}

/** Unknown or foreign (Document 2): whether a link was paid is known no better, and it is not read again. */
export function tellGone(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  if (announcedAt(o) !== null) return closeUnshown(s, o, TOLD_ELSEWHERE, ctx);
  const open = openReviewOf(s, 'conflicting_event', unshown(o));
  if (open === undefined) return s;
  const fact = { code: 'link-ended', ...onObject(o) } as const;
  return restateReview(s, ctx, open, { kind: 'conflicting_event', fact });
}

const TOLD_ELSEWHERE = 'a payment on it was announced, which another item tells';

/** That the MoR does not show the link is no question any more. */
export function closeUnshown(s: LaneState, o: MorObjectRow, why: string, ctx: Ctx): LaneState {
  return closeAsked(s, o, why, ctx, unshown(o));
}

/** Document 2, `amountDue`: what is still outstanding. Less than the price on a link that has ended: some of it was paid, and no event says so. */
function tellOfPart(s: LaneState, o: MorObjectRow, { status, priced, due }: LinkFacts, ctx: Ctx): LaneState {
  if (status !== 'EXPIRED' || o.paymentRowId !== null || priced === null || due === null) return s;
  if (due.currency !== priced.currency || due.minor >= priced.minor) return s;
  const part = money(priced.minor - due.minor, priced.currency);
  return sayOfLink(s, o, { code: 'link-part-paid', ...onObject(o), priced, outstanding: due, part }, ctx);
}

function takePaidLink(s: LaneState, link: MorObjectRow, f: LinkFacts, source: 'answer' | 'read', ctx: Ctx): LaneState {
  const priced =
    f.priced ?? (link.amount === null || link.currency === null ? null : money(link.amount, link.currency));
  const left = f.due !== null && f.due.currency === priced?.currency ? f.due.minor : 0n;
  const received = priced === null || priced.minor <= left ? null : money(priced.minor - left, priced.currency);
  const o = withRead(link, source, received, ctx);
  const state = putObject(s, o);
  if (received === null) return o.paymentRowId === null ? askHowMuch(state, o, ctx) : state;
  const at = announcedAt(o) ?? ctx.now;
  const why = `the link confirms that ${showMoney(received)} was paid`;
  // An announced payment that the link did not confirm for a while, or whose amount was not known, was told to a person.
  const cleared = o.paymentRowId === null ? closeAsked(state, o, why, ctx) : state;
  const taken = takeMoney(cleared, o, received, { at, eventId: null, parked: false }, ctx);
  if (taken.payment === null) return taken.state;
  const told = note(taken.state, ctx, 'decision', why, taken.payment.id);
  return nameFirst(told, { ...o, paymentRowId: taken.payment.id }, ctx);
}

/** The first answer or read that shows the link as paid is one of its observations; more of them say nothing new. */
function withRead(o: MorObjectRow, source: 'answer' | 'read', received: Money | null, ctx: Ctx): MorObjectRow {
  const { observed = [] } = o.detail;
  if (observed.some((x) => x.source !== 'event')) return o;
  const at = ctx.now.toISOString();
  const sum = { amount: received?.minor.toString() ?? null, currency: received?.currency ?? null };
  const x: Observation = { source, eventId: null, charge: null, paymentId: null, ...sum, at, heardAt: at };
  return { ...o, detail: { ...o.detail, observed: [...observed, x] } };
}

/** Of an answer its status and code: the MoR may word its refusal otherwise with each read, which is no news. */
function lastRead(f: CallFailure): string {
  return f.status === null ? said(f) : [f.status, f.code ?? ''].join(' ').trimEnd();
}

function decimal(m: Money | null): string | null {
  return m === null ? null : decimalFromMinor(m.minor, m.currency);
}

function money(minor: bigint, currency: string): Money {
  return { minor, currency };
}
