// What the MoR's portal shows of payments that no event has named.
import { type Json, type World } from '../../support/world.js';

/** The MoR's id of a bank transfer's payment, as the portal shows it; it can be refunded there under it from now on. */
export function atPortal(world: World, invoiceId: string, customerId: string, amount: number): string {
  const { kernel, mor } = world.sandbox;
  const id = kernel.random.id('pay');
  mor.payments.set(id, {
    id,
    uuid: kernel.random.uuid(),
    kind: 'transfer',
    merchantInvoiceId: invoiceId,
    merchantCustomerId: customerId,
    morCustomerId: '',
    amount,
    currency: 'eur',
    status: 'succeeded',
    processorChargeId: kernel.random.id('ch'),
    processorPaymentIntentId: kernel.random.id('pi'),
    method: 'card',
    failureMessage: null,
    declineCode: null,
    amountRefunded: 0,
    amountReserved: 0,
    taxCalculationId: null,
    createdAtMs: kernel.clock.nowMs(),
  });
  return id;
}

/** A proforma invoice for a customer in Britain. */
export const PROFORMA: Json = {
  jurisdiction: 'GB',
  due_date: '2099-12-31',
  recipient: {
    legalName: 'Ada Example Ltd',
    address: { line1: '1 High Street', locality: 'London', postalCode: 'N1 1AA', country: 'GB' },
    taxIdentifiers: [{ type: 'GB_VAT', code: 'GB123456789', country: 'GB' }],
    contact: { email: 'ada@example.com' },
  },
};
