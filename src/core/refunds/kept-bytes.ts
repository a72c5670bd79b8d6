// An erasure keeps the bytes of a refused refund request for as long as a person may send the request again.
import { type KeptBytes } from '../../engine/erased-log.js';

const SETTLED = new Set(['succeeded', 'failed', 'joined']);

export const refundBytes: KeptBytes = {
  call: ({ refunds }, { kind, subject }) =>
    kind === 'create_refund' ? !refunds.some((r) => r.id === subject && SETTLED.has(r.status)) : null,
  // The SQL need not name the status `joined`: the table `refund` has no row for a joined refund.
  lane: `exists (select 1 from refund r where r.invoice_id = l.lane and r.status not in ('succeeded', 'failed'))`,
};
