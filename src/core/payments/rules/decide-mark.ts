// Decides the mark of a payment on its invoice, after a fresh read. Pure.
import { type InvoiceRow } from '../../../shared/domain/invoice-row.js';
import { type MarkMode, type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type Money } from '../../../shared/domain/money.js';
import { effectName } from '../../../shared/domain/payment-name.js';
import { type DecisionSettings } from '../../../shared/domain/settings.js';
import { maybeOne } from '../../books/rules/same-payment.js';
import { ofAmount, ofPaid, type Parking } from './amount.js';

export type MarkDecision =
  | { readonly do: 'read' } // read the invoice first
  | { readonly do: 'hold'; readonly why: string } // a draft can't be paid: Crossbill waits until it is final
  | { readonly do: 'finalize' }
  | { readonly do: 'mark'; readonly mode: MarkMode }
  | { readonly do: 'attach' } // the payment record exists and must be attached
  | { readonly do: 'identify' } // the invoice is paid: find out if our own lost mark paid it
  | { readonly do: 'park'; readonly item: Parking };

/**
 * `holder`: another payment of the invoice with a mark, finished or begun. `fresh`: Crossbill has just read the invoice.
 * `finalizationFailed`: Stripe refused to finalize this draft.
 */
type MarkFacts = {
  readonly holder: PaymentRow | undefined;
  readonly fresh: boolean;
  readonly settings: DecisionSettings;
  readonly finalizationFailed: boolean;
};

/**
 * Decides on one payment taken by the MoR. Pure. If the payment does not fit the invoice, the decision is `park`: a
 * person decides.
 */
export function decideMark(
  payment: PaymentRow & { readonly amount: bigint },
  invoice: InvoiceRow,
  { holder, fresh, settings, finalizationFailed }: MarkFacts,
): MarkDecision {
  if (!fresh) return { do: 'read' };
  const taken: Money = { minor: payment.amount, currency: payment.currency };
  const park = (item: Parking): MarkDecision => ({ do: 'park', item });
  const { platformStatus: status, amountRemaining: due, currency, customerId, invoiceId } = invoice;
  if (status === 'deleted' || status === 'unknown')
    return park({ kind: 'invoice_not_payable', fact: { code: 'no-such-invoice', taken, invoice: invoiceId } });
  if (status === 'void') {
    const fact = { code: 'invoice-void', taken, invoice: invoiceId, replacedBy: invoice.latestRevision } as const;
    return park({ kind: 'invoice_not_payable', fact, proposed: 'refund' });
  }
  if (customerId !== payment.customerId && !payment.waived.includes('customer_mismatch'))
    return park({
      kind: 'customer_mismatch',
      fact: { code: 'other-customer', named: payment.customerId, owner: customerId },
    });
  if (currency !== payment.currency)
    return park({ kind: 'currency_mismatch', fact: { code: 'other-currency', taken, currency } });
  if (holder !== undefined) {
    const charge = payment.processorChargeId;
    const sameCharge = charge !== null && charge === holder.processorChargeId ? charge : null;
    const isOne = maybeOne(payment, holder);
    const fact = { code: 'paid-twice', taken, settledBy: effectName(holder), sameCharge, maybeOne: isOne } as const;
    return park({
      kind: 'double_payment',
      fact: { ...fact, observations: [] },
      proposed: isOne ? null : 'refund', // if both may be one payment, a refund could return the only money
    });
  }
  if (status === 'paid') {
    if (payment.paymentRecordId !== null || payment.markTries === 0) return { do: 'identify' };
    return park(ofPaid(invoice, taken, null, []));
  }
  // A draft's total may still change. With the policy `wait` Crossbill compares amounts only on a final invoice.
  if (status === 'draft' && (settings.draftPolicy === 'wait' || finalizationFailed)) {
    return { do: 'hold', why: finalizationFailed ? 'Stripe could not finalize the draft' : 'the invoice is a draft' };
  }
  // "Paid out of band" pays the whole invoice. So only the exact amount may do so, even if a person accepted a
  // difference.
  const waived = payment.waived.includes('amount_mismatch') && settings.markMode !== 'out_of_band';
  if (due !== payment.amount && !waived) return park(ofAmount(payment, invoice, settings));
  if (status === 'draft') return { do: 'finalize' };
  if (payment.paymentRecordId !== null) return { do: 'attach' };
  return { do: 'mark', mode: settings.markMode };
}
