// `crossbill explain <id>`: describes an invoice's history in order, in sentences.
import { secretValues } from '../../shared/config/index.js';
import { CustomersRepository } from '../../core/customers/customers.repository.js';
import { type JournalLine } from '../../shared/domain/model.js';
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { type LossCredit, type MorObjectRow } from '../../shared/domain/mor-object.js';
import { paymentName } from '../../shared/domain/payment-name.js';
import { known } from '../../shared/domain/sentence.js';
import { type SignupRow } from '../../shared/domain/signup.js';
import { type InvoiceView, ReadModel } from '../../engine/read-model.js';
import { EventsRepository } from '../../core/events/events.repository.js';
import { InvoicesRepository } from '../../core/invoices/invoices.repository.js';
import { invoiceSentence, lastRead } from '../../core/invoices/invoice-sentence.js';
import { invoiceView } from '../../core/invoices/invoice.view.js';
import { textCensor } from '../../shared/masks/secrets.js';
import { nextTryOf } from '../../core/invoices/retry.view.js';
import { Finder, SHORTEST_NAME } from '../console/finder.js';
import { minorsOf, splitAmount } from '../console/list-filters.js';
import { capital } from '../console/show.js';
import { callToDo, timelineSentence } from '../../core/invoices/timeline-words.js';
import { ReviewsRepository } from '../../core/reviews/reviews.repository.js';
import { sentencesOf } from '../../core/reviews/rules/words.js';
import { SignupsRepository } from '../../core/signups/signups.repository.js';
import { Differences, NOTHING_COMPARED, type OpenDifference } from '../../shared/domain/ports/differences.js';
import { type Commands } from './commands.js';
import { unknown } from './exit-codes.js';
import { amount, plain, time } from './table.js';
import { type AppContext } from './app-context.js';

const MOST = 20;

export function addExplain(on: Commands): void {
  on.add('explain <id>', on.about).action(
    on.run(async (cli, id) => {
      const app = await cli.open();
      const known = await lanesOf(app, id);
      const lanes = known.length > 0 ? known : await lanesNamed(app, id);
      const views: InvoiceView[] = [];
      for (const lane of lanes.slice(0, MOST))
        views.push(...[await app.get(ReadModel).invoice(lane)].filter((v) => v !== null));
      const signups = views.length > 0 ? [] : await signupsOf(app, id);
      if (views.length + signups.length === 0)
        throw unknown(
          `Crossbill does not know ${id}. If Stripe or the MoR knows it, run \`crossbill verify\` to find lost events.`,
        );
      const censor = textCensor(secretValues(app.config));
      const tell = (lines: readonly string[]): string[] => lines.map((text) => plain(censor(text)));
      const found = await Promise.all(
        views.map((v) => app.find(Differences, NOTHING_COMPARED).ofInvoice(v.invoice.invoiceId)),
      );
      const differencesOf = (count: number): readonly OpenDifference[] => found[count] ?? [];
      const stories = views.map((v, n) =>
        tell([...differencesOf(n).map(tellDifference), ...tellInvoice(v), '', ...v.journal.map(tellLine)]),
      );
      const waiting = tell(signups.map(tellSignup));
      const more = lanes.length - views.length;
      const invoices = views.map((v, n) => ({ ...invoiceView(v, differencesOf(n)), story: stories[n] ?? [] }));
      await cli.print({ id, invoices, signups: waiting, not_shown: more }, () => {
        const others = more > 0 ? `\nand ${more} more invoices; explain one by its id\n` : '';
        return `${[...stories, ...waiting.map((line) => [line])].map((s) => s.join('\n')).join('\n\n')}\n${others}`;
      });
    }),
  );
}

/** Finds the signups of a customer, or one signup by its own id. */
async function signupsOf(app: AppContext, id: string): Promise<readonly SignupRow[]> {
  const customer = await app.get(CustomersRepository).find(id);
  if (customer !== null) return customer.signups;
  const signup = await app.get(SignupsRepository).find(id);
  return signup === null ? [] : [signup];
}

