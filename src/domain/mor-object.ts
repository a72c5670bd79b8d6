// An object of the MoR for an invoice: a proforma invoice, a payment link, an e-invoice, a dispute, an alert, a
// returned debit.
import { type OnObject } from './facts/parts.js';
import { bigint, code, ERASED, int, json, key, newRow, rowOf, type RowOf, text, time } from './row.js';
import { PROFORMA_USUAL_TERM_MS } from '../policy.js';

/**
 * `capture`: a captured card payment, kept for the MoR's uuid of it, the name for e-invoices and documents.
 * `debit_return`: a bank took a debit back, without an event (Document 3, "Bank-debit methods"): a person records it,
 * and `number` holds its position.
 */
export type MorObjectKind =
  'proforma' | 'payment_link' | 'e_invoice' | 'dispute' | 'alert' | 'capture' | 'debit_return';

/** Money the MoR announced on a link: by an event, by the answer to its request, or by a read. */
export type Observation = {
  readonly source: 'event' | 'answer' | 'read';
  readonly eventId: string | null;
  readonly charge: string | null;
  /** The MoR's id of the payment. */
  readonly paymentId: string | null;
  /** Smallest units as text; null: not given. */
  readonly amount: string | null;
  readonly currency: string | null;
  /** When the MoR took it, and when Crossbill received this (ISO 8601). */
  readonly at: string;
  readonly heardAt: string;
};

/**
 * A credit note on Stripe for a bank's take, by a person's choice. `stage`: the progress of its calls; `parked`: Stripe
 * refused one of them.
 */
export type LossCredit = {
  /** Stands in the keys of its calls, and at Stripe as the reference of the refund. */
  readonly name: string;
  /** Our id of the payment. */
  readonly of: string;
  /** Smallest units as text. */
  readonly minor: string;
  readonly stage: 'reporting' | 'crediting' | 'done' | 'parked';
  /** Null until Stripe has answered. */
  readonly noteId: string | null;
  /** How much of it the ledger has, smallest units as text, and how many entries made it. */
  readonly booked: string;
  readonly entries: number;
};

/** Facts without a column. Absent: unknown. */
export type MorObjectDetail = {
  readonly merchantReference?: string | null;
  /** Document 2, `issuanceFailure`, or why an authority rejected an e-invoice. */
  readonly failure?: {
    readonly code: string | null;
    readonly message: string | null;
    readonly failedAt: string | null;
  };
  /** The MoR's refusal of our request. */
  readonly refusal?: {
    readonly status: number | null;
    readonly code: string | null;
    readonly message: string;
    readonly errors: readonly { readonly field: string; readonly message: string }[];
  };
  /** A link's `pricedAmount` and `amountDue` as decimal strings, as the MoR wrote them last. */
  readonly priced?: string | null;
  readonly due?: string | null;
  /**
   * All announced money on a link, in the order of arrival. The first event counts once a read of the link confirms it.
   */
  readonly observed?: readonly Observation[];
  /**
   * Each read of it has failed since then (ISO 8601), the last one with this status and code. `passes`: the MoR may
   * answer soon. Absent: the last read succeeded.
   */
  readonly silent?: { readonly since: string; readonly answer: string; readonly passes: boolean };
  /** The proforma invoice or payment of an e-invoice. */
  readonly madeFor?: string | null;
  /** A dispute's outcome in the MoR's words. */
  readonly outcome?: string | null;
  /** An alert's outcome: whether the payment went back; null: it did not say. */
  readonly refunded?: boolean | null;
  readonly reviewerNote?: string | null;
  /** The last requested evidence: the first, or better one. */
  readonly stage?: 'action_needed' | 'revision_requested';
  /** Time of the event requesting it (ISO 8601). */
  readonly saidAt?: string;
  /** When this event arrived, by our clock (ISO 8601): a person who dismissed an item before did not know of it. */
  readonly saidHeardAt?: string;
  /** Time of the event with a dispute's outcome (ISO 8601): a later one overrules it. */
  readonly outcomeAt?: string;
  /** When this event arrived, by our clock (ISO 8601). */
  readonly outcomeHeardAt?: string;
  /** When a bank took a debit back, as a person has it from the MoR (ISO 8601). Absent: when they recorded it. */
  readonly returnedAt?: string;
  /** Time of the event with a dispute's amount (ISO 8601). */
  readonly amountAt?: string;
  /** A sum in the MoR's event with several readings, and the event's time (ISO 8601). */
  readonly unread?: { readonly said: string; readonly at: string };
  /** Ids of a payment, charge or payment intent in a dispute or an alert. */
  readonly names?: readonly string[];
  /**
   * The loss in the ledger: our id of its payment, smallest units as text, its number of entries, and the time of the last
   * one (ISO 8601). Absent: none was booked.
   */
  readonly loss?: {
    readonly of: string;
    readonly minor: string;
    readonly entries: number;
    readonly movedAt: string;
  };
  /** The credit note for the loss. Absent: nobody chose one. */
  readonly credit?: LossCredit;
  /** Our request went out and nobody answered; it goes out again, the same bytes. */
  readonly unanswered?: boolean;
  /** Our request went out, nobody answered, and we took it back: the MoR may have made it, and nobody got its page. */
  readonly mayStand?: boolean;
  /** An automatic link after a failed renewal. */
  readonly automatic?: boolean;
  /** Of such a link: its requested country. */
  readonly jurisdiction?: string;
  /** Another row of ours has the same object of the MoR. */
  readonly replacedBy?: string;
};

