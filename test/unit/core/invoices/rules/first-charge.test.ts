// With MOR_RELAY_EVENTS=finalized the MoR gets one event for each final invoice. A person asks for a charge that nobody made.
import { expect, it } from '@jest/globals';
import { type InvoiceFacts } from '../../../../../src/shared/domain/ports/billing-platform.js';
import { type DecisionSettings } from '../../../../../src/shared/domain/settings.js';
import { UNSENT } from '../../../../../src/shared/domain/ports/call.js';
import { findObstacle } from '../../../../../src/features/retries/rules/decide-retry.js';
import {
  anInvoice,
  aPaymentFailed,
  aPaymentSucceeded,
  INVOICE_ID,
  invoiceEvent,
} from '../../../../support/builders/events.js';
import { resolveReview } from '../../../../support/rigs/decide.js';
import { never } from '../../../../support/never.js';
import { openFacts } from '../../../../support/builders/channel-lane.js';
import { DAY_MS, HOUR_MS, relayed, retry, type Rig, rig, state } from '../../../../support/rigs/retry-rig.js';

const MINUTE_MS = 60_000;
const without = { retrySchedule: null, recoveryLinks: null } as const;
const finalized = (over: Partial<DecisionSettings> = {}): Rig => rig({ ...without, relay: 'finalized', ...over });
const shows = (rig: Rig, over: Partial<InvoiceFacts>): void => rig.h.platform.put(anInvoice(over));
const amounts = (rig: Rig): unknown[] =>
  relayed(rig).map(({ data }) => (data.object as { readonly amount_due?: number }).amount_due);
const wait = async (rig: Rig, ms: number): Promise<void> => {
  rig.h.clock.advance(ms);
  await rig.h.drain();
};
/** A draft of 10.00 EUR that Stripe makes final after an hour. */
async function draft(over: Partial<DecisionSettings> = {}, facts: Partial<InvoiceFacts> = {}): Promise<Rig> {
  const r = finalized(over);
  const now = r.h.clock.now();
  const seen = { status: 'draft', createdAt: now, finalizesAt: new Date(now.getTime() + HOUR_MS), ...facts } as const;
  shows(r, seen);
  await r.h.take(invoiceEvent('invoice.created', seen));
  return r;
}

it('a draft reaches the MoR only as a final invoice, in one event of Crossbill’s own with the final amount', async () => {
  const r = await draft();
  expect([amounts(r), (await state(r)).invoice?.expectedBy]).toEqual([[], null]);
  shows(r, { amountDue: 4200n });
  r.h.clock.advance(HOUR_MS);
  await r.h.take(invoiceEvent('invoice.finalized', { amountDue: 4200n, at: r.h.clock.now() }));
  expect(amounts(r)).toEqual([4200]);
  const [event] = relayed(r);
  expect(event).toMatchObject({ id: expect.stringMatching(/^evt_crossbill_/), type: 'invoice.created' });
  expect((await state(r)).invoice).toMatchObject({
    ...{ draftedDue: 1000n, amountDue: 4200n, relayDueAt: null },
    expectedBy: new Date(r.h.clock.now().getTime() + DAY_MS),
  });
  await r.h.take(invoiceEvent('invoice.updated', { amountDue: 4200n, eventId: 'evt_2', at: r.h.clock.now() }));
  await wait(r, HOUR_MS);
  expect(amounts(r)).toEqual([4200]);
});

it('a lost invoice.finalized event is replaced by a read of the invoice a minute after its expected end', async () => {
  const r = await draft();
  shows(r, { amountDue: 4200n });
  await wait(r, HOUR_MS);
  expect(amounts(r)).toEqual([]);
  await wait(r, MINUTE_MS);
  expect(amounts(r)).toEqual([4200]);
});

it('a draft in a grace period of three days opens no item about a missing verdict, and the wait begins with the relay', async () => {
  const end = (rig: Rig): Date => new Date(rig.h.clock.now().getTime() + 72 * HOUR_MS);
  const r = await draft({}, { finalizesAt: end(finalized()) });
  await r.h.idle(72);
  expect([openFacts(await state(r)), amounts(r)]).toEqual([[], []]);
  shows(r, { amountDue: 4200n });
  await r.h.idle(73);
  expect(amounts(r)).toEqual([4200]);
  await r.h.idle(23);
  expect(openFacts(await state(r))).toEqual([]);
  await r.h.idle(25);
  expect(openFacts(await state(r))).toMatchObject([{ code: 'no-verdict', charges: true }]);
});

