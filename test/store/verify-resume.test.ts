// An interrupted verify run resumes: it asks for nothing twice, loses no finding, and trusts nothing.
import { expect, it } from '@jest/globals';
import {
  type BillingEventFacts,
  type BillingPage,
  BillingReader,
  type CreditNoteFacts,
  type PaymentRecordFacts,
  type ShownInvoice,
} from '../../src/shared/domain/ports/billing-reader.js';
import { type InvoiceFacts } from '../../src/shared/domain/ports/billing-platform.js';
import { type CallOutcome } from '../../src/shared/domain/ports/call.js';
import { type DecisionSettings } from '../../src/shared/domain/settings.js';
import { Decisions } from '../../src/core/lanes/decisions.js';
import { DecisionContext } from '../../src/engine/decision-context.js';
import {
  VERIFY_LIMITS,
  VerifyService,
  type VerifyOptions,
  type VerifyReport,
} from '../../src/features/verify/verify.service.js';
import { LaneSignal } from '../../src/engine/lane-signal.js';
import { type Database } from '../../src/frames/store/database.js';
import { PgInbox } from '../../src/frames/store/inbox.repository.js';
import { PgLaneRepository } from '../../src/engine/pg-lane.repository.js';
import { VerifyRepository } from '../../src/features/verify/verify.repository.js';
import { SystemIds } from '../../src/engine/system-ports.js';
import { anInvoice, invoiceEvent, SETTINGS as BUILT } from '../support/builders/events.js';
import { ManualClock, SeededRng } from '../support/fakes/clock.js';
import { databaseForEach } from '../support/rigs/use-database.js';
import { FakePaymentGateway } from '../support/fakes/fake-mor.js';
import { failed, FakeBillingPlatform } from '../support/fakes/fake-platform.js';
import { parsedEvents } from '../support/fakes/parsed-events.js';

const NOW = new Date('2026-11-20T12:00:00Z');
const SINCE = new Date(NOW.getTime() - 30 * 86_400_000);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const PAGE = 10;
const SETTINGS: DecisionSettings = { ...BUILT, signupChargeCheck: 'off' };

const shown = (invoice: InvoiceFacts): ShownInvoice => ({
  ...invoice,
  payments: [],
  amountOverpaid: 0n,
  creditedAfterPayment: 0n,
});

/** Stripe's lists, newest first. Keeps the requests; `dieAt` ends the process in the middle of this one. */
class Lists extends BillingReader {
  readonly events: BillingEventFacts[] = [];
  readonly pages: { what: string; ids: string[] }[] = [];
  dieAt = Infinity;
  silent = false;

  constructor(private readonly stripe: FakeBillingPlatform) {
    super();
  }

  private page<T extends { readonly createdAt: Date | null }>(
    what: string,
    all: readonly T[],
    id: (item: T) => string,
    text: { createdAfter: Date; createdBefore?: Date; startingAfter?: string },
  ): Promise<CallOutcome<BillingPage<T>>> {
    if (this.silent) return Promise.resolve(failed('unknown'));
    if (this.pages.length + 1 >= this.dieAt) return Promise.reject(new Error('the process was killed'));
    const time = (index: T): number => index.createdAt?.getTime() ?? 0;
    const listed = all
      .filter((i) => time(i) >= text.createdAfter.getTime() && time(i) < (text.createdBefore?.getTime() ?? Infinity))
      .toSorted((a, b) => time(b) - time(a));
    const from = text.startingAfter === undefined ? 0 : listed.findIndex((i) => id(i) === text.startingAfter) + 1;
    const items = listed.slice(from, from + PAGE);
    this.pages.push({ what, ids: items.map(id) });
    const next = from + PAGE < listed.length ? id(items[items.length - 1] as T) : null;
    return Promise.resolve({ ok: true, value: { items, unreadable: [], next }, status: 200, requestId: null });
  }

  override listInvoices(
    query: Parameters<BillingReader['listInvoices']>[0],
  ): ReturnType<BillingReader['listInvoices']> {
    return this.page('invoices', [...this.stripe.invoices.values()].map(shown), (i) => i.invoiceId, query);
  }
  override async readInvoice(id: string): ReturnType<BillingReader['readInvoice']> {
    const invoice = this.stripe.invoices.get(id);
    return { ok: true, value: invoice === undefined ? null : shown(invoice), status: 200, requestId: null };
  }
  override listEvents(query: Parameters<BillingReader['listEvents']>[0]): ReturnType<BillingReader['listEvents']> {
    return this.page('events', this.events, (e) => e.eventId, query);
  }
  private readonly never = (): never => {
    throw new Error('verify does not ask for this here');
  };
  private readonly nothing = <T>(): Promise<CallOutcome<BillingPage<T>>> =>
    Promise.resolve({ ok: true, value: { items: [], unreadable: [], next: null }, status: 200, requestId: null });
  override listPaymentRecords = this.nothing<PaymentRecordFacts>;
  override listNewCreditNotes = this.nothing<CreditNoteFacts>;
  override listBalance = this.never;
  override listCreditNotes = this.never;
  override readPaymentRecord = this.never;
  override readInvoiceForProforma = this.never;
  override readCustomer = this.never;
  override findCustomers = this.never;
  override readCharged = this.never;
  override listSubscriptions = this.never;
  override subscriptionsOf = this.never;
  override listWebhookEndpoints = this.never;
  override readAccount = this.never;
}

