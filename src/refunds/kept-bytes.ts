// While a person may send a refused refund again, an erasure keeps its bytes.
import { type KeptBytes } from '../engine/erasure.js';

const SETTLED = new Set(['succeeded', 'failed', 'joined']);

export const refundBytes: KeptBytes = {
  call: ({ refunds }, { kind, subject }) =>
    kind === 'create_refund' ? !refunds.some((r) => r.id === subject && SETTLED.has(r.status)) : null,
  // A joined refund has no row in the read model.
  lane: `exists (select 1 from refund r where r.invoice_id = l.lane and r.status not in ('succeeded', 'failed'))`,
};
