// E-invoices (Document 2): a Brazilian or Italian proforma invoice or payment gets one, and a tax authority answers.
import { Refusal, morError } from '../kernel/http.js';
import { Fields as ControlFields } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { eventIdFor } from './event-types.js';
import { DOCUMENT_LINK_MS, type InvoiceFiles } from './invoice-files.js';
import { type Issuance } from './issuance.js';
import { merchantRoutes, uuidParam } from './merchant-routes.js';
import { notFound } from './refusal.js';
import { type Account, type MorState } from './state.js';
import { type WebhookEndpoints } from './webhook-endpoints.js';

const AUTHORITY_MS = 3000; // how long the authority takes
const COUNTRIES = new Set(['BR', 'IT']);
const REJECTED = 'The tax authority rejected the document.';

type Status = 'PENDING' | 'ISSUED' | 'FAILED' | 'CANCELLED';

/**
 * The allowed moves. PENDING becomes ISSUED automatically; a control route makes the other moves. ISSUED may become
 * FAILED, because a test learns the id only after the issue.
 */
const MOVES: Readonly<Record<Status, readonly Status[]>> = {
  PENDING: ['ISSUED', 'FAILED'],
  ISSUED: ['CANCELLED', 'FAILED'],
  FAILED: [],
  CANCELLED: [],
};

const EVENT_OF = {
  ISSUED: 'e_invoice.issued',
  FAILED: 'e_invoice.issuance_failed',
  CANCELLED: 'e_invoice.cancelled',
} as const;

export type Source = { readonly type: 'proforma_invoice' | 'payment'; readonly id: string };

type EInvoice = {
  readonly id: string;
  readonly account: Account;
  readonly source: Source;
  status: Status;
  message: string | null;
};

export class EInvoices {
  private readonly all: EInvoice[] = [];

  constructor(
    private readonly kernel: Kernel,
    private readonly issuance: Issuance,
    private readonly files: InvoiceFiles,
    private readonly endpoints: WebhookEndpoints,
  ) {}

  /** Files an e-invoice if the country has e-invoicing. The authority answers a few seconds later. */
  file(account: Account, country: string, source: Source): void {
    if (!COUNTRIES.has(country)) return;
    const eInvoice: EInvoice = { id: this.kernel.random.uuid(), account, source, status: 'PENDING', message: null };
    this.all.push(eInvoice);
    this.issuance.after(AUTHORITY_MS, 'tax authority', () => {
      if (eInvoice.status === 'PENDING') this.move(eInvoice, 'ISSUED', null);
    });
  }

  find(account: Account, id: string): EInvoice {
    const found = this.all.find((eInvoice) => eInvoice.id === id && eInvoice.account === account);
    if (found === undefined) throw notFound();
    return found;
  }

  list(): readonly EInvoice[] {
    return this.all;
  }

  /** Plays the tax authority's answer. `id` is the id of the e-invoice or of its source. */
  control(id: string, status: Exclude<Status, 'PENDING'>, message: string | undefined): EInvoice {
    const found = this.all.find((eInvoice) => eInvoice.id === id || eInvoice.source.id === id);
    if (found === undefined) throw notFound();
    if (!MOVES[found.status].includes(status)) {
      throw new Refusal(morError(409, 'invalid_status', [{ field: 'status', message: `is ${found.status}` }]));
    }
    this.move(found, status, message ?? null);
    return found;
  }

  private move(eInvoice: EInvoice, status: Exclude<Status, 'PENDING'>, message: string | null): void {
    eInvoice.status = status;
    eInvoice.message = status === 'FAILED' ? (message ?? REJECTED) : null;
    const type = EVENT_OF[status];
    this.endpoints.announce(eInvoice.account, eventIdFor(type, eInvoice.id), type, {
      eInvoiceId: eInvoice.id,
      status,
      source: eInvoice.source,
      ...(eInvoice.message === null ? {} : { reason: eInvoice.message }),
    });
  }

  show(eInvoice: EInvoice): Record<string, unknown> {
    const { id, status, source, message } = eInvoice;
    const accepted = status === 'ISSUED' || status === 'CANCELLED';
    const pdf = this.files.link(`e-invoice-${id}.pdf`, DOCUMENT_LINK_MS);
    const xml = this.files.link(`e-invoice-${id}.xml`, DOCUMENT_LINK_MS);
    return {
      id,
      status,
      source,
      ...(message === null ? {} : { error: { message } }),
      ...(accepted ? { document: { pdfUrl: pdf.url, xmlUrl: xml.url, expiresAt: pdf.expiresAt } } : {}),
    };
  }
}

export function addEInvoices(kernel: Kernel, mor: MorState, eInvoices: EInvoices): void {
  merchantRoutes(kernel, mor)('GET', '/api/e-invoices/:id', ({ account, request }) => ({
    status: 200,
    body: eInvoices.show(eInvoices.find(account, uuidParam(request, 'id'))),
  }));
  kernel.control('GET', '/_sandbox/e-invoices', 'every e-invoice and what it was made for', () => ({
    status: 200,
    body: { data: eInvoices.list().map((eInvoice) => eInvoices.show(eInvoice)) },
  }));
  const about = 'the tax authority answers: {status: ISSUED|FAILED|CANCELLED, message?}';
  kernel.control('POST', '/_sandbox/e-invoices/:id', about, (request) => {
    const fields = new ControlFields(request.body);
    const status = fields.oneOf('status', ['ISSUED', 'FAILED', 'CANCELLED']);
    const moved = eInvoices.control(request.params['id'] ?? '', status, fields.optionalString('message'));
    return { status: 200, body: eInvoices.show(moved) };
  });
}