it('reads of a draft that nobody finalizes become rarer with its age', async () => {
  const r = await draft({}, { finalizesAt: null });
  const reads = (): number => r.h.platform.asked.filter((x) => x.startsWith('read to relay')).length;
  await r.h.idle(24);
  expect(reads()).toBeLessThan(24);
  const before = reads();
  await r.h.idle(24 * 30);
  expect(reads() - before).toBeLessThan(40);
});

it('a final invoice with nothing due is ignored, and the MoR gets no event about it', async () => {
  const r = await draft({}, { amountDue: 0n });
  expect((await state(r)).invoice?.status).toBe('ignored');
  shows(r, { amountDue: 0n, status: 'paid' });
  await r.h.take(invoiceEvent('invoice.finalized', { amountDue: 0n, at: new Date(r.h.clock.now().getTime() + 1_000) }));
  await r.h.idle(48);
  expect([amounts(r), openFacts(await state(r)), (await state(r)).invoice?.relayDueAt]).toEqual([[], [], null]);
});

it.each(['created', 'finalized'] as const)(
  'a draft with nothing due is expected once it is final with an amount (MOR_RELAY_EVENTS=%s)',
  async (relay) => {
    const r = await draft({ relay }, { amountDue: 0n });
    r.h.clock.advance(30 * HOUR_MS);
    shows(r, { amountDue: 4200n });
    await r.h.take(invoiceEvent('invoice.finalized', { amountDue: 4200n, at: r.h.clock.now() }));
    const { invoice } = await state(r);
    expect(invoice).toMatchObject({ status: 'expected', amountDue: 4200n, draftedDue: 0n });
    expect(invoice?.expectedBy).toEqual(new Date(r.h.clock.now().getTime() + DAY_MS));
    expect(amounts(r)).toEqual(relay === 'created' ? [0] : [4200]);
  },
);

it.each(['subscription_threshold', 'subscription_update', 'manual', 'subscription_cycle'])(
  'an invoice of reason %s, final from its first event on, goes to the MoR at once',
  async (billingReason) => {
    const r = finalized();
    shows(r, { billingReason });
    await r.h.take(invoiceEvent('invoice.created', { billingReason, status: 'open' }));
    expect(amounts(r)).toEqual([1000]);
  },
);

it('the first invoice of a subscription never goes to the MoR, neither as a draft nor as a final invoice', async () => {
  for (const relay of ['created', 'finalized', 'retries'] as const) {
    const r = await draft({ relay }, { billingReason: 'subscription_create' });
    shows(r, { billingReason: 'subscription_create' });
    await r.h.take(invoiceEvent('invoice.finalized', { billingReason: 'subscription_create' }));
    await r.h.idle(3);
    expect(amounts(r)).toEqual([]);
  }
});

it('with MOR_RELAY_EVENTS=retries the MoR gets no first event, and a person’s retry of a refused charge goes out', async () => {
  const r = rig({ ...without, relay: 'retries' });
  await r.h.take(invoiceEvent('invoice.created', { status: 'open' }));
  await r.h.take(aPaymentFailed({ at: r.h.clock.now() }));
  expect(amounts(r)).toEqual([]);
  expect(await retry(r)).toMatchObject({ ok: true, value: { number: 1, means: 'charge' } });
  await r.h.drain();
  expect(relayed(r)).toHaveLength(1);
});

it('with MOR_RELAY_EVENTS=finalized another invoice.created after a refusal still asks the MoR for a retry', async () => {
  const r = await draft();
  shows(r, {});
  await r.h.take(invoiceEvent('invoice.finalized'));
  await r.h.take(aPaymentFailed({ at: r.h.clock.now() }));
  r.h.clock.advance(1_000);
  await r.h.take(invoiceEvent('invoice.created', { eventId: 'evt_again', status: 'open', at: r.h.clock.now() }));
  expect(relayed(r).map((e) => e.id)).toEqual([expect.stringMatching(/^evt_crossbill_/), 'evt_again']);
});

it('money, a refusal, a void invoice, or another way to pay before the invoice is final ends the plan to relay it', async () => {
  const news = [
    aPaymentSucceeded(),
    aPaymentFailed(),
    invoiceEvent('invoice.voided', { at: new Date(finalized().h.clock.now().getTime() + 1_000) }),
  ];
  for (const event of news) {
    const r = await draft();
    await r.h.take(event);
    shows(r, event.type === 'invoice.voided' ? { status: 'void' } : {});
    await r.h.idle(2);
    expect([relayed(r), (await state(r)).invoice?.relayDueAt]).toEqual([[], null]);
  }
});

