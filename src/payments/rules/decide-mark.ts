// The one decision that moves money on the books: what to do about a payment, given its invoice as it is now.
import { maybeOne } from '../../engine/payment.js';
import { effectName } from '../../domain/payment-name.js';
import { type KindAndFact } from '../../domain/fact.js';
import { type Item } from '../../domain/item.js';
import { type Money } from '../../domain/money.js';
import { type InvoiceRow, type MarkMode, type PaymentRow } from '../../domain/model.js';
import { type FlowSettings } from '../../domain/settings.js';

export type MarkDecision =
  | { readonly do: 'read' } // look at the invoice first
  | { readonly do: 'hold'; readonly why: string } // a draft cannot be paid: wait for it to be finalized
  | { readonly do: 'finalize' }
  | { readonly do: 'mark'; readonly mode: MarkMode }
  | { readonly do: 'attach' } // reported before, not attached
  | { readonly do: 'identify' } // paid, and nobody here knows by what: it may have been us
  | { readonly do: 'park'; readonly item: Parking };

/** Why it is parked. The observations of a double payment are the lane's to list. */
export type Parking = KindAndFact & Pick<Item, 'proposed'>;

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
  const taken: Money = { minor: p.amount, currency: p.currency };
  const park = (item: Parking): MarkDecision => ({ do: 'park', item });
  const { platformStatus: status, amountRemaining: due, currency, customerId, invoiceId } = invoice;
  if (status === 'deleted' || status === 'unknown')
    return park({ kind: 'invoice_not_payable', fact: { code: 'no-such-invoice', taken, invoice: invoiceId } });
  if (status === 'void') {
    const fact = { code: 'invoice-void', taken, invoice: invoiceId, replacedBy: invoice.latestRevision } as const;
    return park({ kind: 'invoice_not_payable', fact, proposed: 'refund' });
  }
  if (customerId !== p.customerId && !p.waived.includes('customer_mismatch'))
    return park({
      kind: 'customer_mismatch',
      fact: { code: 'other-customer', named: p.customerId, owner: customerId },
    });
  if (currency !== p.currency)
    return park({ kind: 'currency_mismatch', fact: { code: 'other-currency', taken, currency } });
  if (holder !== undefined) {
    const charge = p.processorChargeId;
    const sameCharge = charge !== null && charge === holder.processorChargeId ? charge : null;
    const isOne = maybeOne(p, holder);
    const fact = { code: 'paid-twice', taken, settledBy: effectName(holder), sameCharge, maybeOne: isOne } as const;
    return park({
      kind: 'double_payment',
      fact: { ...fact, observations: [] },
      proposed: isOne ? null : 'refund', // of two that may be one, a refund may give the only money back
    });
  }
  if (status === 'paid') {
    if (p.paymentRecordId !== null || p.markTries === 0) return { do: 'identify' };
    return park({ kind: 'double_payment', fact: { code: 'paid-otherwise', taken, record: null, observations: [] } });
  }
  // A draft's total may still change, so under `wait` it is compared once it is final.
  if (status === 'draft' && (settings.draftPolicy === 'wait' || finalizationFailed)) {
    return { do: 'hold', why: finalizationFailed ? 'Stripe could not finalize the draft' : 'the invoice is a draft' };
  }
  // Out of band Stripe takes the whole invoice for paid: only the exact amount may do that, whatever a person waived.
  const waived = p.waived.includes('amount_mismatch') && settings.markMode !== 'out_of_band';
  if (due !== p.amount && !waived) {
    const fact = { code: 'amount-differs', taken, due: { minor: due ?? 0n, currency: p.currency } } as const;
    return park({ kind: 'amount_mismatch', fact: { ...fact, marking: settings.markMode } });
  }
  if (status === 'draft') return { do: 'finalize' };
  if (p.paymentRecordId !== null) return { do: 'attach' };
  return { do: 'mark', mode: settings.markMode };
}
