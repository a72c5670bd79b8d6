// Document 2: the merchant's products, one variant per call.
import { type Outcome, type WireRequest } from './outcome.js';
import { type CatalogueProductRequest } from './requests/tax.js';
import { type MorTransport } from './transport.js';
import { wireWith } from './wire.js';

export function encodeCatalogueProduct(request: CatalogueProductRequest): WireRequest {
  return wireWith('POST', '/api/catalogue/products', request);
}

export class Catalogue {
  constructor(private readonly transport: MorTransport) {}

  import(request: CatalogueProductRequest): Promise<Outcome<unknown>> {
    return this.sendImport(encodeCatalogueProduct(request));
  }

  /** Document 2 shows no answer to this call. So any 2xx is a success, with its body unchanged (null: no body). */
  sendImport(wire: WireRequest): Promise<Outcome<unknown>> {
    return this.transport.call<unknown>(wire, { name: 'catalogue.import', accept: ({ body }) => body ?? null });
  }
}
