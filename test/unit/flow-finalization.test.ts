// What is known of a draft that Stripe could not finalize, in whatever order it is told.
import { expect, it } from '@jest/globals';
import { aPaymentSucceeded, anInvoice, INVOICE_ID, invoiceEvent, START } from '../support/builders.js';
import { LaneHarness } from '../support/lane-harness.js';

it('a failed finalization is shown to a person, though only the event tells of it and its clock counts seconds', async () => {
  const h = LaneHarness.inMemory();
  const open = async (): Promise<string[]> =>
    (await h.state(INVOICE_ID)).reviews.filter((r) => r.status === 'open').map((r) => r.kind);
  h.platform.put(anInvoice({ status: 'draft' }));
  await h.take(invoiceEvent('invoice.created'), aPaymentSucceeded());
  await h.rest(0.1);
  const at = new Date(START.getTime() - 1_000);
  await h.take(invoiceEvent('invoice.finalization_failed', { status: 'draft', at }));
  await h.rest(0.1);
  expect(await open()).toEqual(['finalization_failed']);
  h.platform.change(INVOICE_ID, { status: 'open' });
  await h.take(invoiceEvent('invoice.finalized'));
  expect([(await h.state(INVOICE_ID)).invoice?.status, await open()]).toEqual(['paid', []]);
});

it('a draft that Stripe finalizes hours later than it said is read ever less often, and its renewal marked once the event comes', async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ status: 'draft', finalizesAt: new Date(START.getTime() + 3_600_000) }));
  await h.take(aPaymentSucceeded());
  await h.rest(6);
  expect(h.platform.asked.length).toBeLessThan(30);
  h.clock.advance(60_000);
  h.platform.change(INVOICE_ID, { status: 'open' });
  await h.take(invoiceEvent('invoice.finalized', { at: h.clock.now() }));
  expect((await h.state(INVOICE_ID)).invoice?.status).toBe('paid');
});

it('a draft whose finalization no event tells of is seen to be final when it has been late for as long again', async () => {
  const h = LaneHarness.inMemory();
  const finalizesAt = new Date(START.getTime() + 3_600_000);
  h.platform.put(anInvoice({ status: 'draft', finalizesAt }));
  await h.take(aPaymentSucceeded());
  for (const minutes of [1, 2, 4, 8, 16]) {
    h.clock.set(new Date(finalizesAt.getTime() + minutes * 60_000));
    await h.drain();
    expect(h.platform.asked.filter((x) => x.startsWith('read'))).toHaveLength(2 + Math.log2(minutes));
  }
  h.platform.change(INVOICE_ID, { status: 'open' });
  await h.rest(0.25);
  expect((await h.state(INVOICE_ID)).invoice?.status).toBe('paid');
});