let db: Database;
let clock: ManualClock;
let stripe: FakeBillingPlatform;
let lists: Lists;

databaseForEach((opened) => {
  db = opened;
  clock = new ManualClock(NOW);
  clock.selfMoving = true;
  stripe = new FakeBillingPlatform(clock);
  lists = new Lists(stripe);
}, 5);

function service(limits = { ...VERIFY_LIMITS, saveEvery: 1 }, settings = SETTINGS): VerifyService {
  const ids = new SystemIds();
  const gateway = new FakePaymentGateway(clock);
  const none = {} as never; // a run settles nothing
  const decider = new Decisions(none, none);
  const context = new DecisionContext(settings, clock, new SeededRng(), ids, stripe, gateway, decider);
  const books = new VerifyRepository(db, clock);
  const inbox = new PgInbox(db, clock);
  const lanes = new PgLaneRepository(db, clock, { parsed: parsedEvents() });
  return new VerifyService(books, lists, stripe, gateway, inbox, lanes, context, new LaneSignal(), ids, null, limits);
}

const run = (over: Partial<VerifyOptions> = {}): Promise<VerifyReport> => service().run({ since: SINCE, ...over });
const again = (over: Partial<VerifyOptions> = {}): Promise<VerifyReport> => run({ resume: true, ...over });
const differing = (verifyReport: VerifyReport): (string | null)[] =>
  verifyReport.differences.map((d) => d.invoiceId).sort();

/** Invoices of Stripe, an hour between two, number 1 the newest; the books have all but the unreported ones. */
async function invoices(from: number, to: number, unheard: readonly number[] = []): Promise<void> {
  for (let n = from; n <= to; n++) {
    stripe.put(anInvoice({ invoiceId: `in_${n}`, createdAt: new Date(NOW.getTime() - n * HOUR) }));
    if (!unheard.includes(n)) await known(n);
  }
}
async function known(count: number, status = 'open'): Promise<void> {
  await db.pool.query(
    `insert into invoice (invoice_id, status, platform_status, first_seen_at) values ($1, 'open', $2, $3)
       on conflict (invoice_id) do update set platform_status = excluded.platform_status`,
    [`in_${count}`, status, NOW],
  );
}
const asked = (what: string): string[] => lists.pages.filter((p) => p.what === what).flatMap((p) => p.ids);

/** A hundred invoices on ten pages; the process dies when it asks for the eighth. */
async function killedHalfWay(unheard: readonly number[]): Promise<void> {
  await invoices(1, 100, unheard);
  lists.dieAt = 8;
  await expect(run()).rejects.toThrow('killed');
  lists.dieAt = Infinity;
  lists.pages.length = 0;
}

it('a resumed verify run reads only the remaining invoices from Stripe, and reports the differences of both parts of the run', async () => {
  await killedHalfWay([5, 40, 97]);
  clock.advance(11 * MINUTE);
  await known(40);
  const report = await again();
  expect(report.resumedFrom).not.toBeNull();
  expect({ outcome: report.outcome, about: differing(report) }).toEqual({
    outcome: 'differences',
    about: ['in_5', 'in_97'],
  });
  // The newest once more, for the events of the break; then the last one before the cut, and all following.
  expect(asked('invoices')).toEqual(['in_1', ...Array.from({ length: 31 }, (_, i) => `in_${70 + i}`)]);
  expect(report.compared['invoices']).toBe(102);
});

it('a verify run skips and counts an invoice with an undecided event, and the next run compares the invoice', async () => {
  await invoices(1, 4, [1, 2]);
  await known(3, 'draft');
  const inbox = new PgInbox(db, clock);
  const event = (count: number): ReturnType<typeof invoiceEvent> =>
    invoiceEvent('invoice.finalized', { eventId: `evt_${count}`, invoiceId: `in_${count}` });
  await inbox.store([event(1), event(3), event(4)]);
  const report = await run();
  expect({ outcome: report.outcome, about: differing(report), left: report.compared['under_way'] }).toEqual({
    outcome: 'differences',
    about: ['in_2'],
    left: 2,
  });
  await db.pool.query(`update inbox_event set status = 'ignored', decided_at = now()`);
  expect(differing(await run())).toEqual(['in_1', 'in_2', 'in_3']);
});

it('a verify run starts one time a day, and immediately if a wrong clock had scheduled the next run a year ahead', async () => {
  const books = new VerifyRepository(db, clock);
  const days = (count: number): number => count * 24 * HOUR;
  expect(await books.claimRun(days(1))).toBe(true);
  expect(await books.claimRun(days(1))).toBe(false);
  await books.nextRunIn(days(365));
  expect(await books.claimRun(days(1))).toBe(true);
  expect(await books.claimRun(days(1))).toBe(false);
});

