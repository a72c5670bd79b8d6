// Reading: what is kept, for the API, the console and the command line. Nothing here changes anything.
import {
  type AttemptRow,
  type InvoiceRow,
  type JournalLine,
  type OutboxRow,
  type PaymentRow,
  type RefundRow,
  type ReviewRow,
} from '../model.js';
import { type MorObjectRow } from '../mor-object.js';
import { type InboxSource } from './inbox.js';
import { type SignupRow } from '../signup.js';

/** A page of a list, newest first. */
export type PageRequest = { readonly limit: number; readonly cursor: string | null };
export type Page<T> = { readonly data: readonly T[]; readonly nextCursor: string | null };

/** A stretch of time, by the time that the list is ordered by. */
export type Span = {
  /** At this time or later. */
  readonly since?: Date | undefined;
  /** Before this time. */
  readonly until?: Date | undefined;
};

/** What a list of money is filtered by; what is left out or undefined filters nothing. */
export type MoneyFilter = Span & {
  /** ISO 4217, upper case. */
  readonly currency?: string | undefined;
  /** Exactly so many smallest units: what is due of an invoice, the whole of a payment or refund. */
  readonly amount?: bigint | undefined;
  readonly customerId?: string | undefined;
};

export type InvoiceFilter = MoneyFilter & { readonly status?: string | undefined };
export type PaymentFilter = MoneyFilter & {
  readonly status?: string | undefined;
  readonly invoiceId?: string | undefined;
  /** True: only money without the MoR's `pay_…`. */
  readonly unnamed?: boolean | undefined;
};
export type RefundFilter = MoneyFilter & {
  /** Any one of them. */
  readonly statuses?: readonly string[] | undefined;
  readonly invoiceId?: string | undefined;
};
export type EventFilter = Span & {
  readonly source?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
  readonly eventId?: string | undefined;
};
export type ReviewFilter = Span & {
  readonly status?: string | undefined;
  readonly kind?: string | undefined;
  readonly invoiceId?: string | undefined;
  readonly customerId?: string | undefined;
};
export type AuditFilter = Span & { readonly actor?: string | undefined; readonly action?: string | undefined };

/** What the rows of a selection add up to: of the newest few thousand, or of all where sums by the day are kept. */
export type SelectionSums = {
  /** `currency` null: rows whose amount is not known. Smallest units. */
  readonly sums: readonly { readonly currency: string | null; readonly rows: number; readonly minor: bigint }[];
  /** False: older rows were not looked at. */
  readonly all: boolean;
};

/** A customer's money in one currency, over all time, in smallest units. */
export type CustomerSum = {
  readonly currency: string;
  /** That were taken. */
  readonly payments: number;
  readonly taken: bigint;
  readonly refunded: bigint;
};

/** A cursor that no list gave out: it comes from the caller, and the caller is told. */
export class BadCursor extends Error {
  readonly code = 'bad_cursor';
}

export type EventStatus = 'received' | 'done' | 'ignored' | 'parked' | 'quarantined';

export type EventRow = {
  /** `ie_…` in the inbox, `iq_…` in quarantine. */
  readonly id: string;
  readonly source: InboxSource;
  readonly eventId: string;
  readonly type: string;
  readonly lane: string;
  readonly status: EventStatus;
  readonly reason: string | null;
  readonly attempts: number;
  readonly receivedAt: Date;
  readonly decidedAt: Date | null;
};

export type AuditRow = {
  readonly id: string;
  readonly at: Date;
  readonly actor: string;
  readonly role: string | null;
  readonly action: string;
  readonly target: string | null;
  readonly source: string;
  readonly outcome: string;
  readonly status: number;
  readonly detail: Readonly<Record<string, unknown>> | null;
};

/** An invoice in a list: with its money, without its story. */
export type InvoiceListItem = InvoiceRow & {
  readonly morCustomerId: string | null;
  readonly payments: readonly PaymentRow[];
  readonly refunds: readonly RefundRow[];
};

export type InvoiceView = {
  readonly invoice: InvoiceRow;
  readonly morCustomerId: string | null;
  readonly payments: readonly PaymentRow[];
  readonly refunds: readonly RefundRow[];
  /** What the MoR keeps beside it, oldest first. */
  readonly objects: readonly MorObjectRow[];
  readonly attempts: readonly AttemptRow[];
  readonly messages: readonly OutboxRow[];
  readonly reviews: readonly ReviewRow[];
  readonly journal: readonly JournalLine[];
};

