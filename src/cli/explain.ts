// `crossbill explain <id>`: the whole story of an invoice in order, as sentences.
import { factView } from '../reviews/fact.view.js';
import { sentencesOf } from '../reviews/rules/words.js';
import { type Command } from 'commander';
import { type JournalLine, type PaymentRow } from '../domain/model.js';
import { ignoredBecause } from '../invoices/invoice.view.js';
import { type MorObjectRow, verdictBy } from '../domain/mor-object.js';
import { CustomersStore } from '../customers/customers.store.js';
import { ReadModel } from '../engine/read-model.js';
import { ReviewsStore } from '../reviews/reviews.store.js';
import { EventsStore } from '../events/events.store.js';
import { type InvoiceView } from '../engine/read-model.js';
import { type SignupRow } from '../domain/signup.js';
import { SignupsStore } from '../signups/signups.store.js';
import { nextTryOf } from '../retries/retry.view.js';
import { textCensor } from '../observe/index.js';
import { secretValues } from '../config/index.js';
import { CliError, EXIT } from './exit-codes.js';
import { need, type Session } from './session.js';
import { amount, plain, time } from './table.js';
import { type World } from './world.js';

const MOST = 20;

export function addExplain(program: Command, session: Session): void {
  session.leaf(
    program,
    'explain <id>',
    'the whole story in order: events, decisions, calls, people. By invoice, payment, refund, customer, signup, charge, event or review id, or one of the MoR (proforma invoice, link, dispute)',
    async (cli, args) => {
      const id = need(args);
      const world = await cli.open();
      const lanes = await lanesOf(world, id);
      const books = world.get(ReadModel);
      const views: InvoiceView[] = [];
      for (const lane of lanes.slice(0, MOST)) {
        const view = await books.invoice(lane);
        if (view !== null) views.push(view);
      }
      if (views.length === 0) {
        const signups = await signupsOf(world, id);
        if (signups.length > 0) {
          const story = signups.map((s) => plain(tellSignup(s)));
          await cli.print({ id, invoices: [], signups: story, not_shown: 0 }, () => `${story.join('\n')}\n`);
          return EXIT.ok;
        }
        throw new CliError(
          EXIT.failed,
          'not_found',
          `Crossbill knows nothing called ${id}. If Stripe or the MoR knows it, \`crossbill verify\` finds what never arrived.`,
        );
      }
      const censor = textCensor(secretValues(world.config));
      const more = lanes.length - views.length;
      const stories = views.map((v) => [...tell(v), '', ...v.journal.map(line)].map((text) => plain(censor(text))));
      await cli.print(
        { id, invoices: views.map((v, i) => ({ ...view(v), story: stories[i] ?? [] })), not_shown: more },
        () =>
          `${stories.map((s) => s.join('\n')).join('\n\n')}\n${more > 0 ? `\nand ${more} more invoices; explain one by its id\n` : ''}`,
      );
      return EXIT.ok;
    },
  );
}

/** Signups that have no invoice yet, of a customer or by their own id. */
async function signupsOf(world: World, id: string): Promise<readonly SignupRow[]> {
  const customer = await world.get(CustomersStore).find(id);
  if (customer !== null) return customer.signups;
  const signup = await world.get(SignupsStore).find(id);
  return signup === null ? [] : [signup];
}

function tellSignup(s: SignupRow): string {
  const of = s.amount === null || s.currency === null ? '' : ` of ${amount(s.amount, s.currency)}`;
  const next =
    s.kind === 'trial'
      ? 'Its first invoice comes when the trial ends.'
      : 'No charge of it is known: it was not completed, and no event of its payment came.';
  return `Signup ${s.id} (${s.kind}${of}) of customer ${s.customerId}, made ${time(s.createdAt)}: ${s.status}. ${next}`;
}

