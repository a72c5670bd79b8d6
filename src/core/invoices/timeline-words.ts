// What a person reads on a line of the timeline: in the console, in the API and in `crossbill explain`. The stored line
// keeps codes in `detail`, and here they become words. A line without codes is a sentence already.
import { join } from '../../feature.js';
import { FEATURES } from '../../features.js';
import { type CallKind } from '../../shared/domain/call-row.js';
import { type JournalLine } from '../../shared/domain/model.js';
import { known, newerCode } from '../../shared/domain/sentence.js';
import { capital, eventWords, words } from '../../frames/console/show.js';

type CallWords = { readonly toDo: string; readonly done: string };

const CALLS: Readonly<Record<string, CallWords>> = {
  finalize_invoice: { toDo: 'finalize the invoice on Stripe', done: 'Finalized the invoice on Stripe' },
  report_payment: { toDo: 'report the payment to Stripe', done: 'Reported the payment to Stripe' },
  attach_payment: {
    toDo: 'attach the payment to the invoice on Stripe',
    done: 'Attached the payment to the invoice on Stripe',
  },
  set_reference: {
    toDo: 'write the payment reference into the invoice on Stripe',
    done: 'Wrote the payment reference into the invoice on Stripe',
  },
  pay_out_of_band: {
    toDo: 'mark the invoice paid on Stripe, out of band',
    done: 'Marked the invoice paid on Stripe, out of band',
  },
  report_refund: { toDo: 'report the refund to Stripe', done: 'Reported the refund to Stripe' },
  issue_credit_note: { toDo: 'issue the credit note on Stripe', done: 'Issued the credit note on Stripe' },
  create_refund: { toDo: 'request the refund from the MoR', done: 'Requested the refund from the MoR' },
  relay_event: { toDo: 'relay the invoice to the MoR', done: 'Relayed the invoice to the MoR' },
  ...join(FEATURES, 'callWords'),
} satisfies Record<CallKind, CallWords>;

/** The line as a sentence. A call or an item that only a newer release knows gets a plain sentence. */
export function timelineSentence({ kind, text, detail }: JournalLine): string {
  const { type, reason, call, item, notified } = detail ?? {};
  if (kind === 'event' && typeof type === 'string')
    return typeof reason === 'string' ? `${eventWords(type)}: ${reason}` : eventWords(type);
  if (typeof item === 'string') return itemSentence(item, detail ?? {}, text);
  if (typeof notified === 'string') return `Your backend is notified: ${words(notified.replaceAll('.', ' '))}`;
  if (typeof call === 'string' && call !== READ) return callSentence(call, detail ?? {}, text);
  return kind === 'person' ? text : capital(text); // a person's name keeps its letters
}

type Codes = NonNullable<JournalLine['detail']>;

/** A read of the invoice is no stored call: its line is a sentence already. */
const READ = 'read_invoice';

/** The infinitive of a stored call, such as "report the payment to Stripe". */
export function callToDo(call: string): string {
  return known(CALLS, call)?.toDo ?? words(call);
}

/** True for the reply of a successful call. */
export function isSuccess(detail: JournalLine['detail']): boolean {
  const status = detail?.['status'];
  return typeof status === 'number' && status >= 200 && status < 300;
}

function callSentence(call: string, codes: Codes, text: string): string {
  const its = known(CALLS, call);
  if (its === undefined) return newerCode('call', call);
  const { failed, left, next } = codes;
  if (typeof left === 'string') return `Crossbill no longer has to ${its.toDo}: ${left}`;
  if (typeof next === 'string') return `Crossbill has still to ${its.toDo}: the first request had no effect`;
  if (typeof failed === 'string') return `Could not ${its.toDo}: ${failed}`;
  return isSuccess(codes) ? its.done : capital(text);
}

const ITEM: Readonly<Record<string, (what: string, why: string) => string>> = {
  opened: (what) => `A review item opened: ${what}`,
  changed: (what) => `The facts of the review item changed: ${what}`,
  due: (what) => `The review item has another deadline: ${what}`,
  closed: (what, why) => `The review item closed, ${what}: ${why}`,
};

function itemSentence(item: string, { review, why, by, choice }: Codes, text: string): string {
  if (typeof review !== 'string') return capital(text);
  const what = words(review);
  if (typeof by === 'string') return `${by} settled the review item, ${what}: ${words(String(choice))}`;
  return known(ITEM, item)?.(what, typeof why === 'string' ? why : '') ?? newerCode('line', item);
}
