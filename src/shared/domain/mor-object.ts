// An object at the MoR for an invoice: a proforma invoice, a payment link, an e-invoice, a dispute, an alert, or a
// returned debit.
import { type OnObject } from './facts/parts.js';
import { bigint, code, int, json, key, newRow, rowOf, type RowOf, text, time, word } from './row.js';
import { withoutWords } from './foreign-words.js';
import { PROFORMA_USUAL_TERM_MS } from '../policy.js';

/**
 * `capture`: a captured card payment. Crossbill stores its uuid at the MoR, because e-invoices and documents use this
 * uuid. `debit_return`: a bank took a debit back. The MoR sends no event for it (Document 3, "Bank-debit methods"), so
 * a person records it, and `number` counts the returns.
 */
export type MorObjectKind =
  'proforma' | 'payment_link' | 'e_invoice' | 'dispute' | 'alert' | 'capture' | 'debit_return';

/** Money on a payment link, announced by the MoR: in an event, in the reply to our request, or in a read. */
export type Observation = {
  readonly source: 'event' | 'answer' | 'read';
  readonly eventId: string | null;
  readonly charge: string | null;
  /** The MoR's id of the payment. */
  readonly paymentId: string | null;
  /** The amount in smallest units, as text. Null: the MoR gave none. */
  readonly amount: string | null;
  readonly currency: string | null;
  /** `at`: when the MoR took the money. `heardAt`: when Crossbill learned of it (ISO 8601). */
  readonly at: string;
  readonly heardAt: string;
};

/**
 * A credit note on Stripe for money a bank took back. A person chose to make it. `stage`: how far Crossbill's calls for
 * it have come. `parked`: Stripe refused one of these calls.
 */
export type LossCredit = {
  /** The reference of the refund at Stripe. The idempotency keys of the credit note's calls contain it. */
  readonly name: string;
  /** Our id of the payment with the loss. */
  readonly of: string;
  /** The amount in smallest units, as text. */
  readonly minor: string;
  /** The amount reported on the payment record, if Stripe then took a smaller credit note. Absent: `minor`. */
  readonly reported?: string;
  readonly stage: 'reporting' | 'crediting' | 'done' | 'parked';
  /** The id of the credit note. Null until Stripe has replied. */
  readonly noteId: string | null;
  /**
   * `booked`: the part booked in the ledger, in smallest units, as text. `entries`: the number of its ledger entries.
   */
  readonly booked: string;
  readonly entries: number;
};

