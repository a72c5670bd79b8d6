// The queries behind pages, look-ups and timers, exactly as the daemon sends them.
import { eventParser } from '#src/core/events/event-parser.js';
import { ParsedEvents } from '#src/engine/parsed-events.js';
import { ServerTime } from '#src/frames/store/database-time.js';
import { type Database } from '#src/frames/store/database.js';
import { PgLaneRepository } from '#src/engine/pg-lane.repository.js';
import { ReadModel } from '#src/engine/read-model.js';
import { DisputesRepository } from '#src/features/losses/disputes/disputes.repository.js';
import { EndpointsLogRepository } from '#src/features/verify/endpoints-log.repository.js';
import { DaysRepository } from '#src/features/overview/days.repository.js';
import { EndpointRepliesRepository } from '#src/frames/intake/endpoint-replies.repository.js';
import { EnrolmentRepository } from '#src/features/enrolment/enrolment.repository.js';
import { LedgerRepository } from '#src/core/ledger/ledger.repository.js';
import { LedgerSumsRepository } from '#src/core/ledger/sums.repository.js';
import { Notifications } from '#src/frames/store/notifications.js';
import { HealthRepository } from '#src/core/health/health.repository.js';
import { RetriesRepository } from '#src/features/retries/retries.repository.js';
import { SearchRepository } from '#src/features/overview/search.repository.js';
import { VerifyRepository } from '#src/features/verify/verify.repository.js';
import { SignupsRepository } from '#src/core/signups/signups.repository.js';
import { SystemClock } from '#src/engine/system-ports.js';
import { InvoicesRepository } from '#src/core/invoices/invoices.repository.js';
import { PaymentsRepository } from '#src/core/payments/payments.repository.js';
import { RefundsRepository } from '#src/core/refunds/refunds.repository.js';
import { EventsRepository } from '#src/core/events/events.repository.js';
import { ReviewsRepository } from '#src/core/reviews/reviews.repository.js';
import { AuditRepository } from '#src/core/audit/audit.repository.js';
import { CustomersRepository } from '#src/core/customers/customers.repository.js';
import { OF_CUSTOMER } from './fill-rows.js';

export type Question = {
  readonly what: string;
  readonly ask: () => Promise<unknown>;
  /** True: the query finds nothing, and compares the most rows a page is allowed to compare, one by one. */
  readonly looksThrough?: true;
};

const LIMIT = 20;
const HOURS_MS = 3_600_000;
const DAY_MS = 24 * HOURS_MS;

/**
 * @param name the common part of the ids of the renewal to look up
 * @param count the number of a row in the middle of each table
 */
