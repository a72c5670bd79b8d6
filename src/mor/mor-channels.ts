// The port of proforma invoices and payment links, joined to the MoR's client.
import { Injectable } from '@nestjs/common';
import { type CallAnswer, type CallFailure, type CallOutcome, type WireRequest } from '../domain/ports/call.js';
import { type LinkFacts, MorChannels, type ObjectFacts, type ProformaMade } from '../domain/ports/mor-channels.js';
import { minorFromDecimal, type Money } from '../domain/money.js';
import { failure } from './failure.js';
import { type PaymentLink, PaymentLinks } from './payment-links.js';
import { type ProformaInvoice, ProformaInvoices } from './proforma-invoices.js';
import { type DecimalMoney } from './read.js';

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
    return made.ok ? linkOutcome(made) : made;
  }

  async read(kind: 'proforma' | 'payment_link', morId: string): Promise<CallOutcome<ObjectFacts | null>> {
    if (kind === 'proforma') {
      const read = await this.proformas.read(morId);
      if (read.ok) return { ...read, value: { kind, proforma: proformaFacts(read.value) } };
      return isUnknown(read) ? { ...read, ok: true, value: null, status: 404 } : read;
    }
    const read = await this.links.read(morId);
    if (!read.ok) return isUnknown(read) ? { ...read, ok: true, value: null, status: 404 } : read;
    const outcome = linkOutcome(read);
    return outcome.ok ? { ...outcome, value: { kind, link: outcome.value } } : outcome;
  }
}

/** Document 2 names the code of these 404s. One without it is not the MoR's word: a proxy may say so of a route it lost. */
function isUnknown(f: CallFailure): boolean {
  return f.status === 404 && f.code === 'not_found';
}

function proformaFacts(p: ProformaInvoice): Extract<ProformaMade, { kind: 'made' }>['proforma'] {
  const { id, number, status, merchantReference, issuanceFailure } = p;
  return { morId: id, number, status, merchantReference, failure: issuanceFailure };
}

/** Amounts that are not exact in their currency cannot be compared with anything: the answer counts as not understood. */
function linkOutcome(answer: CallAnswer<PaymentLink>): CallOutcome<LinkFacts> {
  const { paymentLinkId, url, status, pricedAmount, amountDue, expiresAt } = answer.value;
  const priced = exact(pricedAmount);
  const due = exact(amountDue);
  if (priced === undefined || due === undefined) {
    const { status: http, requestId } = answer;
    return failure('unknown', 'the MoR gave a payment link an amount that its currency does not have', {
      status: http,
      requestId,
    });
  }
  return { ...answer, value: { morId: paymentLinkId, url, status, priced, due, expiresAt } };
}

function exact(m: DecimalMoney | null): Money | null | undefined {
  if (m === null) return null;
  const minor = minorFromDecimal(m.amount, m.currency);
  return minor === null ? undefined : { minor, currency: m.currency };
}
