// One replica from its start to its end: the real endpoints, services, worker and adapters, with simulated time and a
// simulated network.
import { type ProformaInvoices } from '@crossbill/mor';
import { Readable } from 'node:stream';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { Secret } from '#src/shared/config/secret.js';
import { RequestBudget } from '#src/shared/domain/ports/request-budget.js';
import { type DecisionSettings } from '#src/shared/domain/settings.js';
import { MorObjectsService } from '#src/core/mor-objects/mor-objects.service.js';
import { LaneChanges } from '#src/engine/lane-changes.js';
import { RefundsService } from '#src/core/refunds/refunds.service.js';
import { RetriesService } from '#src/features/retries/retries.service.js';
import { ReturnsService } from '#src/features/losses/returns/returns.service.js';
import { PaymentsService } from '#src/core/payments/payments.service.js';
import { ReviewsService } from '#src/core/reviews/reviews.service.js';
import { Decisions } from '#src/core/lanes/decisions.js';
import { DecisionContext } from '#src/engine/decision-context.js';
import { RouteEventsService } from '#src/core/mor-objects/route-events.service.js';
import { SignupService } from '#src/core/signups/signup.service.js';
import { SignupPrice } from '#src/core/signups/signup-price.js';
import { TaxTotalsRepository } from '#src/core/signups/tax-totals.repository.js';
import { PaymentMethodsService } from '#src/core/customers/payment-methods.service.js';
import { EnrolmentService } from '#src/features/enrolment/enrolment.service.js';
import { VERIFY_LIMITS, VerifyService } from '#src/features/verify/verify.service.js';
import { eventParser } from '#src/core/events/event-parser.js';
import { ParsedEvents } from '#src/engine/parsed-events.js';
import { LaneSignal } from '#src/engine/lane-signal.js';
import { WorkLaneService } from '#src/engine/work-lane.service.js';
import { Endpoints } from '#src/frames/intake/endpoints.js';
import { HttpEventRelay } from '#src/frames/mor/event-relay.js';
import { HttpMorChannels } from '#src/frames/mor/mor-channels.js';
import { MorPaymentGateway } from '#src/frames/mor/mor-payment-gateway.js';
import { morClient, type MorOptions } from '#src/frames/mor/options.js';
import { MorTaxClient } from '#src/frames/mor/mor-tax-client.js';
import { type SandboxCore } from '@crossbill/sandbox/sandbox.js';
import { type Database } from '#src/frames/store/database.js';
import { PgInbox } from '#src/frames/store/inbox.repository.js';
import { PgLaneRepository } from '#src/engine/pg-lane.repository.js';
import { ReadModel } from '#src/engine/read-model.js';
import { HomelessEvents } from '#src/core/mor-objects/homeless-events.repository.js';
import { Notifications } from '#src/frames/store/notifications.js';
import { Notifier } from '#src/features/notifications/notifier.js';
import { type Delivery } from '#src/shared/domain/ports/receiver.js';
import { PaymentMethodsRepository } from '#src/core/customers/payment-methods.repository.js';
import { PgRequestBudget } from '#src/frames/store/pg-request-budget.js';
import { MarksRepository } from '#src/features/verify/marks.repository.js';
import { RecordsRepository } from '#src/features/verify/records.repository.js';
import { VerifyRepository } from '#src/features/verify/verify.repository.js';
import { ReviewsRepository } from '#src/core/reviews/reviews.repository.js';
import { ChargeLookupsRepository } from '#src/features/enrolment/charge-lookups.repository.js';
import { EnrolmentRepository } from '#src/features/enrolment/enrolment.repository.js';
import { CustomerLinksRepository } from '#src/core/customers/customer-links.repository.js';
import { Requests } from '#src/frames/store/requests.js';
import { SignupsRepository } from '#src/core/signups/signups.repository.js';
import { StripeBillingPlatform } from '#src/frames/stripe/stripe-billing-platform.js';
import { StripeBillingReader } from '#src/frames/stripe/stripe-billing-reader.js';
import { StripeClient } from '#src/frames/stripe/stripe-client.js';
import { LaneWorker } from '#src/engine/lane-worker.js';
import { VerifyJob, type VerifyJobReports } from '#src/features/verify/verify-job.js';
import { databaseFaults, type FaultKind, lacking, standbyFaults } from './faults.js';
import { faultyDatabase, type Trouble } from './faulty-pool.js';
import { steppedDatabase } from './paced.js';
import { SimReceiver } from './receiver.js';
import { type Owner, type Scheduler } from './scheduler.js';
import { POLL_SLEEP_MS, SimClock } from './sim-clock.js';
import { type CountingIds, type Seeded } from './seeded.js';
import { type Network, SimLine, SimStripeTransport } from './wires.js';
import { RefundsRepository } from '#src/core/refunds/refunds.repository.js';
import { PaymentsRepository } from '#src/core/payments/payments.repository.js';
import { CustomersRepository } from '#src/core/customers/customers.repository.js';

