// Following one event: its name is in each log line about it.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Json, startWorld, type World } from '../support/world.js';
import { deafMor, newPaid, openRenewal, tellSucceeded } from './support/story.js';

describe('a renewal', () => {
  let world: World;
  let invoiceId: string;
  let event: string;

  beforeAll(async () => {
    world = await startWorld();
    const daemon = await world.startDaemon();
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    await deafMor(world);
    invoiceId = await openRenewal(world, s);
    await world.until(
      'the invoice is known to be final',
      () => world.api('GET', `/v1/invoices/${invoiceId}`),
      (r) => JSON.stringify(r.body['timeline'] ?? []).includes('invoice.finalized'),
    );
    const said = { customerId: s.customerId, invoiceId, amount: 2990 };
    event = `mor_payments:${await tellSucceeded(world, newPaid(), said)}`;
    await world.invoice(invoiceId, 'paid');
    await daemon.stop();
  });
  afterAll(async () => {
    await world.close();
  });

  it('names the event in every log line from the door to the last call', () => {
    const lines = world.logLines.map((l) => JSON.parse(l) as Json);
    const about = lines.filter((l) => l['event'] === event || (l['events'] as string[] | undefined)?.includes(event));
    expect(about.map((l) => (l['msg'] === 'call' ? l['call'] : l['msg'])).sort()).toEqual([
      'attach_payment',
      'event decided',
      'event stored',
      'read-invoice',
      'report_payment',
    ]);
    for (const line of about) expect(line['lane']).toBe(invoiceId);
    const calls = lines.filter((l) => l['msg'] === 'call' || l['msg'] === 'call failed');
    for (const call of calls) expect([call['call'], call['lane']]).toEqual([expect.any(String), expect.any(String)]);
  });
});
