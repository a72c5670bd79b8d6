// What bank transfers add to the facts of review items and to the calls.
import { type CodesIn } from '../../shared/domain/fact.js';
import { type OnObject } from '../../shared/domain/facts/parts.js';
import { type ProformaMade } from '../../shared/domain/ports/mor-channels.js';

type TransferFacts = {
  readonly conflicting_event:
    | ({ readonly code: 'transfer-unheard' } & OnObject)
    | { readonly code: 'unknown-proforma'; readonly event: string; readonly proforma: string };
};

export type TransferCode = CodesIn<TransferFacts>;

declare module '../../shared/domain/fact.js' {
  interface FeatureFacts {
    readonly transfers: TransferFacts;
  }
}

declare module '../../shared/domain/feature-calls.js' {
  interface FeatureCalls {
    readonly create_proforma: { readonly made: ProformaMade };
  }
}