/** The invoices that an id of any kind is about. */
async function lanesOf(world: World, id: string): Promise<readonly string[]> {
  const books = world.get(ReadModel);
  if ((await books.invoice(id)) !== null) return [id];
  const payment = await books.payment(id);
  if (payment !== null) return [payment.payment.invoiceId];
  const refund = await books.refund(id);
  if (refund !== null) return [refund.refund.invoiceId];
  const customer = await world.get(CustomersStore).find(id);
  if (customer !== null) return customer.invoiceIds;
  const signup = await world.get(SignupsStore).find(id);
  if (signup?.invoiceId) return [signup.invoiceId];
  const review = await world.get(ReviewsStore).find(id);
  if (review?.invoiceId) return [review.invoiceId];
  const event = await world.get(EventsStore).find(id);
  if (event !== null) return [event.lane];
  const events = await world.get(EventsStore).list({ eventId: id }, { limit: 5, cursor: null });
  if (events.data.length > 0) return [...new Set(events.data.map((e) => e.lane))];
  return books.invoicesOfCharge(id);
}

/** What is so now, in sentences. */
function tell(v: InvoiceView): string[] {
  const { invoice: i } = v;
  const due = amount(i.amountDue, i.currency);
  const ignored = ignoredBecause(i);
  const said = [
    `Invoice ${i.invoiceId} of customer ${i.customerId ?? 'unknown'}: ${i.status}${ignored === null ? '' : ` (${ignored.replaceAll('_', ' ')})`}. Stripe shows it ${i.platformStatus}, ${due} due, ${amount(i.amountPaid, i.currency)} paid.`,
  ];
  if (v.payments.length === 0 && i.expectedBy !== null && i.status === 'expected') {
    said.push(`A verdict of the MoR is expected by ${time(verdictBy(i, v.objects))}.`);
  }
  const tried = nextTryOf(i);
  if (tried !== null) said.push(`It was ${tried}.`);
  for (const p of v.payments) {
    const name = p.paymentId ?? p.id;
    const of = `${amount(p.amount, p.currency)}${p.processorChargeId === null ? '' : `, charge ${p.processorChargeId}`}`;
    const mark =
      p.mark === 'confirmed'
        ? `It is marked on Stripe${p.paymentRecordId === null ? ' out of band' : ` by ${p.paymentRecordId}`}.`
        : p.mark === 'proving'
          ? tellProof(p)
          : p.succeededAt === null
            ? `Nothing was taken${p.failureMessage === null ? '' : `: ${p.failureMessage.replace(/\.$/, '')}`}${p.declineCode === null ? '' : ` (${p.declineCode})`}.`
            : `It is not marked on Stripe (${p.mark}).`;
    said.push(`Payment ${name} (${p.origin}): ${p.status}, ${of}. ${mark}`);
  }
  for (const r of v.refunds) {
    const name = r.morRefundId === null ? r.id : `${r.id} (${r.morRefundId})`;
    const note = r.creditNoteId === null ? `mirror on Stripe: ${r.mirror}` : `credit note ${r.creditNoteId}`;
    const failure = r.failure === null ? '' : ` The MoR said: ${r.failure.message}`;
    said.push(`Refund ${name}: ${r.status}, ${amount(r.amount, r.currency)}, ${note}.${failure}`);
  }
  said.push(...v.objects.flatMap(tellObject));
  for (const m of v.messages.filter((x) => x.status === 'pending')) {
    const last =
      m.attempts === 0
        ? 'not tried yet'
        : `${m.attempts} tries, last: ${m.lastMessage ?? m.lastCode ?? String(m.lastStatus ?? 'no answer')}`;
    said.push(`Waiting: ${m.kind} to ${m.peer}, next try ${time(m.nextTryAt)} (${last}).`);
  }
  for (const r of v.reviews.filter((x) => x.status === 'open')) {
    const { summary, proposal } = sentencesOf(r);
    said.push(`For a person (${r.id}, ${r.kind}): ${summary} Proposed: ${proposal}`);
  }
  return said;
}

/** What a signup's charge waits for. */
function tellProof(p: PaymentRow): string {
  const next = `It is asked for again ${p.proveDueAt === null ? 'at once' : `at ${time(p.proveDueAt)}`}.`;
  return p.pendingSince === null
    ? `The MoR has not said yet whether it charged it. ${next}`
    : `The MoR knows the charge since ${time(p.pendingSince)} and has not settled it, as with a bank debit; nothing is marked before. ${next}`;
}