export function questions(db: Database, name: string, count: number): readonly Question[] {
  const [clock, time] = [new SystemClock(), new ServerTime()];
  const [books, ledger, health] = [new ReadModel(db), new LedgerRepository(db), new HealthRepository(db, clock)];
  const [invoices, payments, refunds] = [
    new InvoicesRepository(db),
    new PaymentsRepository(db),
    new RefundsRepository(db),
  ];
  const [events, reviews, audit] = [new EventsRepository(db, time), new ReviewsRepository(db), new AuditRepository(db)];
  const [lanes, verify, customers] = [
    new PgLaneRepository(db, time, { parsed: new ParsedEvents(eventParser) }),
    new VerifyRepository(db, time),
    new CustomersRepository(db),
  ];
  const [disputes, retries, enrolment] = [
    new DisputesRepository(db),
    new RetriesRepository(db, time),
    new EnrolmentRepository(db, time),
  ];
  const [signups, endpoints, notified] = [
    new SignupsRepository(db, time),
    new EndpointsLogRepository(db, time),
    new Notifications(db, time, null),
  ];
  const customer = name.startsWith('old') ? `cus_old${Math.floor(count / OF_CUSTOMER)}` : `cus_${name}`;
  const first = { limit: LIMIT, cursor: null };
  const deep = { limit: LIMIT, cursor: String(count) };
  // The old rows cover two years.
  const ago = (days: number): Date => new Date(Date.now() - days * DAY_MS);
  const [middle, month] = [ago(353), { since: ago(400), until: ago(370) }];
  const day = (count: number): Date => new Date(Math.floor(ago(count).getTime() / DAY_MS) * DAY_MS);
  const [wholeDays, thirty] = [
    { since: day(400), until: day(370) },
    { since: day(29), until: day(-1) },
  ];
  const [search, days, replies] = [new SearchRepository(db), new DaysRepository(db), new EndpointRepliesRepository(db)];
  const ask = (what: string, question: () => Promise<unknown>): Question => ({ what, ask: question });
  const read = (what: string, question: () => Promise<unknown>): Question => ({
    ...ask(what, question),
    looksThrough: true,
  });
  return [
    ask('look-up by invoice', () => books.invoice(`in_${name}`)),
    ask('by payment', () => books.payment(`pay_${name}`)),
    ask('by charge', () => books.invoicesOfCharge(`ch_${name}`)),
    ask('by refund', () => books.refund(`rfnd_${name}`)),
    ask('by event id', () => events.list({ eventId: `evt_${name}` }, first)),
    ask('by customer', () => customers.find(customer)),
    ask('list of invoices', () => invoices.list({}, first)),
    ask('of open ones', () => invoices.list({ status: 'open' }, first)),
    ask('of void ones, the newest far back', () => invoices.list({ status: 'void' }, first)),
    ask('of invoices, a page from the middle', () => invoices.list({ until: middle }, first)),
    ask('of paid ones of a month long ago', () => invoices.list({ status: 'paid', ...month }, first)),
    ask('of a customer', () => invoices.list({ customerId: customer }, first)),
    read('of an amount that there is not', () => invoices.list({ amount: 1n }, first)),
    ask('list of payments', () => payments.list({}, first)),
    ask('of failed ones', () => payments.list({ status: 'failed' }, first)),
    ask('of those to be confirmed, the newest far back', () => payments.list({ status: 'requires_action' }, first)),
    ask('of payments, a page from the middle', () => payments.list({ until: middle }, first)),
    ask('of paid ones, a page from the middle', () => payments.list({ status: 'succeeded', until: middle }, first)),
    ask('of payments of a month long ago', () => payments.list(month, first)),
    read('of payments in a currency that there is not', () => payments.list({ currency: 'CHF' }, first)),
    ask('of payments of a customer', () => payments.list({ customerId: customer }, first)),
    ask('list of disputes', () => disputes.list({}, first)),
    ask('of disputes of a customer', () => disputes.list({ customerId: customer }, first)),
    ask('list of refused renewals', () => retries.list({}, first)),
    ask('of those that are tried again', () => retries.list({ state: 'planned' }, first)),
    ask('list of linked customers, with how far they are', () => enrolment.linked({}, first)),
    ask('list of invoices that were left alone', () => enrolment.outside({}, first)),
    ask('list of refunds', () => refunds.list({}, first)),
    ask('of failed refunds, the newest far back', () => refunds.list({ statuses: ['failed'] }, first)),
    ask('of refunds that nobody has answered', () => refunds.list({ statuses: ['requested', 'unknown'] }, first)),
    ask('of refunds of a month long ago', () => refunds.list(month, first)),
    ask('of refunds of a customer', () => refunds.list({ customerId: customer }, first)),
    ask('list of events', () => events.list({}, first)),
    ask('of a common type', () => events.list({ type: 'payment.succeeded' }, first)),
    ask('of a type whose newest is far back', () => events.list({ type: 'payment.failed' }, first)),
    ask('of a type that there is not', () => events.list({ type: 'none' }, first)),
    ask('of parked ones, the newest far back', () => events.list({ status: 'parked' }, first)),
    ask('of ignored ones', () => events.list({ status: 'ignored' }, first)),
    ask('of waiting ones', () => events.list({ status: 'received' }, first)),
    ask('of a sender that there is not', () => events.list({ source: 'mor_events' }, first)),
    ask('of events of a month long ago', () => events.list(month, first)),
    ask('of events, a page from the middle', () => events.list({}, { limit: LIMIT, cursor: `${count}.${count}` })),
    ask('list of the ledger', () => ledger.list({}, first)),
    ask('of a reason whose newest is far back', () => ledger.list({ reason: 'dispute_lost' }, first)),
    ask('of an invoice', () => ledger.list({ invoiceId: `in_${name}` }, first)),
    ask('of the ledger, a page from the middle', () => ledger.list({}, deep)),
    ask('of the ledger of a month long ago', () => ledger.list(month, first)),
    ask('of a rare reason in a month long ago', () => ledger.list({ reason: 'dispute_lost', ...month }, first)),
    ask('of the ledger of a customer', () => ledger.list({ customerId: customer }, first)),
    read('of the ledger in a currency that there is not', () => ledger.list({ currency: 'CHF' }, first)),
    ask('list of open review items', () => reviews.list({ status: 'open' }, first, 'due')),
    ask('of review items of a month long ago', () => reviews.list(month, first)),
    ask('of review items of a customer', () => reviews.list({ customerId: customer }, first)),
    ask('of a kind whose newest is far back', () => reviews.list({ kind: 'refund_gap' }, first)),
    ask('list of the audit by actor', () => audit.list({ actor: 'old-key' }, first)),
    ask('of the audit of a month long ago', () => audit.list(month, first)),
    ask('of an actor in a month long ago', () => audit.list({ actor: 'shop', ...month }, first)),
    ask('list of notifications of a month long ago', () => notified.list(month, first)),
    ask('search: ids begin so', () => search.beginning('in_old', 5)),
    ask('search: nothing begins so', () => search.beginning('zzzz', 5)),
    ask('sums: the ledger by its days', () => ledger.sums({ reason: 'payment_collected', ...wholeDays })),
    read('sums: invoices, a month', () => invoices.sums(month)),
    read('sums: payments, no filter', () => payments.sums({})),
    ask("sums: a customer's money", () => payments.ofCustomer(customer)),
    ask('sums: trial balance', () => new LedgerSumsRepository(db, time).between(wholeDays)),
    ask('days: 30 with money and renewals', async () => [await days.money(thirty), await days.renewals(thirty)]),
    ask('endpoints: a day with the last refusals', async () => [
      await replies.replies(ago(1)),
      await replies.refusals(25),
    ]),
    read('status: invoices by status', () => health.invoicesByStatus()),
    ask('timer: what is due (0.4 s)', () => lanes.claim('bench', 1, 1_000)),
    ask('timer: depth of the queues (a scrape)', () => health.backlog()),
    ask('timer: the endpoints are open (a minute)', () => endpoints.seen('bench')),
    ask('timer: overdue signups (5 min)', () => signups.tellOverdue(18 * HOURS_MS)),
    ask('timer: the last verify run (5 min)', async () => [await verify.last(), await verify.lastComplete()]),
    ask('last event of each sender', () => events.lastEvents()),
    ask('what was tried and is not through', () => health.stuck(5)),
  ];
}