export type PaymentView = {
  readonly payment: PaymentRow;
  readonly morCustomerId: string | null;
  readonly refunds: readonly RefundRow[];
  /** What banks took of it by lost disputes, smallest units. */
  readonly lost: bigint;
};

export type CustomerView = {
  readonly customerId: string;
  /** The current one; null: it is linked to none. */
  readonly morCustomerId: string | null;
  readonly morCustomerIds: readonly string[];
  readonly signups: readonly SignupRow[];
  readonly invoiceIds: readonly string[];
};

/** Numbers for the metrics: what waits, and for how long. */
export type Backlog = {
  readonly waitingEvents: number;
  readonly pendingMessages: number;
  readonly oldestSeconds: number;
  readonly openReviews: ReadonlyMap<string, number>;
  readonly parkedEvents: number;
};

/** A call or a read that was tried and is not through, or an event whose decision failed. */
export type Stuck = {
  /** The call by its kind, or the event by its type. */
  readonly what: string;
  readonly lane: string;
  readonly attempts: number;
  /** What was said last; null: nothing was. */
  readonly lastStatus: number | null;
  readonly lastMessage: string | null;
  readonly nextTryAt: Date;
};

/** Lists throw BadCursor for a cursor that is not one of theirs. */
export const REVIEW_ORDERS = ['newest', 'due'] as const;
export type ReviewOrder = (typeof REVIEW_ORDERS)[number];

export abstract class Books {
  /** Each list is ordered by the time that `Span` is of: of an invoice, when Stripe made it. */
  abstract invoices(filter: InvoiceFilter, page: PageRequest): Promise<Page<InvoiceListItem>>;
  abstract invoiceSums(filter: InvoiceFilter): Promise<SelectionSums>;
  abstract paymentSums(filter: PaymentFilter): Promise<SelectionSums>;
  abstract refundSums(filter: RefundFilter): Promise<SelectionSums>;
  abstract invoice(invoiceId: string): Promise<InvoiceView | null>;
  /** What the MoR keeps beside an invoice, oldest first. */
  abstract objects(invoiceId: string): Promise<readonly MorObjectRow[]>;
  /** By when the money was taken; until then by the MoR's last verdict, or when we first learned of it. */
  abstract payments(filter: PaymentFilter, page: PageRequest): Promise<Page<PaymentView>>;
  /** By `pay_…` or by our own id. */
  abstract payment(id: string): Promise<PaymentView | null>;
  /** What payments are called towards the outside: our id → `pay_…`, or our id again until there is one. */
  abstract paymentNames(rowIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** By our id or the MoR's. With its payment. */
  abstract refund(id: string): Promise<{ readonly refund: RefundRow; readonly payment: PaymentRow } | null>;
  /** By when the money was given back; until then by when it was asked for. */
  abstract refunds(
    filter: RefundFilter,
    page: PageRequest,
  ): Promise<Page<{ readonly refund: RefundRow; readonly payment: PaymentRow }>>;
  /** By their arrival. */
  abstract events(filter: EventFilter, page: PageRequest): Promise<Page<EventRow>>;
  abstract event(id: string): Promise<(EventRow & { readonly body: Buffer | null }) | null>;
  /** `due`: the soonest deadline first, then what has none, newest first. A cursor is good for the order it came from. */
  abstract reviews(filter: ReviewFilter, page: PageRequest, order?: ReviewOrder): Promise<Page<ReviewRow>>;
  abstract review(id: string): Promise<ReviewRow | null>;
  abstract audit(filter: AuditFilter, page: PageRequest): Promise<Page<AuditRow>>;
  abstract customerSums(customerId: string): Promise<readonly CustomerSum[]>;
  abstract customer(customerId: string): Promise<CustomerView | null>;
  /** The invoices that have a payment with this charge, or something at the MoR with this id. */
  abstract invoicesOfCharge(id: string): Promise<readonly string[]>;
  abstract backlog(): Promise<Backlog>;
  /** What has been tried most often and still waits. */
  abstract stuck(limit: number): Promise<readonly Stuck[]>;
  /** The newest event of each sender; a sender without any is not in it. */
  abstract newestEvents(): Promise<readonly EventRow[]>;
  /** Resolves when the database answers and can be written; rejects when it does not, or is read-only (a standby). */
  abstract ping(): Promise<void>;
}
