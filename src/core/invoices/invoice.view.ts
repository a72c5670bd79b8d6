// An invoice in the API's form: amounts, payments, refunds and its timeline.
import { type InvoiceRow } from '../../shared/domain/invoice-row.js';
import { type JournalLine } from '../../shared/domain/model.js';
import { type AttemptRow } from '../../shared/domain/payment-row.js';
import { SIGNUP_REASON } from '../../shared/domain/status.js';
import { type InvoiceListItem } from './invoices.repository.js';
import { type InvoiceView as InvoiceFacts } from '../../engine/read-model.js';
import {
  channelViews,
  DisputeView,
  EInvoiceLineView,
  PaymentLinkView,
  ProformaView,
} from '../mor-objects/mor-object.view.js';
import {
  Amount,
  AmountOrNull,
  Currency,
  Example,
  Many,
  OpenIfAny,
  PartOrNull,
  Text,
  TextIfAny,
  TextOrNull,
  Time,
  TimeOrNull,
  Word,
  WordOrNull,
} from '../../frames/api/http/docs.js';
import { amountOf, currencyOf, timeOf } from '../../frames/api/http/values.js';
import { timelineSentence } from './timeline-words.js';
import { RetriesView, retriesView } from './retry.view.js';
import { PaymentView, paymentView } from '../payments/payment.view.js';
import { paymentName } from '../../shared/domain/payment-name.js';
import { RefundView, refundView } from '../refunds/refund.view.js';
import { ReviewView, reviewView } from '../reviews/review.view.js';
import { DifferenceView, differenceView } from './difference.view.js';
import { type OpenDifference } from '../../shared/domain/ports/differences.js';

export const INVOICE_STATUSES = ['expected', 'open', 'held', 'marking', 'paid', 'ignored', 'void', 'review'] as const;

/** The reasons to expect no payment for an invoice. Console and command line show `not_enrolled` as a status. */
const IGNORED_REASONS = ['not_enrolled', 'signup', 'nothing_due', 'only_in_review'] as const;
export type IgnoredReason = (typeof IGNORED_REASONS)[number];

const IgnoredBecause = (): PropertyDecorator =>
  WordOrNull(
    IGNORED_REASONS,
    'Why Crossbill ignores the invoice: its customer is not enrolled (`ENROLMENT`), a signup pays it, nothing is due, or only a review item, now resolved, names it. Null: Crossbill does not ignore it.',
  );

export function ignoredBecause(
  invoice: Pick<InvoiceRow, 'status' | 'enrolled' | 'billingReason' | 'platformStatus'>,
): IgnoredReason | null {
  if (invoice.status !== 'ignored') return null;
  if (invoice.enrolled === false) return 'not_enrolled';
  if (invoice.billingReason === SIGNUP_REASON) return 'signup';
  return invoice.platformStatus === 'unknown' ? 'only_in_review' : 'nothing_due';
}

export class AttemptView {
  @Text() event_id!: string;
  @Text() payment_id!: string;
  @Word(['succeeded', 'failed', 'requires_action']) outcome!: string;
  @Amount() amount!: number;
  @Currency() currency!: string;
  @TextOrNull() failure_message!: string | null;
  @TextOrNull() decline_code!: string | null;
  @TextOrNull() processor_payment_intent_id!: string | null;
  @Time() at!: string;
}

export class TimelineLine {
  @Time() at!: string;
  @Word(['event', 'decision', 'call', 'person']) kind!: string;
  @Text('A sentence for people: it may change. The codes stand in `detail`.') text!: string;
  @TextIfAny('The event, call, review item or refund it is about.') ref?: string | undefined;
  @OpenIfAny('Facts beside the text, such as a request id; left out when there are none.')
  detail?: Readonly<Record<string, unknown>> | undefined;
}

export class InvoiceListView {
  @Example('in_123') @Text("Stripe's `in_…`.") id!: string;
  @Example('A-0001') @TextOrNull('As the customer reads it; null until the invoice is final.') number!: string | null;
  @Example('cus_123') @TextOrNull() customer_id!: string | null;
  @TextIfAny() mor_customer_id?: string | undefined;
  @Example('paid') @Word(INVOICE_STATUSES) status!: (typeof INVOICE_STATUSES)[number];
  @IgnoredBecause() ignored_because!: IgnoredReason | null;
  @Example('paid') @Text("Stripe's last known status; `unknown` until Stripe reports one.") stripe_status!: string;
  @Example(2990) @AmountOrNull() amount_due!: number | null;
  @Example(2990) @AmountOrNull() amount_paid!: number | null;
  @Example(0) @AmountOrNull() amount_remaining!: number | null;
  @Example('eur') @TextOrNull('ISO 4217, lower case.') currency!: string | null;
  @Example('subscription_cycle') @TextOrNull() billing_reason!: string | null;
  @Example('sub_123') @TextOrNull() subscription_id!: string | null;
  @TimeOrNull('When Stripe made it.') created_at!: string | null;
  @TimeOrNull("The MoR's verdict is expected by then.") expected_by!: string | null;
  @TimeOrNull('When Crossbill tries a failed renewal again; null: it does not.') next_try_at!: string | null;
  @Many(PaymentView) payments!: PaymentView[];
  @Many(RefundView) refunds!: RefundView[];
}

