// A step that fails names the event behind the failure, or none.
import { expect, it } from '@jest/globals';
import { culpritOf } from '../../../src/engine/apply-event.js';
import { aPaymentFailed, aPaymentSucceeded, anInvoice, INVOICE_ID } from '../../support/builders/events.js';
import { LaneHarness } from '../../support/rigs/lane-harness.js';

const fault = (): never => {
  throw new RangeError('a fault of our own');
};

it.each([
  ['the first event', ['bad', 'b', 'c'], 'bad'],
  ['an event in the middle', ['a', 'bad', 'c'], 'bad'],
  ['the last event', ['a', 'b', 'bad'], 'bad'],
])('if %s makes a step fail, the step blames this event', (_, events, culprit) => {
  expect(culpritOf(events, (some) => some.includes('bad') && fault())).toBe(culprit);
});

it('a step that fails without any event blames no event', () => {
  expect(culpritOf(['a', 'b'], fault)).toBeNull();
  expect(culpritOf([], fault)).toBeNull();
});

it('if the call that follows from an event has no bytes, the step blames this event and not an older event', async () => {
  const h = LaneHarness.withInvoice();
  h.platform.encode = fault;
  await h.deliver(aPaymentFailed({ paymentId: 'pay_older' }), aPaymentSucceeded());
  await expect(h.drain()).rejects.toMatchObject({
    code: 'lane.event_failed',
    event: 2n,
    cause: { name: 'RangeError' },
  });
});

it('if a read of Stripe fails by a fault of ours, no waiting event is to blame', async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  h.platform.readInvoice = fault;
  await h.deliver(aPaymentFailed({ paymentId: 'pay_older' }), aPaymentSucceeded());
  await expect(h.drain()).rejects.toBeInstanceOf(RangeError);
  expect((await h.state(INVOICE_ID)).payments).toEqual([]);
});