/** The lease of a lane, as long as in the daemon. */
const LEASE_MS = 25_000;
const CONCURRENCY = 4;
/** The page size of Stripe's lists. It is small, so verify reads several pages even for a small shop. */
const VERIFY_PAGE = 3;

export type ReplicaParts = {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly sandbox: SandboxCore;
  readonly db: Database;
  /** Requests a second to Stripe from all replicas together. Null: no limit. */
  readonly pace: number | null;
  /** True: a standby may take over at any database step. */
  readonly standby: boolean;
  readonly settings: DecisionSettings;
  /** Receives each notification for the merchant's backend. Null: Crossbill sends none. */
  readonly hear: ((delivery: Delivery) => void) | null;
  readonly ids: CountingIds;
  readonly rng: Seeded;
  readonly onError: (what: string, error: unknown) => void;
  readonly onVerified: VerifyJobReports['onRun'];
};

/** A budget without a limit, since waiting would only make most stories longer. */
class NoBudget extends RequestBudget {
  override take(): Promise<void> {
    return Promise.resolve();
  }
  override throttled(): void {
    // This budget has no limit, so a 429 of Stripe does not lower it.
  }
}

export class Replica {
  readonly clock: SimClock;
  readonly refunds: RefundsService;
  readonly retries: RetriesService;
  readonly returns: ReturnsService;
  readonly payments: PaymentsService;
  readonly reviews: ReviewsService;
  readonly channels: MorObjectsService;
  readonly proformas: ProformaInvoices;
  readonly signups: SignupService;
  readonly methods: PaymentMethodsService;
  readonly verify: VerifyService;
  /** The scheduled `crossbill verify`. It runs only if the story starts it. */
  readonly verifyJob: VerifyJob;
  readonly books: ReadModel;
  readonly paymentRows: PaymentsRepository;
  readonly reviewRows: ReviewsRepository;
  readonly signupRows: SignupsRepository;
  readonly links: CustomerLinksRepository;
  readonly endpoints: Endpoints;
  readonly worker: LaneWorker;
  readonly notifier: Notifier;
  private readonly gone: (() => void)[] = [];

