// Document 2: the customer's invoice file for a payment or a refund, by the MoR's id or by the processor's id.
import { type Outcome } from './outcome.js';
import { type FileLink, parseFileLink, parseWhenReady, type WhenReady } from './file-link.js';
import { Fields } from './read.js';
import { type MorTransport } from './transport.js';
import { query, segment, wireGet } from './wire.js';

/**
 * `charged`: the MoR has the invoice of the charge (200). Only the invoice proves the money. `pending`: the MoR knows
 * the charge, and its invoice is not ready (202). A card takes moments. A bank debit takes days and may still fail.
 * `unknown`: the MoR does not know the charge, or no longer knows it (404).
 */
export type ChargeState = 'charged' | 'pending' | 'unknown';

export function parseInvoiceFile(value: unknown, path = ''): FileLink {
  return new Fields(value, path).must('invoice', parseFileLink);
}

export class Invoices {
  constructor(private readonly transport: MorTransport) {}

  ofPayment(paymentId: string): Promise<Outcome<WhenReady<FileLink>>> {
    return this.#read(`/api/payments/${segment(paymentId)}/invoice`);
  }

  ofPaymentByReference(pspReference: string): Promise<Outcome<WhenReady<FileLink>>> {
    return this.#read(`/api/payments/invoice${query({ psp_reference: pspReference })}`);
  }

  ofRefund(refundId: string): Promise<Outcome<WhenReady<FileLink>>> {
    return this.#read(`/api/refunds/${segment(refundId)}/invoice`);
  }

  ofRefundByReference(pspReference: string): Promise<Outcome<WhenReady<FileLink>>> {
    return this.#read(`/api/refunds/invoice${query({ psp_reference: pspReference })}`);
  }

  /** Asks the MoR for the invoice of this charge: the answer 200, 202 or 404 gives the charge's state. */
  lookUpCharge(pspReference: string): Promise<Outcome<ChargeState>> {
    return this.transport.call<ChargeState>(wireGet(`/api/payments/invoice${query({ psp_reference: pspReference })}`), {
      name: 'invoice.read',
      accept: ({ status, body }) => {
        if (status === 202) return 'pending';
        // Any file proves the charge. A success without a file, for example from a proxy, proves nothing.
        new Fields(body).must('invoice', (file, at) => new Fields(file, at));
        return 'charged';
      },
      acceptError: ({ status }) => (status === 404 ? 'unknown' : null), // Document 2 names no code for this 404
    });
  }

  #read(path: string): Promise<Outcome<WhenReady<FileLink>>> {
    return this.transport.call(wireGet(path), {
      name: 'invoice.read',
      accept: (reply) => parseWhenReady(reply, parseInvoiceFile),
    });
  }
}