/** The object's facts beyond its columns, stored as JSON. An absent member is unknown. */
export type MorObjectDetail = {
  readonly merchantReference?: string | null;
  /**
   * Why the MoR could not issue a proforma invoice (Document 2, `issuanceFailure`), or why an authority rejected an
   * e-invoice.
   */
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
  /** A link's `pricedAmount` and `amountDue`, as the MoR last wrote them: decimal strings. */
  readonly priced?: string | null;
  readonly due?: string | null;
  /**
   * All money the MoR announced on a link, in the order of arrival. Crossbill books the first announced payment as soon
   * as a read of the link confirms it.
   */
  readonly observed?: readonly Observation[];
  /**
   * Present while reads of the object fail. `since`: the time of the first failed read (ISO 8601). `answer`: the HTTP
   * status and code of the last read. `passes`: true if the next read may succeed.
   */
  readonly silent?: { readonly since: string; readonly answer: string; readonly passes: boolean };
  /** The id of the proforma invoice or payment behind the e-invoice. */
  readonly madeFor?: string | null;
  /** The outcome of a dispute, in the MoR's words. */
  readonly outcome?: string | null;
  /** True: the MoR refunded the payment after the alert. Null: the MoR did not say. */
  readonly refunded?: boolean | null;
  readonly reviewerNote?: string | null;
  /** The MoR's newest request for evidence: the first request, or a revision. */
  readonly stage?: 'action_needed' | 'revision_requested';
  /** The time of the event with the request for evidence (ISO 8601). */
  readonly saidAt?: string;
  /**
   * When Crossbill received the request for evidence (ISO 8601). A person's dismissal before this time does not cover
   * the request.
   */
  readonly saidHeardAt?: string;
  /** The time of the event with the dispute's outcome (ISO 8601). A later event overrules an earlier one. */
  readonly outcomeAt?: string;
  /** When Crossbill received the event with the dispute's outcome, by our clock (ISO 8601). */
  readonly outcomeHeardAt?: string;
  /**
   * When a bank took a debit back, as reported to a person by the MoR (ISO 8601). Absent: the time of the person's
   * record.
   */
  readonly returnedAt?: string;
  /** The time of the event with the dispute's amount (ISO 8601). */
  readonly amountAt?: string;
  /** The MoR's text of a sum with two readings (dispute-sum.ts), and the time of its event (ISO 8601). */
  readonly unread?: { readonly said: string; readonly at: string };
  /** Ids of a payment, charge or payment intent in a dispute or an alert. */
  readonly names?: readonly string[];
  /**
   * The loss in the ledger: our id of its payment, the amount in smallest units as text, the number of its entries, and
   * the time of the last entry (ISO 8601). Absent: the ledger has no loss.
   */
  readonly loss?: {
    readonly of: string;
    readonly minor: string;
    readonly entries: number;
    readonly movedAt: string;
  };
  /** The credit note for the loss. Absent: nobody chose to make one. */
  readonly credit?: LossCredit;
  /** True: the MoR has not replied to our request. Crossbill sends the same bytes again. */
  readonly unanswered?: boolean;
  /**
   * True: the MoR never replied to our request, and Crossbill withdrew it. The MoR may have made the object, but nobody
   * knows the address of its page.
   */
  readonly mayStand?: boolean;
  /** True: Crossbill made this payment link automatically after a failed renewal. */
  readonly automatic?: boolean;
  /** The country Crossbill requested for an automatic link. */
  readonly jurisdiction?: string;
  /** Our id of the row in place of this row: both are about the same object of the MoR. */
  readonly replacedBy?: string;
};

/** What an erasure leaves of the details. The fields of a refused proforma invoice name the recipient. */
function withoutNames(detail: MorObjectDetail): unknown {
  const { refusal } = detail;
  return withoutWords({ ...detail, ...(refusal && { refusal: { ...refusal, errors: [] } }) });
}

export const MOR_OBJECT = rowOf('mor_object', {
  /** Our own id. It never changes. */
  id: key(),
  kind: word<MorObjectKind>(),
  /** The MoR's id. Null until a reply or an event brings it. */
  morId: text().orNull,
  invoiceId: text(),
  /** Our id of the object's payment. Null: unknown. */
  paymentRowId: text().orNull,
  /**
   * The MoR's word, or ours: `REQUESTED` (the MoR has not replied), `REFUSED`, `REPLACED` and `DELETED`. A dispute is
   * `action_needed`, `revision_requested`, `won`, `lost` or `decided`. An alert is `received` or `handled`. A returned
   * debit is `returned` or `undone`.
   */
  status: word(),
  /** The amount in smallest units. Null: unknown. */
  amount: bigint().orNull,
  currency: code(3).orNull,
  /** For a returned debit: the person's own reference. */
  number: text().orNull.personal((number, { kind }) => (kind === 'debit_return' ? null : number)),
  /** The page of a link, or the dashboard of a dispute. Crossbill shows it as text and never follows it. */
  url: text().orNull.personal(),
  /**
   * For a person: the deadline. For a link: when it stops taking money. For a proforma invoice: the end of its due
   * date.
   */
  deadline: time().orNull,
  detail: json<MorObjectDetail>().first({}).said(withoutNames),
  /** When Crossbill reads the object at the MoR again. Null: no read is planned. */
  readDueAt: time().orNull,
  readAttempts: int().first(0),
  createdAt: time(),
  updatedAt: time(),
});
export type MorObjectRow = RowOf<typeof MOR_OBJECT>;