/** Finds the invoices for an id of any object, such as an invoice, a payment, a customer or an event. */
async function lanesOf(app: AppContext, id: string): Promise<readonly string[]> {
  const [books, events] = [app.get(ReadModel), app.get(EventsRepository)];
  if ((await books.invoice(id)) !== null) return [id];
  const payment = await books.payment(id);
  if (payment !== null) return [payment.payment.invoiceId];
  const refund = await books.refund(id);
  if (refund !== null) return [refund.refund.invoiceId];
  const customer = await app.get(CustomersRepository).find(id);
  if (customer !== null) return customer.invoiceIds;
  const invoiceId =
    (await app.get(SignupsRepository).find(id))?.invoiceId ?? (await app.get(ReviewsRepository).find(id))?.invoiceId;
  if (invoiceId) return [invoiceId];
  const event = await events.find(id);
  if (event !== null) return [event.lane];
  const named = await events.list({ eventId: id }, { limit: 5, cursor: null });
  if (named.data.length > 0) return [...new Set(named.data.map((e) => e.lane))];
  return books.invoicesOfCharge(id);
}

/** Finds the invoices as people name them: a customer's e-mail address or name, a number, an amount. */
async function lanesNamed(app: AppContext, text: string): Promise<readonly string[]> {
  if (text.includes('_')) return []; // an id that nobody knows
  const finder = app.get(Finder);
  const numbered = await finder.invoices(text);
  if (numbered.length > 0) return numbered.map((i) => i.invoiceId);
  const typed = splitAmount(text);
  const minors = minorsOf(typed);
  if (minors.length > 0) {
    const filter = typed.currency === null ? {} : { currency: typed.currency };
    const first = { limit: MOST, cursor: null };
    const found = await Promise.all(
      minors.map((amount) => app.get(InvoicesRepository).list({ ...filter, amount }, first)),
    );
    return found.flatMap(({ data }) => data.map((i) => i.invoiceId));
  }
  const customers = (text.length < SHORTEST_NAME ? null : await finder.customers(text)) ?? [];
  const found = await Promise.all(customers.map((c) => app.get(CustomersRepository).find(c.customerId)));
  return found.flatMap((c) => c?.invoiceIds ?? []);
}

function tellSignup(signup: SignupRow): string {
  const of = signup.amount === null ? '' : ` of ${amount(signup.amount, signup.currency)}`;
  const next =
    signup.kind === 'trial' ? 'Its first invoice comes when the trial ends.' : 'Crossbill knows no charge yet.';
  return `Signup ${signup.id} (${signup.kind}${of}) of customer ${signup.customerId}, made ${time(signup.createdAt)}: ${signup.status}. ${next}`;
}

function tellDifference(difference: OpenDifference): string {
  const item = difference.reviewId === null ? '' : ` Review item ${difference.reviewId} asks about it.`;
  return `DIFFERENCE, found by verify at ${time(difference.foundAt)}: ${difference.detail}${item}`;
}

/** Describes the present state of an invoice, in sentences. */
function* tellInvoice(view: InvoiceView): Iterable<string> {
  const { invoice: i } = view;
  const sentence = invoiceSentence(view, new Date(), (r) => sentencesOf(r).summary);
  const known = lastRead(i);
  const read = known === null ? 'never read' : `last ${known.how} ${time(known.at)}`;
  const sums = `${amount(i.amountDue, i.currency)} due, ${amount(i.amountPaid, i.currency)} paid (${read})`;
  yield `Invoice ${i.invoiceId} of customer ${i.customerId ?? 'unknown'}: ${i.status}. Stripe shows it ${i.platformStatus}, ${sums}.`;
  yield sentence.text;
  const tried = nextTryOf(i);
  if (tried !== null) yield `${capital(tried)}.`;
  for (const p of view.payments) {
    const charge = p.processorChargeId === null ? '' : `, charge ${p.processorChargeId}`;
    yield `Payment ${paymentName(p)} (${p.origin}): ${p.status}, ${amount(p.amount, p.currency)}${charge}. ${tellMark(p)}`;
  }
  for (const r of view.refunds) {
    const name = r.morRefundId === null ? r.id : `${r.id} (${r.morRefundId})`;
    const note = r.creditNoteId === null ? `mirror on Stripe: ${r.mirror}` : `credit note ${r.creditNoteId}`;
    const failure = r.failure === null ? '' : ` The MoR said: ${r.failure.message}`;
    yield `Refund ${name}: ${r.status}, ${amount(r.amount, r.currency)}, ${note}.${failure}`;
  }
  yield* view.objects.map(tellObject);
  for (const m of view.calls.filter((x) => x.status === 'pending')) {
    const last = m.lastMessage ?? m.lastCode ?? String(m.lastStatus ?? 'no answer');
    const tries = m.attempts === 0 ? 'not tried yet' : `${m.attempts} tries, last: ${last}`;
    yield `Crossbill has still to ${callToDo(m.kind)}, next try ${time(m.nextTryAt)} (${tries}).`;
  }
  for (const r of view.reviews.filter((x) => x.status === 'open')) {
    const { summary, proposal } = sentencesOf(r);
    yield `Review item ${r.id} (${r.kind}): ${summary} Proposal: ${proposal}`;
  }
}

