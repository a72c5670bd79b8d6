// Document 2: proforma invoices, for customers paying by bank transfer. The MoR creates them asynchronously.
import { type Outcome, type WireRequest } from './outcome.js';
import { type FileLink, parseFileLink, parseWhenReady, type WhenReady } from './file-link.js';
import { Fields } from './read.js';
import { type ProformaFromCalculationRequest, type ProformaRequest } from './requests/collecting.js';
import { type MorReply, type MorTransport } from './transport.js';
import { segment, wireDelete, wireGet, wireWith } from './wire.js';

const PATH = '/api/proforma-invoices';
const FROM_CALCULATION = `${PATH}/from-tax-calculation`;

export type ProformaInvoice = {
  readonly id: string;
  readonly number: string | null;
  /**
   * `PENDING_TAX_TRANSACTION`, `ISSUED`, `ISSUANCE_FAILED`, `SETTLED` and others. The document does not show every
   * change of status.
   */
  readonly status: string;
  readonly merchantReference: string | null;
  /** Only with the status `ISSUANCE_FAILED`. */
  readonly issuanceFailure: {
    readonly code: string | null;
    readonly message: string | null;
    readonly failedAt: Date | null;
  } | null;
};

export type ProformaCreated =
  | {
      readonly kind: 'accepted';
      /** The answer to a repeated key always says `PENDING_TAX_TRANSACTION`: only `read` shows the real status. */
      readonly invoice: ProformaInvoice;
      /** The path to poll. Null: the answer had none. */
      readonly location: string | null;
      readonly retryAfterMs: number | null;
    }
  /** 422 `merchant_reference_conflict`: a live proforma invoice has this reference. Continue with that invoice. */
  | { readonly kind: 'reference_taken'; readonly existingProformaInvoiceId: string };

function parseIssuanceFailure(value: unknown, path: string): NonNullable<ProformaInvoice['issuanceFailure']> {
  const fields = new Fields(value, path);
  return {
    code: fields.textOrNull('code'),
    message: fields.textOrNull('message'),
    failedAt: fields.timeOrNull('failedAt'),
  };
}

/**
 * Parses the whole object, or the short answer to a creation. Document 2 also shows an older form of this answer, with
 * the id in `proformaInvoiceId`.
 */
export function parseProformaInvoice(value: unknown): ProformaInvoice {
  const fields = new Fields(value);
  return {
    id: fields.has('id') ? fields.id('id') : fields.id('proformaInvoiceId'),
    number: fields.textOrNull('number'),
    status: fields.id('status'),
    merchantReference: fields.textOrNull('merchantReference'),
    issuanceFailure: fields.may('issuanceFailure', parseIssuanceFailure),
  };
}

export function encodeProforma(request: ProformaRequest): WireRequest {
  return wireWith('POST', PATH, request);
}

export function encodeProformaFromCalculation(request: ProformaFromCalculationRequest): WireRequest {
  return wireWith('POST', FROM_CALCULATION, request);
}

export function encodeDeleteProforma(id: string): WireRequest {
  return wireDelete(`${PATH}/${segment(id)}`);
}

function referenceTaken({ status, body }: MorReply, code: string | null): ProformaCreated | null {
  if (status !== 422 || code !== 'merchant_reference_conflict') return null;
  return { kind: 'reference_taken', existingProformaInvoiceId: new Fields(body, '').id('existingProformaInvoiceId') };
}

export class ProformaInvoices {
  constructor(private readonly transport: MorTransport) {}

  create(request: ProformaRequest, key: string): Promise<Outcome<ProformaCreated>> {
    return this.sendCreate(encodeProforma(request), key);
  }

  createFromCalculation(request: ProformaFromCalculationRequest, key: string): Promise<Outcome<ProformaCreated>> {
    return this.sendCreate(encodeProformaFromCalculation(request), key);
  }

  delete(id: string): Promise<Outcome<null>> {
    return this.sendDelete(encodeDeleteProforma(id));
  }

  /**
   * Sends a stored request, with the whole invoice or with a tax calculation's id. The MoR replays the answer to a used
   * key for ever, even after a deletion. So a new submission needs a new key: never make a key from the body.
   */
  sendCreate(wire: WireRequest, key: string): Promise<Outcome<ProformaCreated>> {
    return this.transport.call<ProformaCreated>(wire, {
      name: wire.path === FROM_CALCULATION ? 'proforma.from_calculation' : 'proforma.create',
      key,
      accept: (reply) => ({
        kind: 'accepted',
        invoice: parseProformaInvoice(reply.body),
        location: reply.header('location'),
        retryAfterMs: reply.retryAfterMs,
      }),
      acceptError: referenceTaken,
    });
  }

  read(id: string): Promise<Outcome<ProformaInvoice>> {
    return this.transport.call(wireGet(`${PATH}/${segment(id)}`), {
      name: 'proforma.read',
      accept: ({ body }) => parseProformaInvoice(body),
    });
  }

  /** The link lives 15 minutes. Each call makes a new link. */
  document(id: string): Promise<Outcome<WhenReady<FileLink>>> {
    return this.transport.call(wireGet(`${PATH}/${segment(id)}/document`), {
      name: 'proforma.document',
      accept: (reply) => parseWhenReady(reply, parseFileLink),
    });
  }

  /** Sends a deletion. With a linked tax transaction the MoR answers 409 `not_deletable`. Deleting twice succeeds. */
  sendDelete(wire: WireRequest): Promise<Outcome<null>> {
    return this.transport.call(wire, { name: 'proforma.delete', accept: () => null });
  }
}
