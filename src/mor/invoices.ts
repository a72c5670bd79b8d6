// Document 2: the customer's invoice file of a payment or a refund, by the MoR's id or by the processor's.
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/ports/clock.js';
import { type CallOutcome } from '../domain/ports/call.js';
import { type ChargeState } from '../domain/ports/payment-gateway.js';
import { type FileLink, parseFileLink, parseWhenReady, type WhenReady } from './file-link.js';
import { Fields } from './read.js';
import { MorTransport } from './transport.js';
import { query, segment, wireGet } from './wire.js';

export function parseInvoiceFile(value: unknown, path = ''): FileLink {
  return new Fields(value, path).must('invoice', parseFileLink);
}

@Injectable()
export class Invoices {
  constructor(
    private readonly transport: MorTransport,
    private readonly clock: Clock,
  ) {}

  ofPayment(paymentId: string): Promise<CallOutcome<WhenReady<FileLink>>> {
    return this.#read(`/api/payments/${segment(paymentId)}/invoice`);
  }

  ofPaymentByReference(pspReference: string): Promise<CallOutcome<WhenReady<FileLink>>> {
    return this.#read(`/api/payments/invoice${query({ psp_reference: pspReference })}`);
  }

  ofRefund(refundId: string): Promise<CallOutcome<WhenReady<FileLink>>> {
    return this.#read(`/api/refunds/${segment(refundId)}/invoice`);
  }

  ofRefundByReference(pspReference: string): Promise<CallOutcome<WhenReady<FileLink>>> {
    return this.#read(`/api/refunds/invoice${query({ psp_reference: pspReference })}`);
  }

  /** What the MoR knows of the payment with this charge id at this moment: 200 with its invoice, 202 or 404. */
  lookUpCharge(pspReference: string): Promise<CallOutcome<ChargeState>> {
    return this.transport.call<ChargeState>(wireGet(`/api/payments/invoice${query({ psp_reference: pspReference })}`), {
      name: 'invoice.read',
      accept: ({ status, body }) => {
        if (status === 202) return 'pending';
        // Which file it is does not matter here; a success without one, as of a proxy, proves no charge.
        new Fields(body).must('invoice', (file, at) => new Fields(file, at));
        return 'charged';
      },
      acceptError: ({ status }) => (status === 404 ? 'unknown' : null), // Document 2 names no code for this 404
    });
  }

  #read(path: string): Promise<CallOutcome<WhenReady<FileLink>>> {
    return this.transport.call(wireGet(path), {
      name: 'invoice.read',
      accept: (answer) => parseWhenReady(answer, this.clock, parseInvoiceFile),
    });
  }
}
