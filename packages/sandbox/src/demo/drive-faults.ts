// Deliberate faults in each month: delayed, repeated, reordered and failed deliveries; lost replies; replies 500, 429.
import { type World } from './world.js';

/** Adds faults to the sandbox before a round of renewals. Each fault strikes `times` times. */
export async function injectFaults(world: World, times: number): Promise<void> {
  const faults: readonly object[] = [
    { target: 'deliveries', type: 'payment.succeeded', action: 'delay_ms', delay_ms: 2 * 3_600_000, times },
    { target: 'deliveries', type: 'payment.succeeded', action: 'duplicate', times },
    { target: 'deliveries', type: 'invoice.created', action: 'reorder', after: 2, times },
    { target: 'deliveries', type: 'invoice.created', action: 'duplicate', times },
    { target: 'deliveries', type: 'invoice.finalized', action: 'fail', times },
    { side: 'stripe', method: 'POST', path: '/v1/payment_records/report_payment', action: 'drop_after', times },
    { side: 'stripe', method: 'POST', path: '/v1/invoices/*/attach_payment', action: 'status', status: 500, times },
    { side: 'stripe', method: 'GET', path: '/v1/invoices/', action: 'status', status: 429, times },
  ];
  for (const fault of faults) await world.control.post('/_sandbox/faults', fault);
}

/** Loses the reply to the next refund. The daemon must repeat the request under the same key to learn the outcome. */
export async function loseRefundReply(world: World): Promise<void> {
  const fault = { side: 'mor', method: 'POST', path: '/api/payments/*/refund', action: 'drop_after', times: 1 };
  await world.control.post('/_sandbox/faults', fault);
}

/** Number of faults that struck since the start. */
export async function faultHits(world: World): Promise<number> {
  const faults = (await world.control.get('/_sandbox/faults')).list('data');
  return faults.reduce((sum, f) => sum + f.amount('hits'), 0);
}
