// Document 2: the merchant's products, one variant per call.
import { Injectable } from '@nestjs/common';
import { type CallOutcome, type WireRequest } from '../domain/ports/call.js';
import { type CatalogueProductRequest } from './requests/catalogue.js';
import { MorTransport } from './transport.js';
import { wireWith } from './wire.js';

export function encodeCatalogueProduct(request: CatalogueProductRequest): WireRequest {
  return wireWith('POST', '/api/catalogue/products', request);
}

@Injectable()
export class Catalogue {
  constructor(private readonly transport: MorTransport) {}

  /** The document shows no answer: any success is one, and its body is handed on as it came (null: it had none). */
  sendImport(wire: WireRequest): Promise<CallOutcome<unknown>> {
    return this.transport.call<unknown>(wire, { name: 'catalogue.import', accept: ({ body }) => body ?? null });
  }
}
