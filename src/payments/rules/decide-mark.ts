// The one decision that moves money on the books: what to do about a payment, given its invoice as it is now.
import { maybeOne } from '../../engine/payment.js';
import { effectName } from '../../domain/payment-name.js';
import { showMoney } from '../../domain/money.js';
import { type InvoiceRow, type MarkMode, type PaymentRow, type ReviewKind } from '../../domain/model.js';
import { type FlowSettings } from '../../domain/settings.js';

export type MarkDecision =
  | { readonly do: 'read' } // look at the invoice first
  | { readonly do: 'hold'; readonly why: string } // a draft cannot be paid: wait for it to be finalized
  | { readonly do: 'finalize' }
  | { readonly do: 'mark'; readonly mode: MarkMode }
  | { readonly do: 'attach' } // reported before, not attached
  | { readonly do: 'identify' } // paid, and nobody here knows by what: it may have been us
  | { readonly do: 'park'; readonly kind: ReviewKind; readonly summary: string; readonly proposal: string };

/** Each proposal names a refund, and only what bears the MoR's id can be refunded from here. */
function nameFirst({ paymentId }: PaymentRow, proposal: string): string {
  return paymentId === null ? `${proposal} ${NAME_FIRST}` : proposal;
}

const NAME_FIRST =
  "To refund it from here, name it first: its pay_... id at the MoR, by crossbill refund --payment-id or on the payment's page.";

/**
 * Decides on one payment that the MoR took. Pure. `holder` is another payment that is being marked or was; `finalizationFailed`
 * means that Stripe refused to finalize this draft and a person knows. Money with nowhere to go is parked, never guessed at.
 */
export function decideMark(
  p: PaymentRow & { readonly amount: bigint },
  invoice: InvoiceRow,
  holder: PaymentRow | undefined,
  fresh: boolean,
  settings: FlowSettings,
  finalizationFailed: boolean,
): MarkDecision {
  if (!fresh) return { do: 'read' };
  const taken = showMoney({ minor: p.amount, currency: p.currency });
  const park = (kind: ReviewKind, summary: string, proposal: string): MarkDecision => ({
    do: 'park',
    kind,
    summary,
    proposal: nameFirst(p, proposal),
  });

  const { latestRevision: revision } = invoice;
  const { platformStatus: status, amountRemaining: due, currency, customerId } = invoice;
  if (status === 'deleted' || status === 'unknown') {
    return park(
      'invoice_not_payable',
      `${taken} was taken for invoice ${invoice.invoiceId}, which does not exist on Stripe`,
      `See that STRIPE_API_KEY is of the account that billed it: to any other key the invoice is unknown, and a retry under the right one marks it. If it is, refund ${taken}.`,
    );
  }
  if (status === 'void') {
    return park(
      'invoice_not_payable',
      `${taken} was taken for invoice ${invoice.invoiceId}, which is void${revision === null ? '' : `: invoice ${revision} replaced it`}`,
      revision === null ? `Refund ${taken}, or bill the customer again.` : ofRevision(taken, revision),
    );
  }
  if (customerId !== p.customerId && !p.waived.includes('customer_mismatch')) {
    return park(
      'customer_mismatch',
      `the payment names customer ${p.customerId}; the invoice belongs to ${customerId ?? 'nobody'}`,
      'Find out whose money it is. Apply it if it is meant for this invoice; otherwise refund it.',
    );
  }
  if (currency !== p.currency) {
    return park(
      'currency_mismatch',
      `${taken} was taken; the invoice is in ${currency ?? 'no currency'}`,
      `Refund ${taken}.`,
    );
  }
  if (holder !== undefined) {
    const charge = p.processorChargeId;
    const one = charge !== null && charge === holder.processorChargeId ? ` with the same charge ${charge}` : '';
    const summary = `${taken} was taken although payment ${effectName(holder)} already settles this invoice${one}`;
    return park('double_payment', summary, maybeOne(p, holder) ? ASK_IF_TWICE : refundOfSecond(taken));
  }
  if (status === 'paid') {
    if (p.paymentRecordId !== null || p.markTries === 0) return { do: 'identify' };
    return park(
      'double_payment',
      `${taken} was taken although the invoice was already paid another way`,
      ofPaidOtherwise(taken),
    );
  }
  // A draft's total may still change, so under `wait` it is compared once it is final.
  if (status === 'draft' && (settings.draftPolicy === 'wait' || finalizationFailed)) {
    return { do: 'hold', why: finalizationFailed ? 'Stripe could not finalize the draft' : 'the invoice is a draft' };
  }
  // Out of band Stripe takes the whole invoice for paid: only the exact amount may do that, whatever a person waived.
  const waived = p.waived.includes('amount_mismatch') && settings.markMode !== 'out_of_band';
  if (due !== p.amount && !waived) {
    return park(
      'amount_mismatch',
      `${taken} was taken; ${showMoney({ minor: due ?? 0n, currency: p.currency })} is due`,
      ofOtherAmount(due !== null && p.amount < due, settings),
    );
  }
  if (status === 'draft') return { do: 'finalize' };
  if (p.paymentRecordId !== null) return { do: 'attach' };
  return { do: 'mark', mode: settings.markMode };
}

/** The replacement is expected like any invoice: the MoR charges it too. */
function ofRevision(taken: string, revision: string): string {
  return `Refund ${taken}, and let the MoR charge invoice ${revision}. Or keep the money for ${revision}: have the MoR stop charging ${revision} at once, mark ${revision} paid on Stripe, then dismiss this. Without one of the two the customer pays twice.`;
}

function ofOtherAmount(isPart: boolean, { markMode }: FlowSettings): string {
  if (markMode === 'out_of_band')
    return 'Out of band only the exact amount can be applied: change the invoice on Stripe to it (by a credit note, for example) and retry, or refund it.';
  return isPart
    ? 'Apply it as a part payment and collect the rest, or refund it.'
    : 'Refund it, or apply it: Stripe credits the surplus to the customer.';
}

function refundOfSecond(taken: string): string {
  return `Refund ${taken}, unless the other payment has gone back to the customer or is not marked after all. Then retry this while the invoice can be paid, else bill this money with a new invoice on Stripe and dismiss this.`;
}

/** Of two payments that may be one: a refund may give the only money back. */
export const ASK_IF_TWICE =
  'Ask the MoR whether the customer was charged twice. Refund it only if so, and the other payment has not gone back; otherwise dismiss this.';

/** A person may have marked it for this very money: a bank transfer before its event came, or a renewal that was held. */
export function ofPaidOtherwise(taken: string): string {
  return `If somebody marked the invoice by hand for this money, dismiss this: a refund would give the only money back. If it was paid twice, refund ${taken}.`;
}
