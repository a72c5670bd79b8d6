// The one decision that moves money on the books: what to do about a payment, given its invoice as it is now.
import { areTwo } from '../../domain/lane/link-charges.js';
import { isNamelessLink } from '../../domain/lane/payment.js';
import { showMoney } from '../../domain/money.js';
import { type InvoiceRow, type MarkMode, type PaymentRow, type ReviewKind } from '../../domain/model.js';
import { type MorObjectRow } from '../../domain/mor-object.js';
import { type FlowSettings } from '../../domain/settings.js';
import { nameOf } from '../../channels/rules/mor-object.js';

export type MarkDecision =
  | { readonly do: 'read' } // look at the invoice first
  | { readonly do: 'hold'; readonly why: string } // a draft cannot be paid: wait for it to be finalized
  | { readonly do: 'finalize' }
  | { readonly do: 'mark'; readonly mode: MarkMode }
  | { readonly do: 'attach' } // reported before, not attached
  | { readonly do: 'identify' } // paid, and nobody here knows by what: it may have been us
  | { readonly do: 'park'; readonly kind: ReviewKind; readonly summary: string; readonly proposal: string };

/** Only what bears the MoR's id can be refunded from here. */
export function nameFirst({ paymentId }: PaymentRow, proposal: string): string {
  return paymentId === null && /refund/i.test(proposal) ? `${proposal} ${NAME_FIRST}` : proposal;
}

const NAME_FIRST =
  "To refund it from here, name it first: its pay_... id at the MoR, by crossbill refund --payment-id or on the payment's page.";

/**
 * Decides on one payment that the MoR took. Pure. `holder` is another payment that is being marked or was; `finalizationFailed`
 * means that Stripe refused to finalize this draft and a person knows; `shared`: the link on which its charge was announced beside the
 * holder's; without a holder beside another one, and maybe not taken. Money with nowhere to go is parked, never guessed at.
 */
export function decideMark(
  p: PaymentRow & { readonly amount: bigint },
  invoice: InvoiceRow,
  holder: PaymentRow | undefined,
  fresh: boolean,
  settings: FlowSettings,
  finalizationFailed: boolean,
  shared: MorObjectRow | undefined,
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
    const summary = `${taken} was taken although payment ${holder.paymentId ?? holder.id}${SETTLES}`;
    const { processorChargeId: charge } = p;
    const linkToo = maybeTheLinks(p, holder) ?? maybeTheLinks(holder, p);
    if (linkToo !== null) return park('double_payment', `${summary}; one of the two names no charge`, linkToo);
    if (charge === null || charge !== holder.processorChargeId) {
      const isAlone = charge === null || shared === undefined;
      return park('double_payment', summary, isAlone ? `Refund ${taken}.` : ofTwoCharges(charge, taken, shared));
    }
    // One charge is one payment: a refund may give back the only money there is.
    return park('double_payment', `${summary} with the same charge ${charge}`, ASK_IF_TWICE);
  }
  if (status === 'paid') {
    if (p.paymentRecordId !== null || p.markTries === 0) return { do: 'identify' };
    return park(
      'double_payment',
      `${taken} was taken although the invoice was already paid another way`,
      ofPaidOtherwise(taken, p, shared),
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

/** How the words of a second payment end that is told apart from the first one by its charge. */
export const SETTLES = ' already settles this invoice';

/** A read of a link does not say which of its charges brought the money: the one it was booked by, or the one whose event tells of it once more. */
export function ofTwoCharges(charge: string, taken: string, link: MorObjectRow): string {
  return `Ask the MoR which charges it took on ${nameOf(link)} and has not given back. If it is ${charge} and another one, refund ${taken}. If it is one alone, a refund would give the only money back: leave this open while the event of a refund of the other one may still come. If none was made, dismiss it and leave ${taken} out of your accounts: it stays in \`unmarked_payments\`.`;
}

/** Of two payments that name one charge. */
export const ASK_IF_TWICE =
  'Ask the MoR whether the customer was charged twice. Refund it only if so; otherwise dismiss this.';

/** A person may have marked it for this very money: a bank transfer before its event came, or a renewal that was held. */
export function ofPaidOtherwise(
  taken: string,
  { processorChargeId: charge }: PaymentRow,
  shared?: MorObjectRow,
): string {
  const ofOther =
    charge === null || shared === undefined
      ? ''
      : ` If they marked it for another charge on ${nameOf(shared)}, ask the MoR whether it took ${charge} as well, and dismiss this if not.`;
  return `If somebody marked the invoice by hand for this money, dismiss this: a refund would give the only money back.${ofOther} If it was paid twice, refund ${taken}.`;
}

/**
 * A link that a read showed as paid has no charge until its capture names one: the event of a card payment may tell of that same money.
 * What to find out first then; null: they are two.
 */
function maybeTheLinks(card: PaymentRow, link: PaymentRow): string | null {
  const { processorChargeId: charge } = card;
  if (!isNamelessLink(link) || charge === null || areTwo(card, link)) return null;
  if (card.amount !== link.amount || card.currency !== link.currency) return null;
  return `Ask the MoR whether charge ${charge} paid link ${link.reference ?? ''}: then it is one payment, told twice, so dismiss this. Refund it only if the customer was charged twice.`;
}
