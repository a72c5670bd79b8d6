// The MoR's portal on a bank transfer: a refundable payment with an id in no event so far.
import { type Sandbox } from '../sandbox.js';

/** Its `pay_…`. `amount`: smallest units of `currency`. */
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