const PAPERS: Record<MorObjectRow['kind'], string> = {
  proforma: 'Proforma invoice',
  payment_link: 'Payment link',
  e_invoice: 'E-invoice',
  dispute: 'Dispute',
  alert: 'Pre-chargeback alert',
  capture: 'Card payment at the MoR',
  debit_return: 'Returned debit',
};

/** One thing that the MoR keeps beside the invoice. */
function tellObject(o: MorObjectRow): string[] {
  const until = { proforma: 'to be paid by', payment_link: 'can be paid until', dispute: 'evidence due', alert: 'due' };
  const ends = o.kind in until ? until[o.kind as keyof typeof until] : null;
  const { failure, refusal, outcome, refunded, reviewerNote, automatic } = o.detail;
  const facts = [
    o.status,
    o.amount === null ? null : amount(o.amount, o.currency),
    ends === null || o.deadline === null ? null : `${ends} ${time(o.deadline)}`,
    automatic === true ? 'made by itself' : null,
    failure === undefined ? null : `because ${failure.message ?? failure.code ?? 'no reason given'}`,
    refusal === undefined ? null : `the MoR said: ${refusal.message}`,
    outcome ? `in the MoR’s words ${outcome}` : null,
    refunded === true ? 'answered with a refund' : refunded === false ? 'answered without a refund' : null,
    reviewerNote ? `the reviewer noted: ${reviewerNote}` : null,
    o.url,
  ].filter((fact) => fact !== null);
  const name = [o.number, o.morId ?? o.id].filter((x) => x !== null).join(' ');
  return [`${PAPERS[o.kind]} ${name}: ${facts.join(', ')}.`];
}

const WHO: Record<JournalLine['kind'], string> = {
  event: 'event',
  decision: 'decided',
  call: 'called',
  person: 'person',
};

function line(j: JournalLine): string {
  const facts = Object.entries(j.detail ?? {}).filter(([name, value]) => value !== null && name !== 'call');
  const detail = facts.length === 0 ? '' : ` [${facts.map(([name, value]) => `${name} ${String(value)}`).join(', ')}]`;
  return `${time(j.at)}  ${WHO[j.kind].padEnd(7)}  ${j.text}${detail}${j.ref === null || j.text.includes(j.ref) ? '' : ` (${j.ref})`}`;
}

function view(v: InvoiceView): Record<string, unknown> {
  const { invoice: i } = v;
  return {
    invoice_id: i.invoiceId,
    customer_id: i.customerId,
    mor_customer_id: v.morCustomerId,
    status: i.status,
    stripe_status: i.platformStatus,
    amount_due: i.amountDue,
    amount_paid: i.amountPaid,
    currency: i.currency,
    payments: v.payments.map((p) => ({
      id: p.paymentId ?? p.id,
      status: p.status,
      amount: p.amount,
      mark: p.mark,
      processor_charge_id: p.processorChargeId,
      payment_record_id: p.paymentRecordId,
    })),
    refunds: v.refunds.map((r) => ({
      id: r.id,
      mor_refund_id: r.morRefundId,
      status: r.status,
      amount: r.amount,
      mirror: r.mirror,
      credit_note_id: r.creditNoteId,
    })),
    at_the_mor: v.objects.map((o) => ({
      kind: o.kind,
      id: o.morId ?? o.id,
      status: o.status,
      amount: o.amount,
      currency: o.currency,
      deadline: o.deadline,
      url: o.url,
    })),
    open_reviews: v.reviews
      .filter((r) => r.status === 'open')
      .map((r) => ({
        id: r.id,
        kind: r.kind,
        due_at: r.dueAt,
        fact: factView(r.fact),
        proposed: r.proposed,
        summary: sentencesOf(r).summary,
      })),
    timeline: v.journal.map((j) => ({ at: j.at, kind: j.kind, text: j.text, ref: j.ref, detail: j.detail })),
  };
}
