// So many payment records on the platform that one of ours cannot be looked for among them: a person is told, nothing waits for ever.
import { expect, it } from '@jest/globals';
import { aPaymentSucceeded, anInvoice, INVOICE_ID } from '../../support/builders.js';
import { failed } from '../../support/fakes.js';
import { LaneHarness, openKinds } from '../../support/lane-harness.js';

function withManyRecords(): LaneHarness {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  h.platform.probe = () => Promise.resolve(failed('unknown', { code: 'list_too_long', message: 'too many' }));
  return h;
}

it('a payment on an invoice paid without it is a double payment', async () => {
  const h = withManyRecords();
  h.platform.payAnotherWay(INVOICE_ID);
  await h.take(aPaymentSucceeded());
  await h.rest();
  expect(openKinds(await h.state(INVOICE_ID))).toEqual(['double_payment']);
});

it('Crossbill does not repeat a report with a stored failure, and asks a person to look', async () => {
  const h = withManyRecords();
  h.platform.fail('report_payment', 'stored-500');
  await h.take(aPaymentSucceeded());
  await h.rest();
  const s = await h.state(INVOICE_ID);
  expect(openKinds(s)).toEqual(['effect_failed']);
  expect(s.payments[0]?.mark).toBe('parked');
  expect(h.platform.effects).toEqual({});
});
