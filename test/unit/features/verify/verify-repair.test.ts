// A repair beside a worker: what was read before the worker wrote is not taken for the newest news.
import { expect, it } from '@jest/globals';
import { finding } from '../../../../src/features/verify/rules/findings.js';
import { VerifyService } from '../../../../src/features/verify/verify.service.js';
import { LaneSignal } from '../../../../src/engine/lane-signal.js';
import { aPaymentSucceeded, anInvoice, INVOICE_ID } from '../../../support/builders/events.js';
import { LaneHarness, openKinds } from '../../../support/rigs/lane-harness.js';

it('an invoice that the worker marks paid during a verify repair stays paid', async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  await h.deliver(aPaymentSucceeded());
  const readInvoice = h.platform.readInvoice.bind(h.platform);
  h.platform.readInvoice = async (id) => {
    h.platform.readInvoice = readInvoice;
    const open = await h.platform.readInvoice(id);
    h.clock.advance(1);
    await h.drain(); // the worker marks it, and this answer is on its way
    return open;
  };
  const none = {} as never;
  const verify = new VerifyService(
    none,
    none,
    h.platform,
    h.gateway,
    none,
    h.repository,
    h.context,
    new LaneSignal(),
    h.ids,
  );
  await verify.repair(none, [finding.otherStatus({ invoiceId: INVOICE_ID }, { shown: 'open', known: 'paid' })]);
  await h.idle();
  const s = await h.state(INVOICE_ID);
  expect([s.invoice?.platformStatus, s.invoice?.amountRemaining, s.invoice?.status]).toEqual(['paid', 0n, 'paid']);
  expect(openKinds(s)).toEqual([]);
});
