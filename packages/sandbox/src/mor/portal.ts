// Plays the MoR's portal for a bank transfer: there the transfer is a refundable payment, with an id no event has
// shown.
import { type Sandbox } from '../sandbox.js';

/** Records the transfer as a payment and returns its `pay_…`. `amount` is in the smallest unit of `currency`. */
export function transferInPortal(
  { kernel, mor }: Pick<Sandbox, 'kernel' | 'mor'>,
  of: {
    readonly invoiceId: string | null;
    readonly customerId: string;
    readonly amount: number;
    readonly currency: string;
  },
): string {
  const id = kernel.random.id('pay');
  mor.payments.set(id, {
    id,
    uuid: kernel.random.uuid(),
    kind: 'transfer',
    merchantInvoiceId: of.invoiceId,
    merchantCustomerId: of.customerId,
    morCustomerId: '',
    amount: of.amount,
    currency: of.currency,
    status: 'succeeded',
    processorChargeId: kernel.random.id('ch'),
    processorPaymentIntentId: kernel.random.id('pi'),
    method: 'card',
    paidWith: null,
    failureMessage: null,
    declineCode: null,
    amountRefunded: 0,
    amountReserved: 0,
    taxCalculationId: null,
    createdAtMs: kernel.clock.nowMs(),
  });
  return id;
}
