// The invoice as Stripe has it at this moment, for what is about to be asked of the MoR.
import { type Billed, type MorObjectsFlow } from './mor-objects.flow.js';
import { notFound, Problem } from '../api/http/problem.js';

/** Throws 404 when there is no such invoice and 502 `billing_unavailable` when Stripe does not say. */
export async function readBilled(flow: MorObjectsFlow, invoiceId: string): Promise<Billed> {
  const read = await flow.billed(invoiceId);
  if (!read.ok) {
    const wait = read.retryAfterMs === null ? null : Math.ceil(read.retryAfterMs / 1000);
    throw new Problem(502, 'billing_unavailable', 'Stripe did not return the invoice: try again.', [], wait);
  }
  if (read.value === null || read.value.invoice.status === 'deleted') throw notFound('invoice');
  return read.value;
}
