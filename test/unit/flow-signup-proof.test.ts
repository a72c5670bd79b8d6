// A signup's charge that was proven by a look-up, and what the MoR says of it afterwards.
import { expect, it } from '@jest/globals';
import { completeSignup } from '../../src/domain/lane/apply-command.js';
import { aPaymentFailed, anInvoice, COMPLETION, INVOICE_ID } from '../support/builders.js';
import { LaneHarness, openKinds } from '../support/lane-harness.js';

it.each([
  ['later than it was proven asks a person', 86_400_000, ['conflicting_event']],
  ['before it was proven, by a first try, says nothing', -86_400_000, []],
])('a proven charge that failed %s; the invoice stays paid', async (_what, afterMs, kinds) => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
  h.gateway.charges.add('ch_first');
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
  await h.rest();
  const at = new Date(h.clock.now().getTime() + afterMs);
  await h.take(aPaymentFailed({ at, intentId: 'pi_first', paymentId: 'pay_s' }));
  const s = await h.state(INVOICE_ID);
  expect(s.payments).toMatchObject([{ paymentId: 'pay_s', mark: 'confirmed', status: 'succeeded' }]);
  expect(openKinds(s)).toEqual(kinds);
});