export class InvoiceView extends InvoiceListView {
  @Many(DifferenceView, 'What the newest verify run found and nobody has acknowledged.')
  differences!: DifferenceView[];
  @Many(AttemptView, 'Every verdict from the MoR.') attempts!: AttemptView[];
  @PartOrNull(RetriesView, 'The retries after refused charges; null: the MoR refused no charge.')
  retries!: RetriesView | null;
  @Many(ReviewView) reviews!: ReviewView[];
  @Many(ProformaView, 'For bank transfers.') proformas!: ProformaView[];
  @Many(PaymentLinkView) payment_links!: PaymentLinkView[];
  @Many(EInvoiceLineView) e_invoices!: EInvoiceLineView[];
  @Many(DisputeView, 'Disputes and pre-chargeback alerts.') disputes!: DisputeView[];
  @Many(TimelineLine, 'Every event, decision and call, oldest first.') timeline!: TimelineLine[];
}

export function invoiceListView(invoiceListItem: InvoiceListItem): InvoiceListView {
  const names = new Map(invoiceListItem.payments.map((p) => [p.id, paymentName(p)]));
  return {
    id: invoiceListItem.invoiceId,
    number: invoiceListItem.number,
    customer_id: invoiceListItem.customerId,
    mor_customer_id: invoiceListItem.morCustomerId ?? undefined,
    status: invoiceListItem.status,
    ignored_because: ignoredBecause(invoiceListItem),
    stripe_status: invoiceListItem.platformStatus,
    amount_due: amountOf(invoiceListItem.amountDue),
    amount_paid: amountOf(invoiceListItem.amountPaid),
    amount_remaining: amountOf(invoiceListItem.amountRemaining),
    currency: currencyOf(invoiceListItem.currency),
    billing_reason: invoiceListItem.billingReason,
    subscription_id: invoiceListItem.subscriptionId,
    created_at: timeOf(invoiceListItem.platformCreatedAt),
    expected_by: timeOf(invoiceListItem.expectedBy),
    next_try_at: timeOf(invoiceListItem.nextTryAt),
    payments: invoiceListItem.payments.map((payment) =>
      paymentView({
        payment,
        invoiceNumber: invoiceListItem.number,
        morCustomerId: invoiceListItem.morCustomerId,
        refunds: invoiceListItem.refunds.filter((r) => r.paymentRowId === payment.id),
      }),
    ),
    refunds: invoiceListItem.refunds.map((r) =>
      refundView(r, {
        name: names.get(r.paymentRowId) ?? r.paymentRowId,
        customerId: invoiceListItem.customerId,
        invoiceNumber: invoiceListItem.number,
      }),
    ),
  };
}

export function invoiceView(invoiceRow: InvoiceFacts, differences: readonly OpenDifference[]): InvoiceView {
  const { invoice, morCustomerId, payments, refunds } = invoiceRow;
  const names = new Map(payments.map((p) => [p.id, paymentName(p)]));
  return {
    ...invoiceListView({ ...invoice, morCustomerId, payments, refunds }),
    differences: differences.map(differenceView),
    attempts: invoiceRow.attempts.map(attemptView),
    retries: retriesView(invoice),
    reviews: invoiceRow.reviews.map((r) => reviewView(r, names)),
    ...channelViews(invoiceRow.objects, names),
    timeline: invoiceRow.journal.map(timelineLine),
  };
}

function attemptView(attempt: AttemptRow): AttemptView {
  return {
    event_id: attempt.eventId,
    payment_id: attempt.paymentId,
    outcome: attempt.outcome,
    amount: amountOf(attempt.amount),
    currency: currencyOf(attempt.currency),
    failure_message: attempt.failureMessage,
    decline_code: attempt.declineCode,
    processor_payment_intent_id: attempt.processorPaymentIntentId,
    at: timeOf(attempt.at),
  };
}

function timelineLine(line: JournalLine): TimelineLine {
  const { at, kind, ref, detail } = line;
  return { at: timeOf(at), kind, text: timelineSentence(line), ref: ref ?? undefined, detail: detail ?? undefined };
}
