// The MoR's portal on payments without a name in any event.
import { transferInPortal } from '@crossbill/sandbox/mor/portal.js';
import { type Json, type World } from '../../support/world.js';

/** The MoR's id of a bank transfer's payment, as in the portal; it is refundable there under this id from now on. */
export function atPortal(world: World, invoiceId: string, customerId: string, amount: number): string {
  return transferInPortal(world.sandbox, { invoiceId, customerId, amount, currency: 'eur' });
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