  constructor(
    readonly owner: Owner,
    parts: ReplicaParts,
  ) {
    const { scheduler, network, sandbox, settings, ids, rng } = parts;
    const clock = (this.clock = new SimClock(scheduler, owner));
    const trouble: Trouble = { next: null };
    const db = faultyDatabase(parts.db, trouble);
    const legal = parts.standby ? [...databaseFaults, ...standbyFaults] : databaseFaults;
    const stored = <T extends object>(name: string, port: T): T =>
      guarded(scheduler, { owner, trouble, legal, name, port });
    const signal = new LaneSignal();
    const inbox = stored('inbox', new PgInbox(db, clock));
    const books = (this.books = stored('books', new ReadModel(db)));
    this.paymentRows = stored('payments', new PaymentsRepository(db));
    this.reviewRows = stored('reviews', new ReviewsRepository(db));
    const customers = stored('customers', new CustomersRepository(db));
    const signupRows = (this.signupRows = stored('signups', new SignupsRepository(db, clock)));
    const requests = stored('requests', new Requests(db, clock));

    const { secrets } = sandbox;
    const stripe = new StripeClient(
      {
        apiKey: secrets.stripeApiKey,
        apiBase: 'http://stripe.sim',
        customPaymentMethodType: null,
        transport: new SimStripeTransport(network, owner),
      },
      parts.pace === null
        ? new NoBudget()
        : new PgRequestBudget(steppedDatabase(parts.db, scheduler, owner), clock, clock, parts.pace),
    );
    const platform = new StripeBillingPlatform(stripe, null);
    const reader = new StripeBillingReader(stripe, VERIFY_PAGE);
    const options: MorOptions = {
      baseUrl: 'http://mor.sim',
      authUrl: 'http://mor.sim',
      psp: 'cardpsp',
      setupCustomer: 'send',
      merchant: {
        clientId: secrets.merchant.clientId,
        clientSecret: new Secret(secrets.merchant.clientSecret),
      },
      partner: null,
      relay: settings.relay ? { url: 'http://mor.sim/relay/stripe', secret: new Secret(secrets.relaySecret) } : null,
      timeoutMs: 1_200_000, // real time: only the simulated deadlines count
      line: new SimLine(network, owner),
    };
    const mor = morClient(options, clock);
    const gateway = new MorPaymentGateway(options, mor.intents, mor.refunds, mor.invoices);
    const proformas = (this.proformas = mor.proformaInvoices);
    const channels = new HttpMorChannels(proformas, mor.paymentLinks);
    const taxClient = new MorTaxClient(mor.taxCalculations);
    const parsed = new ParsedEvents(eventParser);
    const homeless = stored('channel', new HomelessEvents(db, clock, parsed));
    const router = new RouteEventsService(homeless, clock, ids, signal);
    const relay = new HttpEventRelay(options, clock);
    this.links = stored('links', new CustomerLinksRepository(db, clock));
    const moved = stored('enrolment', new EnrolmentRepository(db, clock));
    const enrolment = new EnrolmentService(
      moved,
      reader,
      stored('looks', new ChargeLookupsRepository(db, clock)),
      settings,
    );
    const refundRows = stored('refunds', new RefundsRepository(db));
    const holders = { payments: this.paymentRows, refunds: refundRows, signups: signupRows };
    const decider = new Decisions(router, holders, enrolment);
    const context = new DecisionContext(settings, clock, rng, ids, platform, gateway, decider);
    const lanes = stored(
      'lanes',
      new PgLaneRepository(db, clock, {
        tell: parts.hear === null ? null : decider.tellAs({ notifyFormat: 'standard', consoleUrl: null }),
        writes: decider.subjects.writes,
        parsed,
      }),
    );
    const livemode = { expected: false };
    const service = new WorkLaneService(lanes, platform, gateway, relay, context, livemode, channels);
    const changes = new LaneChanges(lanes, context, signal);
    this.refunds = new RefundsService(changes, books);
    this.retries = new RetriesService(lanes, changes, platform);
    this.returns = new ReturnsService(changes, books);
    this.payments = new PaymentsService(changes, books);
    this.reviews = new ReviewsService(changes, this.reviewRows, context);
    this.channels = new MorObjectsService(lanes, changes, books, reader, channels, context);
    const price = new SignupPrice(platform, taxClient, stored('totals', new TaxTotalsRepository(db, clock)));
    this.signups = new SignupService(signupRows, books, gateway, changes, clock, ids, requests, price);
    const methods = stored('methods', new PaymentMethodsRepository(db, clock));
    this.methods = new PaymentMethodsService(
      methods,
      this.signups,
      gateway,
      customers,
      changes,
      context.settings,
      enrolment,
    );
    const marks = stored('marks', new MarksRepository(db));
    const records = stored('verify', new RecordsRepository(db, clock));
    const verifyBooks = stored('verify', new VerifyRepository(db, clock, marks, records));
    const limits = { ...VERIFY_LIMITS, saveEvery: 1 };
    this.verify = new VerifyService(
      verifyBooks,
      reader,
      platform,
      gateway,
      inbox,
      lanes,
      context,
      signal,
      ids,
      null,
      limits,
      enrolment,
    );
    this.verifyJob = new VerifyJob(
      this.verify,
      verifyBooks,
      clock,
      { verified: () => undefined },
      { onRun: parts.onVerified, onError: (what, error) => parts.onError(`${owner.name}: ${what}`, error) },
    );
    this.endpoints = new Endpoints(
      {
        secrets: {
          stripe: [secrets.stripeWebhookSecret],
          mor_payments: [secrets.paymentWebhookSecret],
          mor_events: [secrets.eventWebhookSecret],
        },
        toleranceSec: 300,
        bodyLimitBytes: 1024 * 1024,
        onReply: (_endpoint, outcome) => {
          if (outcome === 'stored') signal.lanes(); // in the daemon, NOTIFY or its own endpoint wakes the workers
        },
      },
      inbox,
      clock,
      parsed,
    );
    this.endpoints.open();
    this.worker = new LaneWorker(lanes, service, signal, clock, {
      owner: owner.name,
      concurrency: CONCURRENCY,
      leaseMs: LEASE_MS,
      pollMs: POLL_SLEEP_MS,
      onError: (what, error) => parts.onError(`${owner.name}: ${what}`, error),
    });
    this.worker.start();
    const notifications = stored('notifications', new Notifications(db, clock, 'http://receiver.sim/'));
    const receiver = new SimReceiver(parts.hear !== null, scheduler, owner, (delivery) => parts.hear?.(delivery));
    this.notifier = new Notifier(notifications, receiver, clock, rng, {
      places: CONCURRENCY,
      pollMs: POLL_SLEEP_MS,
      onError: (what, error) => parts.onError(`${owner.name}: ${what}`, error),
    });
    this.notifier.start();
  }