it('a resumed verify run is clean if the differences found before its interruption are gone', async () => {
  await killedHalfWay([5]);
  clock.advance(11 * MINUTE);
  await known(5);
  expect((await again()).outcome).toBe('clean');
});

it('a resumed verify run reads an invoice again if database and Stripe both changed since the first part', async () => {
  await killedHalfWay([5, 6]);
  clock.advance(11 * MINUTE);
  await known(5, 'open');
  await known(6, 'open');
  stripe.change('in_6', { status: 'void' });
  expect(differing(await again())).toEqual(['in_6']);
});

it('a resumed verify run compares invoices created during its interruption, and ignores deleted invoices', async () => {
  await killedHalfWay([]);
  clock.advance(11 * MINUTE);
  const createdAt = new Date(NOW.getTime() + MINUTE);
  stripe.put(anInvoice({ invoiceId: 'in_new', createdAt }));
  for (const n of [70, 71]) stripe.invoices.delete(`in_${n}`); // at the cut
  expect(differing(await again())).toEqual(['in_new']);
  expect(asked('invoices')).toHaveLength(1 + 1 + 29);
});

it('Crossbill resumes a verify run only after ten minutes without a sign of life, and in only one process', async () => {
  await killedHalfWay([]);
  clock.advance(9 * MINUTE);
  expect((await again({ signal: AbortSignal.abort() })).resumedFrom).toBeNull();
  await db.pool.query(`delete from verify_run where outcome = 'incomplete'`);
  clock.advance(2 * MINUTE);
  const two = await Promise.all([again(), again()]);
  expect(two.filter((r) => r.resumedFrom !== null)).toHaveLength(1);
  expect(two.map((r) => r.outcome)).toEqual(['clean', 'clean']);
});

it('a verify run ends as incomplete if its process slept and another process resumed the run meanwhile', async () => {
  await invoices(1, 100, [97]);
  let taken: VerifyReport | null = null;
  const slept = await run({
    onSaved: async () => {
      if (taken !== null || asked('invoices').length < 50) return;
      clock.advance(11 * MINUTE);
      taken = await again();
    },
  });
  expect(taken).toMatchObject({ outcome: 'differences', resumedFrom: slept.id });
  expect(slept).toMatchObject({ outcome: 'incomplete', problem: 'another process resumed this run' });
  const kept = await db.pool.query<{ outcome: string }>('select outcome from verify_run order by seq');
  expect(kept.rows.map((r) => r.outcome)).toEqual(['incomplete', 'differences']);
});

it('a stopped verify run ends as incomplete, and the next run immediately resumes the stopped run', async () => {
  await invoices(1, 100);
  const stop = new AbortController();
  const cut = await run({ signal: stop.signal, onProgress: (n) => (n['invoices'] ?? 0) >= 50 && stop.abort() });
  expect(cut.outcome).toBe('incomplete');
  lists.silent = true;
  const silent = await again();
  expect(silent).toMatchObject({ outcome: 'incomplete', resumedFrom: cut.id });
  lists.silent = false;
  lists.pages.length = 0;
  const whole = await again();
  expect(whole).toMatchObject({ outcome: 'clean', resumedFrom: silent.id, beganAt: cut.beganAt });
  expect(asked('invoices').length).toBeLessThan(55);
});

it('a verify run starts anew, and resumes no complete run, no run over a day old, and no run with other settings or dates', async () => {
  const cutOff = (): Promise<VerifyReport> => run({ signal: AbortSignal.abort() });
  await invoices(1, 15);
  await cutOff();
  const other = service(VERIFY_LIMITS, { ...SETTINGS, signupChargeCheck: 'psp_reference' });
  const settings = await other.run({ since: SINCE, resume: true, signal: AbortSignal.abort() });
  const further = await again({ since: new Date(SINCE.getTime() - 1), signal: AbortSignal.abort() });
  const less = await again({ since: new Date(SINCE.getTime() + 25 * HOUR), signal: AbortSignal.abort() });
  clock.advance(24 * HOUR + 1);
  const later = await again({ signal: AbortSignal.abort() });
  await run();
  const whole = await again();
  expect([settings, further, less, later, whole].map((r) => r.resumedFrom)).toEqual([null, null, null, null, null]);
});

it('a verify run names a limited number of differences and counts the others, and a repair fetches all missing events', async () => {
  for (let n = 1; n <= 45; n++) {
    const at = new Date(NOW.getTime() - n * HOUR);
    const { eventId, type, body } = invoiceEvent('invoice.updated', {
      invoiceId: `in_${n}`,
      eventId: `evt_${n}`,
      at,
    });
    lists.events.push({
      eventId,
      type,
      createdAt: at,
      about: { id: `in_${n}`, createdAt: at },
      movesBalance: false,
      body,
    });
  }
  const few = service({ saveEvery: 1, kept: 20, bodies: 5 });
  const report = await few.run({ since: SINCE });
  expect([report.differences.length, report.missing.size, report.more]).toEqual([20, 5, { event_never_delivered: 25 }]);
  const { started, failed: not, beyond } = await few.repair(report);
  expect([started.length, not, beyond]).toEqual([20, [], 25]);
  expect((await few.run({ since: SINCE })).outcome).toBe('clean');
});