/** Without the MoR's own words: they may name the recipient of a refused proforma invoice. */
function withoutWords(detail: MorObjectDetail): MorObjectDetail {
  const { refusal, failure } = detail;
  return {
    ...detail,
    ...(refusal && { refusal: { ...refusal, message: ERASED, errors: [] } }),
    ...(failure && { failure: { ...failure, message: ERASED } }),
  };
}

export const MOR_OBJECT = rowOf('mor_object', {
  /** Ours, permanent. */
  id: key(),
  kind: text<MorObjectKind>(),
  /** The MoR's id; null until its answer or an event named it. */
  morId: text().orNull,
  invoiceId: text(),
  /** Our id of the payment it belongs to or brought; null: none known. */
  paymentRowId: text().orNull,
  /**
   * In the MoR's words. Ours are `REQUESTED` (not answered yet), `REFUSED`, `REPLACED` and `DELETED`; disputes are `action_needed`,
   * `revision_requested`, `won`, `lost` or `decided`, alerts `received` or `handled`, returned debits `returned` or `undone`.
   */
  status: text(),
  /** Smallest units; null when not known. */
  amount: bigint().orNull,
  currency: code(3).orNull,
  number: text().orNull,
  /** A link's page, or a dispute's dashboard. Text to show, never followed. */
  url: text().orNull,
  /** A person's deadline; for a link, the end of its payable time; for a proforma invoice, the end of its due date. */
  deadline: time().orNull,
  detail: json<MorObjectDetail>().first({}).personal(withoutWords),
  /** Time of its next read at the MoR; null: nothing to find out. */
  readDueAt: time().orNull,
  readAttempts: int().first(0),
  createdAt: time(),
  updatedAt: time(),
});
export type MorObjectRow = RowOf<typeof MOR_OBJECT>;

/** Proforma invoices in these states hold nothing: another one is possible. */
const DEAD = new Set(['ISSUANCE_FAILED', 'CANCELLED', 'DELETED', 'REFUSED', 'REPLACED']);

/** Proforma invoices paid at the MoR; the last two follow the first (Document 2, "States"). */
export const TRANSFERRED: ReadonlySet<string> = new Set(['SETTLED', 'INVOICED', 'BOOKED']);

/** Capture time of a link's payment, announced by the MoR and unconfirmed by any read; null: none, or recorded. */
export function announcedAt(o: MorObjectRow): Date | null {
  const [first] = eventsOn(o);
  return first === undefined || o.kind !== 'payment_link' || o.paymentRowId !== null ? null : new Date(first.at);
}

/** When an event announced money on a link last; null: none did. */
export function heardAt(o: MorObjectRow): Date | null {
  const last = eventsOn(o).at(-1);
  return last === undefined ? null : new Date(last.heardAt);
}

function eventsOn({ detail: { observed = [] } }: MorObjectRow): readonly Observation[] {
  return observed.filter((x) => x.source === 'event');
}

/**
 * The announced payments of a link, the first to arrive first. An event with the charge or the payment id of an earlier
 * one repeats it, and may add the other name.
 */
export function announcedOn(o: MorObjectRow): readonly Observation[] {
  return eventsOn(o).reduce<readonly Observation[]>((all, x) => {
    const at = all.findIndex((a) => isSameMoney(a, x));
    const a = all[at];
    if (a === undefined) return [...all, x];
    return all.with(at, { ...a, charge: a.charge ?? x.charge, paymentId: a.paymentId ?? x.paymentId });
  }, []);
}

type Names = { readonly charge: string | null; readonly paymentId: string | null };

/** Both have one charge, or one payment id. */
export function isSameMoney(a: Names, b: Names): boolean {
  return (a.charge !== null && a.charge === b.charge) || (a.paymentId !== null && a.paymentId === b.paymentId);
}

