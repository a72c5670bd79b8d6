// The MoR's objects of an invoice in the API's form, with the MoR's field names.
import { decimalFromMinor } from '../../shared/domain/money.js';
import { type MorObjectRow } from '../../shared/domain/mor-object.js';
import {
  AmountOrNull,
  Example,
  FlagIfAny,
  PartIfAny,
  PartOrNull,
  Text,
  TextIfAny,
  TextOrNull,
  Time,
  TimeIfAny,
  TimeOrNull,
} from '../../frames/api/http/docs.js';
import { amountOf, currencyOf, timeOf } from '../../frames/api/http/values.js';

class IssuanceFailureView {
  @TextOrNull('`proforma_tax_input_invalid`.') code!: string | null;
  @TextOrNull() message!: string | null;
  @TimeOrNull() failedAt!: string | null;
}

export class ProformaView {
  @Example('id_123') @Text("The MoR's uuid of the proforma invoice.") id!: string;
  @Example('ISSUED')
  @Text('`PENDING_TAX_TRANSACTION`, `ISSUED`, `ISSUANCE_FAILED`, `SETTLED` or another word of the MoR.')
  status!: string;
  @Example('A-0001') @TextOrNull() number!: string | null;
  @Example('in_123')
  @TextOrNull("The invoice's id; for the rest after a part transfer with a number, such as `in_123:2`.")
  merchantReference!: string | null;
  @PartIfAny(IssuanceFailureView, 'Only with `ISSUANCE_FAILED`.') issuanceFailure?: IssuanceFailureView | undefined;
  @Time() createdAt!: string;
}

export function proformaView(object: MorObjectRow): ProformaView {
  return {
    id: object.morId ?? object.id,
    status: object.status,
    number: object.number,
    merchantReference: object.detail.merchantReference ?? null,
    issuanceFailure: object.status === 'ISSUANCE_FAILED' ? object.detail.failure : undefined,
    createdAt: timeOf(object.createdAt),
  };
}

class Decimal {
  @Text('A decimal, for example `29.90`.') amount!: string;
  @Text('ISO 4217, upper case.') currency!: string;
}

export class PaymentLinkView {
  @Example('id_123') @Text("The MoR's uuid of the link.") id!: string;
  @Example('pl_123') @Text() paymentLinkId!: string;
  @Example('PAYABLE')
  @Text('`PAYABLE`, `PAID`, `EXPIRED` or another word of the MoR, which is not final.')
  status!: string;
  @Example('https://pay.example/pl_123') @TextOrNull('The hosted page.') url!: string | null;
  @PartOrNull(Decimal, 'The whole amount of the link.') pricedAmount!: Decimal | null;
  @PartOrNull(Decimal, 'The amount still to pay.') amountDue!: Decimal | null;
  @TimeOrNull('The link accepts no payment after this time.') expiresAt!: string | null;
  @Time() createdAt!: string;
}

export function paymentLinkView(object: MorObjectRow): PaymentLinkView {
  const { currency, amount: minor } = object;
  const priced =
    object.detail.priced ?? (minor === null || currency === null ? null : decimalFromMinor(minor, currency));
  const decimal = (amount: string | null | undefined): Decimal | null =>
    amount === null || amount === undefined || currency === null ? null : { amount, currency };
  return {
    id: object.morId ?? object.id,
    paymentLinkId: object.morId ?? object.id,
    status: object.status,
    url: object.url,
    pricedAmount: decimal(priced),
    amountDue: decimal(object.detail.due),
    expiresAt: timeOf(object.deadline),
    createdAt: timeOf(object.createdAt),
  };
}

/** The e-invoice of an invoice. It has no links: the MoR makes links on demand. */
export class EInvoiceLineView {
  @Text("The MoR's uuid; `GET /v1/e-invoices/{id}` gives fresh links.") id!: string;
  @Text('`ISSUED`, `FAILED` or `CANCELLED`.') status!: string;
  @TextIfAny('Why the authority rejected it.') error?: string | undefined;
  @Time() created_at!: string;
  @Time() updated_at!: string;
}

export class DisputeView {
  @Text("The MoR's id. If it gave none: the id of the payment or event.") id!: string;
  @Text('`dispute` or `alert`.') kind!: string;
  @Text('`action_needed`, `revision_requested`, `won`, `lost`, `decided`; for an alert `received` or `handled`.')
  status!: string;
  @TextOrNull() payment_id!: string | null;
  @AmountOrNull() amount!: number | null;
  @TextOrNull('ISO 4217, lower case.') currency!: string | null;
  @TimeOrNull('When the MoR needs the answer.') deadline!: string | null;
  @TextOrNull("The address in the MoR's portal.") dashboard_url!: string | null;
  @TextIfAny("The outcome in the MoR's words.") outcome?: string | undefined;
  @FlagIfAny('For an alert: did the MoR refund? Left out if unknown.') refunded?: boolean | undefined;
  @TextIfAny() reviewer_note?: string | undefined;
  @Time() created_at!: string;
  @TimeIfAny() updated_at?: string | undefined;
}

export type ChannelViews = {
  readonly proformas: ProformaView[];
  readonly payment_links: PaymentLinkView[];
  readonly e_invoices: EInvoiceLineView[];
  readonly disputes: DisputeView[];
};

/** @param names public payment ids, by our row ids */
export function channelViews(objects: readonly MorObjectRow[], names: ReadonlyMap<string, string>): ChannelViews {
  const shown = objects.filter((o) => o.status !== 'REFUSED' && o.status !== 'REPLACED');
  const of = (...kinds: MorObjectRow['kind'][]): MorObjectRow[] => shown.filter((o) => kinds.includes(o.kind));
  return {
    proformas: of('proforma').map(proformaView),
    payment_links: of('payment_link').map(paymentLinkView),
    e_invoices: of('e_invoice').map((o) => ({
      id: o.morId ?? o.id,
      status: o.status,
      error: o.detail.failure?.message ?? undefined,
      created_at: timeOf(o.createdAt),
      updated_at: timeOf(o.updatedAt),
    })),
    disputes: of('dispute', 'alert').map((o) => disputeView(o, names)),
  };
}

export function disputeView(object: MorObjectRow, names: ReadonlyMap<string, string>): DisputeView {
  return {
    id: object.morId ?? object.id,
    kind: object.kind,
    status: object.status,
    payment_id: object.paymentRowId === null ? null : (names.get(object.paymentRowId) ?? object.paymentRowId),
    amount: amountOf(object.amount),
    currency: currencyOf(object.currency),
    deadline: timeOf(object.deadline),
    dashboard_url: object.url,
    outcome: object.detail.outcome ?? undefined,
    refunded: object.detail.refunded ?? undefined,
    reviewer_note: object.detail.reviewerNote ?? undefined,
    created_at: timeOf(object.createdAt),
    updated_at: timeOf(object.updatedAt),
  };
}
