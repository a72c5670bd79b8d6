// A call whose record was lost with its process, or with its database: how old its key may be is not forgotten, whatever comes between.
import { expect, it } from '@jest/globals';
import { Wake } from '../../src/lane/wake.js';
import { difference } from '../../src/verify/rules/compare.js';
import { VerifyFlow } from '../../src/verify/verify.flow.js';
import { INVOICE_ID } from '../support/builders.js';
import { type LaneHarness, openKinds } from '../support/lane-harness.js';
import { ask, paid } from '../support/paid-lane.js';

const HOUR_MS = 3_600_000;

async function isMadeOnce(h: LaneHarness): Promise<void> {
  const s = await h.state(INVOICE_ID);
  expect([h.gateway.made.length, s.refunds[0]?.status, openKinds(s)]).toEqual([1, 'unknown', ['refund_stuck']]);
}

it('a refund that a repair of verify finds before any daemon does is not sent under a key that may be forgotten', async () => {
  const h = await paid();
  h.store.dieBefore = h.store.transactions + 2; // the transaction after the call
  await ask(h, 300n);
  await h.drain();
  h.clock.advance(20 * HOUR_MS);
  const none = {} as never;
  const verify = new VerifyFlow(none, none, h.platform, h.gateway, none, h.store, h.context, new Wake(), h.ids);
  await verify.repair(none, [difference('event_never_delivered', 'look-again', 'old', { invoiceId: INVOICE_ID })]);
  h.clock.advance(10 * HOUR_MS);
  await h.rest(48);
  await isMadeOnce(h);
});