/**
 * A proforma invoice with a recorded transfer: it cannot be paid again, and another one bills the rest after a partial
 * payment.
 */
export function isRecordedProforma(o: MorObjectRow): boolean {
  return o.kind === 'proforma' && TRANSFERRED.has(o.status) && o.paymentRowId !== null;
}

/** A proforma invoice standing, or on its way. */
export function isLiveProforma(o: MorObjectRow): boolean {
  return o.kind === 'proforma' && !DEAD.has(o.status) && !isRecordedProforma(o);
}

/** A link in one of these states is over; the first two are the MoR's words (Document 2). */
const ENDED_LINK = new Set(['PAID', 'EXPIRED', 'DELETED', 'REFUSED', 'REPLACED']);

/** The MoR has given this link, and it has not ended: also one with a status unknown to Document 2. */
export function isStandingLink(o: MorObjectRow): boolean {
  return o.kind === 'payment_link' && o.status !== 'REQUESTED' && o.status !== 'UNKNOWN' && !ENDED_LINK.has(o.status);
}

/** A link open to a customer's payment, as far as we know, or on its way. */
export function isPayableLink(o: MorObjectRow, now: Date): boolean {
  if (o.kind !== 'payment_link') return false;
  if (o.status === 'REQUESTED') return true;
  return isStandingLink(o) && (o.deadline === null || o.deadline.getTime() > now.getTime());
}

/** When a link stops taking money. */
export function endOfLink(o: MorObjectRow): Date {
  return o.status === 'PAID' ? o.updatedAt : (o.deadline ?? o.updatedAt);
}

/** The end of a proforma invoice's due date. */
export function dueDate(o: MorObjectRow): Date {
  return o.deadline ?? new Date(o.createdAt.getTime() + PROFORMA_USUAL_TERM_MS);
}

/**
 * The invoice's time limit without a word of the MoR; null: no word is expected. A standing proforma invoice or link
 * gives the customer its own time.
 */
export function verdictBy(
  { expectedBy }: { readonly expectedBy: Date | null },
  objects: readonly MorObjectRow[],
): Date | null {
  if (expectedBy === null) return null;
  const until = objects.flatMap((o) => {
    if (isLiveProforma(o)) return dueDate(o).getTime();
    return isStandingLink(o) ? (o.deadline?.getTime() ?? []) : [];
  });
  return new Date(Math.max(expectedBy.getTime(), ...until));
}

export function has(ids: ReadonlySet<string>, id: string | null): boolean {
  return id !== null && ids.has(id);
}

/** A person's facts to mark the invoice by hand. */
export function onObject(o: MorObjectRow): OnObject {
  return { object: objectName(o), reference: o.morId, charge: announcedOn(o)[0]?.charge ?? null };
}

export function objectName(o: MorObjectRow): string {
  return `${o.kind === 'proforma' ? 'proforma invoice' : 'payment link'} ${o.number ?? o.morId ?? o.id}`;
}

/** The banks' booked take of a payment by lost disputes: our id of the payment, smallest units. */
export function lostOf(paymentRowId: string, objects: readonly MorObjectRow[]): bigint {
  return objects
    .filter((o) => o.kind === 'dispute' && o.detail.loss?.of === paymentRowId)
    .reduce((sum, o) => sum + BigInt(o.detail.loss?.minor ?? 0), 0n);
}

/** The standing return of a payment; undefined: its money is there, as far as anyone said. */
export function returnOf(
  s: { readonly objects: readonly MorObjectRow[] },
  paymentRowId: string | null,
): MorObjectRow | undefined {
  return s.objects.find((o) => o.kind === 'debit_return' && o.paymentRowId === paymentRowId && o.status === 'returned');
}

/** The MoR's id of it, ours until it has one. */
export function objectId(o: Pick<MorObjectRow, 'id' | 'morId'>): string {
  return o.morId ?? o.id;
}

/**
 * A request for evidence came after the outcome of a dispute: it goes on, while a loss stays in the books until a win.
 */
export function asksAfterOutcome({ detail: { saidAt, outcomeAt } }: MorObjectRow): boolean {
  return saidAt !== undefined && outcomeAt !== undefined && saidAt > outcomeAt;
}

export function newMorObject(
  now: Date,
  given: Pick<MorObjectRow, 'id' | 'kind' | 'invoiceId' | 'status'> & Partial<MorObjectRow>,
): MorObjectRow {
  return newRow(MOR_OBJECT, { createdAt: now, updatedAt: now, ...given });
}