it('an invoice expected before the change to MOR_RELAY_EVENTS=finalized goes to the MoR no second time', async () => {
  const r = await draft({ relay: 'created' });
  expect(amounts(r)).toEqual([1000]);
  Object.assign(r.h.context.settings, { relay: 'finalized' });
  shows(r, {});
  await r.h.take(invoiceEvent('invoice.finalized', { at: new Date(r.h.clock.now().getTime() + 1_000) }));
  await r.h.idle(2);
  expect(amounts(r)).toEqual([1000]);
});

it('after a credit note during an outage of the relay, the MoR gets one event with the amount now due', async () => {
  const r = await draft();
  shows(r, {});
  r.h.platform.fail('read', 'retry');
  await r.h.take(invoiceEvent('invoice.finalized'));
  expect(relayed(r)).toEqual([]); // the read got no reply: nothing to send yet
  shows(r, { amountDue: 600n });
  await r.h.idle(1);
  expect(amounts(r)).toEqual([600]);
});

it('a crash at any step of the relay sends the same event again, under the same id', async () => {
  for (let step = 1; step < 5; step++) {
    const r = await draft();
    shows(r, {});
    r.h.repository.dieBefore = r.h.repository.transactions + step;
    await r.h.take(invoiceEvent('invoice.finalized'));
    await r.h.idle(1);
    expect(new Set(r.h.relay.sent).size).toBe(1);
  }
});

it('in shadow mode the event for a final invoice is stored, and never sent', async () => {
  const r = await draft({ sendsNothing: true });
  shows(r, {});
  await r.h.take(invoiceEvent('invoice.finalized'));
  const calls = (await state(r)).calls.map(({ kind, status, lastCode }) => ({ kind, status, lastCode }));
  expect(calls).toEqual([{ kind: 'relay_event', status: 'cancelled', lastCode: UNSENT.code }]);
  expect(relayed(r)).toEqual([]);
});

it('a final invoice that Stripe does not show stays expected: the key may belong to another account', async () => {
  const r = await draft();
  r.h.platform.invoices.delete(INVOICE_ID);
  await r.h.take(invoiceEvent('invoice.finalized', { at: new Date(r.h.clock.now().getTime() + 1_000) }));
  await r.h.idle(26);
  expect([relayed(r), openFacts(await state(r))]).toMatchObject([[], [{ code: 'no-verdict', charges: false }]]);
});

it('a person’s retry of a renewal that nobody charged goes out once it is overdue, and two requests make one event', async () => {
  const r = rig({ ...without, relay: 'created' });
  await r.h.take(invoiceEvent('invoice.created', { status: 'open', amountDue: 900n }));
  expect(await retry(r)).toMatchObject({ ok: false, status: 409, code: 'invoice_not_retryable' });
  await r.h.idle(25);
  expect(openFacts(await state(r))).toMatchObject([{ code: 'no-verdict', charges: true }]);
  const made = await retry(r);
  expect(made).toMatchObject({ ok: true, value: { number: null, means: 'charge' } });
  expect(await retry(r)).toMatchObject({ ok: false, status: 409, code: 'invoice_not_retryable' });
  await r.h.drain();
  expect(relayed(r).map((e) => e.id)).toEqual(['evt_invoice.created_in_oak', made.ok ? made.value.id : never()]);
  expect(openFacts(await state(r))).toEqual([]);
  await r.h.idle(25);
  expect(openFacts(await state(r))).toMatchObject([{ code: 'no-verdict', charges: true }]);
});

it('the choice retry in the item about a missing verdict asks the MoR for a charge of the present amount', async () => {
  const r = rig({ ...without, relay: 'created' });
  await r.h.take(invoiceEvent('invoice.created', { status: 'open', amountDue: 900n }));
  await r.h.idle(25);
  const [item = never()] = (await state(r)).reviews;
  const choose = () =>
    r.h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item.id, { resolution: 'retry', note: null, by: 'ada' }, ctx));
  expect(await choose()).toMatchObject({ ok: true });
  await choose(); // a second click changes nothing
  const s = await state(r);
  expect(findObstacle(s, r.h.context.now())).toContain('the MoR may be charging it');
  await r.h.drain();
  expect(amounts(r)).toEqual([900, 1000]);
});
