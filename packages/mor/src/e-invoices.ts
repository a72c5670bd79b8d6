// Document 2: invoices filed with a tax authority, and their short-lived links.
import { type Outcome } from './outcome.js';
import { Fields } from './read.js';
import { type MorTransport } from './transport.js';
import { segment, wireGet } from './wire.js';

export type EInvoice = {
  readonly id: string;
  /** `PENDING`, `ISSUED`, `FAILED`, `CANCELLED` (Document 2), or another word of the MoR. */
  readonly status: string;
  /** The object behind the e-invoice. Null: the answer names no such object. */
  readonly madeFor: { readonly type: 'proforma_invoice' | 'payment'; readonly id: string } | null;
  /** Why the tax authority rejected the e-invoice. Null unless `FAILED`. */
  readonly errorMessage: string | null;
  /** The files. Null until the tax authority has accepted the e-invoice. The links live 15 minutes. */
  readonly document: {
    readonly pdfUrl: string | null;
    readonly xmlUrl: string | null;
    readonly expiresAt: Date | null;
  } | null;
};

function parseDocument(value: unknown, path: string): NonNullable<EInvoice['document']> {
  const fields = new Fields(value, path);
  return {
    pdfUrl: fields.textOrNull('pdfUrl'),
    xmlUrl: fields.textOrNull('xmlUrl'),
    expiresAt: fields.timeOrNull('expiresAt'),
  };
}

/**
 * The document shows this object as `{type, id}`, but no clear name for its field. So the parser takes the first field
 * with such an object.
 */
function parseMadeFor(fields: Fields): EInvoice['madeFor'] {
  for (const name of fields.names()) {
    const value = fields.raw(name);
    if (typeof value !== 'object' || value === null || !('type' in value) || !('id' in value)) continue;
    const { type, id } = value;
    if ((type === 'proforma_invoice' || type === 'payment') && typeof id === 'string')
      return { type, id: new Fields(value, name).id('id') };
  }
  return null;
}

export function parseEInvoice(value: unknown): EInvoice {
  const fields = new Fields(value);
  const error = fields.may('error', (inner, at) => new Fields(inner, at));
  return {
    id: fields.id('id'),
    status: fields.id('status'),
    madeFor: parseMadeFor(fields),
    errorMessage: error?.textOrNull('message') ?? null,
    document: fields.may('document', parseDocument),
  };
}

export class EInvoices {
  constructor(private readonly transport: MorTransport) {}

  /** Read an e-invoice on demand only: the MoR asks its callers not to poll. */
  read(id: string): Promise<Outcome<EInvoice>> {
    return this.transport.call(wireGet(`/api/e-invoices/${segment(id)}`), {
      name: 'e_invoice.read',
      accept: ({ body }) => parseEInvoice(body),
    });
  }
}
