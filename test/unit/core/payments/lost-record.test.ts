// A call whose record was lost with its process, or with its database: how old its key may be is not forgotten, whatever comes between.
import { expect, it } from '@jest/globals';
import { chooseItem } from '../../../support/rigs/choose-item.js';
import { StoreUnavailable } from '../../../../src/shared/domain/errors.js';
import { LaneWorker } from '../../../../src/engine/lane-worker.js';
import { LaneSignal } from '../../../../src/engine/lane-signal.js';
import { WorkLaneService } from '../../../../src/engine/work-lane.service.js';
import { finding } from '../../../../src/features/verify/rules/findings.js';
import { VerifyService } from '../../../../src/features/verify/verify.service.js';
import { aPaymentSucceeded, aRefund, INVOICE_ID } from '../../../support/builders/events.js';
import { failed } from '../../../support/fakes/fake-platform.js';
import { turn } from '../../../support/fakes/fake-inbox.js';
import { LaneHarness, openKinds } from '../../../support/rigs/lane-harness.js';
import { NoChannels } from '../../../support/fakes/no-channels.js';
import { ask, paid } from '../../../support/builders/paid-lane.js';
import { DAY_MS, refused, relayed, rig, state } from '../../../support/rigs/retry-rig.js';

const HOUR_MS = 3_600_000;
const POLL_MS = 400;

async function isMadeOnce(harness: LaneHarness): Promise<void> {
  const s = await harness.state(INVOICE_ID);
  expect([harness.gateway.made.length, s.refunds[0]?.status, openKinds(s)]).toEqual([1, 'unknown', ['refund_stuck']]);
}

it('Crossbill repeats no refund after its key expired, even if `crossbill verify` repairs the invoice in between', async () => {
  const h = await paid();
  h.repository.dieBefore = h.repository.transactions + 2; // the transaction after the call
  await ask(h, 300n);
  await h.drain();
  h.clock.advance(20 * HOUR_MS);
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
  h.clock.advance(10 * HOUR_MS);
  await h.idle(48);
  await isMadeOnce(h);
});

/** A worker over the lanes of `harness`, step by step, until `holds`. */
async function workUntil(harness: LaneHarness, holds: () => boolean): Promise<void> {
  const { clock, context, gateway, platform, relay, repository } = harness;
  repository.renew = (held) => Promise.resolve(new Set(held.map((one) => one.lane)));
  const service = new WorkLaneService(
    repository,
    platform,
    gateway,
    relay,
    context,
    { expected: null },
    new NoChannels(),
  );
  const options = { owner: 'one', concurrency: 2, leaseMs: 25_000, pollMs: POLL_MS };
  const worker = new LaneWorker(repository, service, new LaneSignal(), clock, options);
  const poll = async (): Promise<void> => {
    for (let turns = 0; turns < 20; turns++) await turn();
    clock.advance(POLL_MS);
  };
  worker.start();
  for (let polls = 0; polls < 200 && !holds(); polls++) await poll();
  await poll();
  const stopped = worker.stop();
  await poll();
  await stopped;
}

it('Crossbill repeats no refund after a day without a database, if the MoR’s reply was lost', async () => {
  const h = await paid();
  const replies = h.gateway.createRefund.bind(h.gateway);
  const transact = h.repository.transact.bind(h.repository);
  let calls = 0;
  let isLost = false;
  h.gateway.createRefund = (...call) => (calls++ === 0 ? replies(...call) : Promise.resolve(failed('retry')));
  h.repository.transact = (work) => {
    if (calls === 0 || isLost) return transact(work);
    isLost = true;
    return Promise.reject(new StoreUnavailable('the database did not answer'));
  };
  await ask(h, 300n);
  await workUntil(h, () => calls === 2);
  await h.idle(30);
  h.gateway.createRefund = replies;
  await h.idle(48);
  await isMadeOnce(h);
});

it.each(['payment_record', 'out_of_band'] as const)(
  'Crossbill searches Stripe before it repeats a credit note with an unrecorded first try and perhaps an expired key (%s)',
  async (markMode) => {
    const h = await paid({ settings: { markMode } });
    const send = h.platform.send.bind(h.platform);
    let isDown = false;
    h.platform.send = async (call) => {
      if (isDown) return failed('retry');
      const sent = await send(call);
      if (call.asked.kind === 'issue_credit_note') h.repository.dieBefore = h.repository.transactions + 1;
      return sent;
    };
    await h.take(aRefund({ amount: 300 }));
    expect([h.crashes, h.platform.notes.length]).toEqual([1, 1]);
    h.clock.advance(20 * HOUR_MS);
    isDown = true;
    await h.idle(6);
    isDown = false;
    await h.idle(48);
    const s = await h.state(INVOICE_ID);
    expect([h.platform.notes.length, s.refunds[0]?.mirror, openKinds(s)]).toEqual([1, 'done', []]);
  },
);