function tellMark(payment: PaymentRow): string {
  if (payment.mark === 'confirmed')
    return `It is marked on Stripe ${payment.paymentRecordId === null ? 'out of band' : `by ${payment.paymentRecordId}`}.`;
  if (payment.mark === 'proving') {
    const next = payment.proveDueAt === null ? 'at once' : `at ${time(payment.proveDueAt)}`;
    return payment.pendingSince === null
      ? `The MoR has not confirmed the charge yet. Crossbill asks again ${next}.`
      : `The MoR has known the charge since ${time(payment.pendingSince)} and has not settled it, as with a bank debit. Crossbill asks again ${next}, and marks the invoice after the settlement.`;
  }
  if (payment.succeededAt !== null) return `It is not marked on Stripe (${payment.mark}).`;
  const code = payment.declineCode === null ? '' : ` (${payment.declineCode})`;
  return `The MoR took no money${payment.failureMessage === null ? '' : `: ${payment.failureMessage.replace(/\.$/, '')}`}${code}.`;
}

/** Each kind of object at the MoR: its name in a sentence, and the meaning of its deadline. */
const PAPERS: Record<MorObjectRow['kind'], readonly [name: string, deadline: string]> = {
  proforma: ['Proforma invoice', 'payment due'],
  payment_link: ['Payment link', 'can be paid until'],
  e_invoice: ['E-invoice', 'due'],
  dispute: ['Dispute', 'evidence due'],
  alert: ['Pre-chargeback alert', 'due'],
  capture: ['Card payment at the MoR', 'due'],
  debit_return: ['Returned debit', 'due'],
};

function tellObject(object: MorObjectRow): string {
  const [paper, deadline] = PAPERS[object.kind];
  const { failure, refusal, outcome, refunded, reviewerNote, automatic, credit } = object.detail;
  const facts = [
    object.status,
    object.amount && amount(object.amount, object.currency),
    object.deadline && `${deadline} ${time(object.deadline)}`,
    automatic === true && 'made automatically',
    failure && `because ${failure.message ?? failure.code ?? 'no reason given'}`,
    refusal && `the MoR said: ${refusal.message}`,
    outcome && `outcome in the MoR’s words: ${outcome}`,
    refunded !== undefined && refunded !== null && `answered ${refunded ? 'with' : 'without'} a refund`,
    credit && tellCredit(credit, object.currency),
    reviewerNote && `the reviewer noted: ${reviewerNote}`,
    object.url,
  ].filter(Boolean);
  const name = [object.number, object.morId ?? object.id].filter((x) => x !== null).join(' ');
  return `${paper} ${name}: ${facts.join(', ')}.`;
}

/** A person chose to show the loss on Stripe. */
function tellCredit({ noteId, minor, stage }: LossCredit, currency: string | null): string {
  const sum = amount(BigInt(minor), currency);
  if (noteId !== null) return `credited on Stripe by credit note ${noteId} over ${sum}`;
  return `a credit note over ${sum} ${stage === 'parked' ? 'that Stripe refused' : 'that Stripe has still to make'}`;
}

const WHO: Record<JournalLine['kind'], string> = {
  event: 'event',
  decision: 'decided',
  call: 'called',
  person: 'person',
};

/** The codes of a call that a support case needs, by their names in words. */
const CALL_FACTS = { attempt: 'try', status: 'status', requestId: 'request', key: 'key' } as const;

function tellLine(line: JournalLine): string {
  const { at, kind, ref, detail } = line;
  const text = timelineSentence(line);
  const facts = Object.entries(CALL_FACTS).flatMap(([name, word]) => {
    const value = kind === 'call' ? detail?.[name] : null;
    return value === null || value === undefined ? [] : [`${word} ${String(value)}`];
  });
  const more = facts.length === 0 ? '' : ` [${facts.join(', ')}]`;
  return `${time(at)}  ${(known(WHO, kind) ?? kind).padEnd(7)}  ${text}${more}${ref === null || text.includes(ref) ? '' : ` (${ref})`}`;
}
