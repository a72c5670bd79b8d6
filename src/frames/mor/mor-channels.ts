// Connects the port of proforma invoices and payment links to the MoR's client.
import { type PaymentLink, PaymentLinks, type ProformaInvoice, ProformaInvoices } from '@crossbill/mor';
import { Injectable } from '@nestjs/common';
import { freeText } from '../../shared/masks/card-numbers.js';
import { type CallFailure, type CallOutcome, type WireRequest } from '../../shared/domain/ports/call.js';
import {
  type LinkFacts,
  MorChannels,
  type ObjectFacts,
  type ProformaMade,
} from '../../shared/domain/ports/mor-channels.js';

@Injectable()
export class HttpMorChannels extends MorChannels {
  constructor(
    private readonly proformas: ProformaInvoices,
    private readonly links: PaymentLinks,
  ) {
    super();
  }

  async createProforma(wire: WireRequest, key: string): Promise<CallOutcome<ProformaMade>> {
    const made = await this.proformas.sendCreate(wire, key);
    if (!made.ok) return made;
    const { value } = made;
    return value.kind === 'accepted'
      ? { ...made, value: { kind: 'made', proforma: proformaFacts(value.invoice), retryAfterMs: value.retryAfterMs } }
      : { ...made, value: { kind: 'reference_taken', morId: value.existingProformaInvoiceId } };
  }

  async createLink(wire: WireRequest): Promise<CallOutcome<LinkFacts>> {
    const made = await this.links.sendCreate(wire);
    return made.ok ? { ...made, value: linkFacts(made.value) } : made;
  }

  async read(kind: 'proforma' | 'payment_link', morId: string): Promise<CallOutcome<ObjectFacts | null>> {
    if (kind === 'proforma') {
      const read = await this.proformas.read(morId);
      if (read.ok) return { ...read, value: { kind, proforma: proformaFacts(read.value) } };
      return isUnknown(read) ? { ...read, ok: true, value: null, status: 404 } : read;
    }
    const read = await this.links.read(morId);
    if (read.ok) return { ...read, value: { kind, link: linkFacts(read.value) } };
    return isUnknown(read) ? { ...read, ok: true, value: null, status: 404 } : read;
  }
}

/**
 * True if the MoR does not know the object: a 404 with the code of Document 2. A 404 without this code may come from a
 * proxy, so it does not prove that the object is gone.
 */
function isUnknown(failure: CallFailure): boolean {
  return failure.status === 404 && failure.code === 'not_found';
}

function proformaFacts(proformaInvoice: ProformaInvoice): Extract<ProformaMade, { kind: 'made' }>['proforma'] {
  const { id, number, status, merchantReference, issuanceFailure } = proformaInvoice;
  const failure = issuanceFailure && { ...issuanceFailure, message: freeText(issuanceFailure.message) };
  return { morId: id, number, status, merchantReference, failure };
}

function linkFacts({ paymentLinkId: morId, url, status, pricedAmount, amountDue, expiresAt }: PaymentLink): LinkFacts {
  return { morId, url, status, priced: pricedAmount, due: amountDue, expiresAt };
}