it('Crossbill repeats no refund under an expired key if the MoR replied with a redirect', async () => {
  const h = await paid();
  const replies = h.gateway.createRefund.bind(h.gateway);
  let isMoved = true;
  h.gateway.createRefund = async (...call) => {
    if (h.gateway.made.length === 0) await replies(...call);
    return isMoved ? failed('stopped', { status: 303, code: 'unexpected_redirect' }) : replies(...call);
  };
  await ask(h, 300n);
  await h.idle(30);
  isMoved = false;
  await h.idle(48);
  await isMadeOnce(h);
});

it('if the record of the first retry is lost and the amount due changes, Crossbill does not ask the MoR for a second charge', async () => {
  const r = rig();
  const { h } = r;
  await refused(r);
  const send = h.relay.send.bind(h.relay);
  h.relay.send = (...event) => {
    h.repository.dieBefore = h.repository.transactions + 1;
    return send(...event);
  };
  h.clock.advance(3 * DAY_MS);
  await h.drain();
  expect([h.crashes, relayed(r).length]).toEqual([1, 1]);
  h.platform.change(INVOICE_ID, { amountDue: 900n, amountRemaining: 900n, total: 900n });
  h.clock.advance(HOUR_MS);
  await h.idle(30);
  const s = await state(r);
  expect(s.calls).toMatchObject([{ kind: 'retry_charge', status: 'cancelled', attempts: 0 }]);
  expect(s.invoice?.retries).toMatchObject({ retries: [{ withdrawn: false }], waitingSince: expect.any(String) });
  expect([relayed(r).length, openKinds(s)]).toEqual([1, ['renewal_overdue']]);
});

it('if the MoR refuses a repeated refund request after the refund’s event, a review item asks about the first request', async () => {
  const h = await paid();
  h.repository.dieBefore = h.repository.transactions + 2; // the transaction after the call
  const asked = await ask(h, 1000n);
  await h.drain();
  expect([h.crashes, h.gateway.made.length]).toEqual([1, 1]);
  h.gateway.createRefund = async () => failed('refused', { status: 422, code: 'payment_not_refundable' });
  await h.deliver(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1', amount: 1000 }));
  await h.idle(1);
  const s = await h.state(INVOICE_ID);
  expect(s.refunds).toMatchObject([{ id: asked.id, status: 'succeeded', failure: null }]);
  expect(s.reviews).toMatchObject([{ fact: { code: 'request-refused', nothingMade: false } }]);
});

it('a refund stays `unknown` if the MoR first answers with a redirect and then refuses the repeat', async () => {
  const h = await paid();
  const replies = h.gateway.createRefund.bind(h.gateway);
  h.gateway.createRefund = async (...call) => {
    if (h.gateway.made.length > 0) return failed('refused', { status: 422, code: 'payment_not_refundable' });
    await replies(...call);
    return failed('stopped', { status: 303, code: 'unexpected_redirect' });
  };
  await ask(h, 300n);
  await h.idle(1);
  await isMadeOnce(h);
});

it('a refund stays `unknown` if Crossbill crashes in the first try and the MoR refuses the repeat', async () => {
  const h = await paid();
  h.repository.dieBefore = h.repository.transactions + 2; // the transaction after the call
  await ask(h, 600n);
  await h.drain();
  expect(h.crashes).toBe(1);
  h.gateway.createRefund = async () => failed('refused', { status: 400, code: 'invalid_request' });
  await h.idle(1);
  await isMadeOnce(h);
  const [item] = (await h.state(INVOICE_ID)).reviews;
  expect(item?.fact).toMatchObject({ code: 'refund-waits', refused: expect.anything() as unknown });
  await chooseItem(h, 'retry');
  await h.idle(1);
  await isMadeOnce(h);
  const last = (await h.state(INVOICE_ID)).reviews.at(-1);
  expect(last?.fact).toMatchObject({ code: 'refund-waits', refused: expect.anything() as unknown });
});

// So many payment records on the platform that one of ours cannot be looked for among them: a person is told, nothing waits for ever.
function withManyRecords(): LaneHarness {
  const h = LaneHarness.withInvoice();
  h.platform.check = () => Promise.resolve(failed('unknown', { code: 'list_too_long', message: 'too many' }));
  return h;
}

it('if Stripe has too many records to search, a payment on a paid invoice opens a double_payment item', async () => {
  const h = withManyRecords();
  h.platform.payAnotherWay(INVOICE_ID);
  await h.take(aPaymentSucceeded());
  await h.idle();
  expect(openKinds(await h.state(INVOICE_ID))).toEqual(['double_payment']);
});

it('if Stripe stored an error for a payment report and has too many records to search, Crossbill does not repeat the report', async () => {
  const h = withManyRecords();
  h.platform.fail('report_payment', 'stored-500');
  await h.take(aPaymentSucceeded());
  await h.idle();
  const s = await h.state(INVOICE_ID);
  expect(openKinds(s)).toEqual(['effect_failed']);
  expect(s.payments[0]?.mark).toBe('parked');
  expect(h.platform.effects).toEqual({});
});