/** In these states nobody can pay a proforma invoice any more, so Crossbill may make another one. */
const DEAD = new Set(['ISSUANCE_FAILED', 'CANCELLED', 'DELETED', 'REFUSED', 'REPLACED']);

/** In these states a proforma invoice is paid at the MoR. `SETTLED` comes first (Document 2, "States"). */
export const TRANSFERRED: ReadonlySet<string> = new Set(['SETTLED', 'INVOICED', 'BOOKED']);

/**
 * When the MoR captured the payment it first announced on a link. Null: no event announced a payment, or the link
 * already has a payment in Crossbill.
 */
export function announcedAt(object: MorObjectRow): Date | null {
  const [first] = eventsOn(object);
  return first === undefined || object.kind !== 'payment_link' || object.paymentRowId !== null
    ? null
    : new Date(first.at);
}

/** When Crossbill last received an event about money on a link. Null: never. */
export function heardAt(object: MorObjectRow): Date | null {
  const last = eventsOn(object).at(-1);
  return last === undefined ? null : new Date(last.heardAt);
}

function eventsOn({ detail: { observed = [] } }: MorObjectRow): readonly Observation[] {
  return observed.filter((x) => x.source === 'event');
}

/**
 * The payments the MoR announced on a link, in the order of arrival. An event with the charge or the payment id of an
 * earlier event counts as a repeat. The repeat may add the missing id.
 */
export function announcedOn(object: MorObjectRow): readonly Observation[] {
  return eventsOn(object).reduce<readonly Observation[]>((all, x) => {
    const at = all.findIndex((a) => isSameMoney(a, x));
    const a = all[at];
    if (a === undefined) return [...all, x];
    return all.with(at, { ...a, charge: a.charge ?? x.charge, paymentId: a.paymentId ?? x.paymentId });
  }, []);
}

type Names = { readonly charge: string | null; readonly paymentId: string | null };

/** True if two reports about money name the same charge or the same payment id. */
export function isSameMoney(one: Names, other: Names): boolean {
  return (
    (one.charge !== null && one.charge === other.charge) ||
    (one.paymentId !== null && one.paymentId === other.paymentId)
  );
}

/**
 * True for a proforma invoice that the customer has paid and whose payment Crossbill has recorded: nobody can pay it
 * again. If the customer paid only a part, a new proforma invoice bills the missing amount.
 */
export function isRecordedProforma(object: MorObjectRow): boolean {
  return object.kind === 'proforma' && TRANSFERRED.has(object.status) && object.paymentRowId !== null;
}

/** True for a proforma invoice that still exists at the MoR, or that Crossbill has requested. */
export function isLiveProforma(object: MorObjectRow): boolean {
  return object.kind === 'proforma' && !DEAD.has(object.status) && !isRecordedProforma(object);
}

/** In these states a link has ended. The first two are the MoR's words (Document 2). */
const ENDED_LINK = new Set(['PAID', 'EXPIRED', 'DELETED', 'REFUSED', 'REPLACED']);

/** In these states a read shows nothing new: the object has no id at the MoR yet, or its state is final. */
export const UNREAD_STATES: readonly string[] = ['REQUESTED', 'UNKNOWN', ...DEAD, ...TRANSFERRED, ...ENDED_LINK];

/**
 * True for a link that exists at the MoR and has not ended. Crossbill counts a status outside Document 2 as not ended.
 */
export function isOpenLink(object: MorObjectRow): boolean {
  return (
    object.kind === 'payment_link' &&
    object.status !== 'REQUESTED' &&
    object.status !== 'UNKNOWN' &&
    !ENDED_LINK.has(object.status)
  );
}

