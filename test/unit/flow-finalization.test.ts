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