  /** Receives one delivery and returns the HTTP status. Null: the replica ended before its answer. */
  receive(path: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<number | null> {
    return new Promise((resolve) => {
      this.gone.push(() => resolve(null));
      const rawHeaders = Object.entries(headers).flat();
      const socket = { remoteAddress: '192.0.2.1' };
      const about = { method: 'POST', url: path, headers, rawHeaders, complete: true, socket };
      const req = Object.assign(Readable.from([body]), about) as unknown as IncomingMessage;
      let status = 0;
      const res = {
        req,
        destroyed: false,
        headersSent: false,
        writeHead: (s: number) => void (status = s),
        end: () => resolve(status),
      } as unknown as ServerResponse;
      if (!this.endpoints.handle(req, res)) resolve(404);
    });
  }

  /** Ends this replica like a crash: no pending request gets an answer. */
  bury(): void {
    for (const tell of this.gone) tell();
  }

  onGone(tell: () => void): void {
    this.gone.push(tell);
  }
}

/** Wraps a port: each of its calls to the database becomes one step of the scheduler. */
function guarded<T extends object>(
  scheduler: Scheduler,
  {
    owner,
    trouble,
    legal,
    name,
    port,
  }: {
    readonly owner: Owner;
    readonly trouble: Trouble;
    readonly legal: readonly FaultKind[];
    readonly name: string;
    readonly port: T;
  },
): T {
  return new Proxy(port, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): Promise<unknown> =>
        scheduler
          .step(owner, `${name}.${String(key)}`, legal, async (fault) => {
            if (lacking(fault) === null) trouble.next = fault;
            scheduler.inDatabase = true;
            try {
              return quietValue(await (member.apply(target, args) as Promise<unknown>));
            } finally {
              trouble.next = null;
              scheduler.inDatabase = false;
            }
          })
          .then(unwrap);
    },
  });
}

// Wraps a result of the database in an object: the trace prints only strings and numbers, so it skips the result.
type Kept = { readonly kept: unknown };
function quietValue(value: unknown): Kept {
  return { kept: value };
}
function unwrap(kept: Kept): unknown {
  return kept.kept;
}