/** True for a link the customer may still be able to pay, and for a requested link. */
export function isPayableLink(object: MorObjectRow, now: Date): boolean {
  if (object.kind !== 'payment_link') return false;
  if (object.status === 'REQUESTED') return true;
  return isOpenLink(object) && (object.deadline === null || object.deadline.getTime() > now.getTime());
}

/** The time from which a link takes no more money. */
export function endOfLink(object: MorObjectRow): Date {
  return object.status === 'PAID' ? object.updatedAt : (object.deadline ?? object.updatedAt);
}

/** The end of a proforma invoice's due date. */
export function dueDate(object: MorObjectRow): Date {
  return object.deadline ?? new Date(object.createdAt.getTime() + PROFORMA_USUAL_TERM_MS);
}

/**
 * The time until which Crossbill waits for the MoR's report on an invoice. Null: Crossbill expects none. If the
 * customer has a proforma invoice or a payment link, Crossbill waits at least until its deadline.
 */
export function verdictBy(
  { expectedBy }: { readonly expectedBy: Date | null },
  objects: readonly MorObjectRow[],
): Date | null {
  if (expectedBy === null) return null;
  const until = objects.flatMap((o) => {
    if (isLiveProforma(o)) return dueDate(o).getTime();
    return isOpenLink(o) ? (o.deadline?.getTime() ?? []) : [];
  });
  return new Date(Math.max(expectedBy.getTime(), ...until));
}

export function has(ids: ReadonlySet<string>, id: string | null): boolean {
  return id !== null && ids.has(id);
}

/** The facts a person needs to mark the invoice by hand. */
export function onObject(object: MorObjectRow): OnObject {
  return { object: objectName(object), reference: object.morId, charge: announcedOn(object)[0]?.charge ?? null };
}

export function objectName(object: MorObjectRow): string {
  return `${object.kind === 'proforma' ? 'proforma invoice' : 'payment link'} ${object.number ?? object.morId ?? object.id}`;
}

/** The lost part of a payment after disputes, as booked in the ledger, in smallest units. `paymentRowId` is our id. */
export function lostOf(paymentRowId: string, objects: readonly MorObjectRow[]): bigint {
  return objects
    .filter((o) => o.kind === 'dispute' && o.detail.loss?.of === paymentRowId)
    .reduce((sum, o) => sum + BigInt(o.detail.loss?.minor ?? 0), 0n);
}

/** The recorded return of a payment's debit, unless a person undid it. Undefined: there is none. */
export function returnOf(
  lane: { readonly objects: readonly MorObjectRow[] },
  paymentRowId: string | null,
): MorObjectRow | undefined {
  return lane.objects.find(
    (o) => o.kind === 'debit_return' && o.paymentRowId === paymentRowId && o.status === 'returned',
  );
}

/** The MoR's id of the object, or our id until the MoR gives one. */
export function objectId(object: Pick<MorObjectRow, 'id' | 'morId'>): string {
  return object.morId ?? object.id;
}

/**
 * True if the MoR asked for evidence after the outcome of a dispute: the dispute continues. A loss in the ledger stays
 * there until the merchant wins.
 */
export function asksAfterOutcome({ detail: { saidAt, outcomeAt } }: Pick<MorObjectRow, 'detail'>): boolean {
  return saidAt !== undefined && outcomeAt !== undefined && saidAt > outcomeAt;
}

/** True if the MoR waits for evidence in a dispute. */
export const wantsEvidence = (object: Pick<MorObjectRow, 'kind' | 'status' | 'detail'>): boolean =>
  object.kind === 'dispute' &&
  (object.status === 'action_needed' || object.status === 'revision_requested' || asksAfterOutcome(object));

export function newMorObject(
  now: Date,
  given: Pick<MorObjectRow, 'id' | 'kind' | 'invoiceId' | 'status'> & Partial<MorObjectRow>,
): MorObjectRow {
  return newRow(MOR_OBJECT, { createdAt: now, updatedAt: now, ...given });
}
