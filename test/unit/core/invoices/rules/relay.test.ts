// An invoice.created goes on to the MoR once, waits for it, and is taken back when nobody wants it any more.
import { expect, it } from '@jest/globals';
import { chooseItem } from '../../../../support/rigs/choose-item.js';
import { type Ctx } from '../../../../../src/engine/context.js';
import { putPayment, putCall } from '../../../../support/builders/put-rows.js';
import { type InvoiceEvent } from '../../../../../src/engine/event.js';
import { type InvoiceRow } from '../../../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../src/shared/domain/payment-row.js';
import { type InvoiceFacts } from '../../../../../src/shared/domain/ports/billing-platform.js';
import { type DecisionSettings } from '../../../../../src/shared/domain/settings.js';
import { applyInvoice } from '../../../../../src/core/invoices/rules/invoice.js';
import { relayCall } from '../../../../../src/core/invoices/rules/relay.js';
import { refusal } from '../../../../support/builders/asked-refund.js';
import {
  anInvoice,
  aPaymentFailed,
  aPaymentSucceeded,
  aRefund,
  delivery,
  INVOICE_ID,
  invoiceEvent,
  START,
} from '../../../../support/builders/events.js';
import { facts, NOW, open } from '../../../../support/builders/channel-lane.js';
import { aLink, aProforma, withObjects } from '../../../../support/builders/channel-object.js';
import { failed } from '../../../../support/fakes/fake-platform.js';
import { LaneHarness } from '../../../../support/rigs/lane-harness.js';
import { never } from '../../../../support/never.js';
import { DAY_MS, HOUR_MS, refused, relayed, retry, type Rig, rig, state } from '../../../../support/rigs/retry-rig.js';
import { wanted } from '../../../../support/builders/settled.js';
import { applyEvent } from '../../../../support/rigs/settle-rule.js';
import * as waiting from '../../../../support/builders/waiting-payment.js';
import { onStates } from '../../../../support/rigs/decide.js';
import { Lane } from '../../../../../src/engine/lane.js';

const { at, payment } = waiting;
const ctx = (over: Partial<DecisionSettings> = {}, ms = 0): Ctx => waiting.ctx(over, ms);
const lane = (over: Partial<InvoiceFacts> = {}, row: Partial<InvoiceRow> = {}, ...payments: PaymentRow[]): LaneState =>
  waiting.withInvoice(waiting.lane(over, ...payments), row);
const texts = (state: LaneState) => state.journal.map((l) => l.text);
const event = (over: Partial<InvoiceFacts> = {}, type = 'invoice.created', when = NOW): InvoiceEvent => ({
  ...{
    family: 'invoice',
    eventId: 'evt_1',
    type,
    at: when,
    facts: facts({ status: 'draft', ...over }),
    raw: '{"id":"evt_1"}',
  },
});
const relay = ctx({ relay: 'created' });
const linked = { enrolment: { by: 'linked' } } as const;

const withRelay = (state: LaneState): LaneState => applyEvent(applyInvoice, state, event(), relay).state;
const draft = withRelay(lane({ status: 'draft' }));
const [m = never()] = draft.calls;
const status = (state: LaneState) => wanted(state, ctx({}, 5_000)).calls.map((x) => x.status);

it("Crossbill withdraws the pending relay of an invoice's event after a payment or after the end of the invoice", () => {
  expect(status(draft)).toEqual(['pending']);
  expect(status({ ...draft, invoice: null })).toEqual(['pending']);
  const over = { ...draft, invoice: lane({ status: 'void' }).invoice };
  const back = wanted(over, ctx({}, 5_000));
  expect(back.calls).toMatchObject([{ status: 'cancelled', answeredAt: at(5_000) }]);
  expect(texts(back)).toEqual(['relay_event taken back: the invoice is void']);
  expect(texts(wanted(putPayment(draft, payment()), ctx()))).toEqual(['relay_event taken back: payment pay_1 came']);
  const given = lane({ status: 'uncollectible' });
  expect(texts(wanted({ ...draft, invoice: given.invoice }, ctx()))).toEqual([
    'relay_event taken back: the invoice is uncollectible',
  ]);
});

it('Crossbill withdraws a pending relay after a refused payment, or while the invoice has a link or a proforma invoice', () => {
  const why = (state: LaneState) => texts(wanted(state, ctx({}, 5_000)));
  expect(why(putPayment(draft, payment({ mark: 'none' })))).toEqual([
    'relay_event taken back: the MoR already knows the invoice: it reported payment pay_1',
  ]);
  expect(status(putPayment(draft, payment({ mark: 'none', recordedAt: at(-1) })))).toEqual(['pending']);
  for (const o of [aLink({ deadline: at(60_000) }), aProforma()])
    expect(why(withObjects(draft, o))).toEqual(['relay_event taken back: the customer can pay it another way now']);
  expect(status(withObjects(draft, aLink({ deadline: at(1_000) })))).toEqual(['pending']);
});

it('Crossbill reads an invoice older than an hour from Stripe before it relays the event', () => {
  const { readFirst } = relayCall;
  const of = (lane: Lane): boolean => typeof readFirst === 'function' && readFirst(lane.invoice ?? never(), lane);
  const asks = (createdAt: Date | null, readAttempts = 0): boolean =>
    of(new Lane(lane({ createdAt }, { readAttempts }), ctx()));
  expect([asks(at(-3_600_000)), asks(at(1 - 3_600_000)), asks(null)]).toEqual([true, false, false]);
  expect([asks(at(-3_600_000), 9), asks(at(-3_600_000), 10)]).toEqual([true, false]); // Stripe cannot be asked
});

it('a void invoice does not withdraw a relay already accepted by the MoR', () => {
  const over = { ...draft, invoice: lane({ status: 'void' }).invoice };
  expect(status(putCall(over, { ...m, status: 'done' }))).toEqual(['done']);
});

it('a relay waits until the customer’s enrolment is known, and comes after all other calls', () => {
  expect(onStates(relayCall).waits(draft, relay)).toBe(false);
  expect(onStates(relayCall).waits(draft, ctx(linked))).toBe(true);
  expect([relayCall.order, onStates(relayCall).answered(draft, m, { kind: 'relay_event' }, relay)]).toEqual([3, draft]);
});

it("a refused relay opens a review item, and the operator's retry sends the same event", () => {
  const refused = putCall(draft, { ...m, status: 'refused' });
  const notified = onStates(relayCall).refused(refused, m, refusal({ status: 400, code: 'no' }), relay);
  expect(open(notified)).toMatchObject([
    {
      ...{ kind: 'effect_failed', subject: 'relay_event:evt_1' },
      fact: { code: 'relay-refused', error: 'no' },
    },
  ]);
  const choose = (resolution: 'retry' | 'dismiss', subject = 'relay_event:evt_1') => {
    const r = { ...(notified.reviews[0] ?? never()), subject };
    const done = onStates(relayCall).resolve(notified, r, { resolution, note: null, by: 'ada' }, relay) ?? never();
    return done.ok ? done.state.calls.map((x) => x.status) : done.code;
  };
  expect(choose('retry')).toEqual(['pending']);
  expect(choose('dismiss')).toEqual(['refused']);
  expect(choose('retry', 'relay_event:evt_9')).toEqual(['refused']);
  const beside = putCall(notified, { ...m, id: 'out_0', kind: 'retry_charge', status: 'refused' });
  const first = { ...beside, calls: beside.calls.toReversed() };
  const r = notified.reviews[0] ?? never();
  const again = onStates(relayCall).resolve(first, r, { resolution: 'retry', note: null, by: 'ada' }, relay) ?? never();
  expect(again).toMatchObject({ ok: true, state: { calls: [{ status: 'refused' }, { status: 'pending' }] } });
});

it.each(['invoice.paid', 'invoice.voided', 'invoice.deleted'] as const)(
  'Crossbill does not relay an invoice.created event that arrives after %s',
  async (type) => {
    const h = LaneHarness.withInvoice({}, { settings: { relay: 'created' } });
    await h.take(invoiceEvent(type, { eventId: 'evt_over' }));
    await h.take(invoiceEvent('invoice.created', { eventId: 'evt_late' }));
    expect(h.relay.sent).toEqual([]);
  },
);

it.each(['invoice.paid', 'invoice.voided', 'invoice.deleted'] as const)(
  'Crossbill withdraws an unanswered relay of invoice.created after %s',
  async (type) => {
    const h = LaneHarness.withInvoice({}, { settings: { relay: 'created' } });
    h.relay.down = true;
    await h.take(invoiceEvent('invoice.created'));
    const tried = h.relay.sent.length;
    expect(tried).toBeGreaterThan(0);
    await h.take(invoiceEvent(type, { at: new Date(START.getTime() + 1_000) }));
    h.relay.down = false;
    await h.idle(48);
    expect(h.relay.sent).toHaveLength(tried);
    const s = await h.state(INVOICE_ID);
    expect(s.calls.map((m) => [m.kind, m.status])).toEqual([['relay_event', 'cancelled']]);
    expect(s.reviews).toEqual([]);
  },
);

it.each([
  ['payment', aPaymentSucceeded()],
  ['refund', aRefund({ amount: 1000, total: 1000 })],
  ['refused payment', aPaymentFailed()],
])('a %s withdraws the unanswered relay of its invoice', async (_, event) => {
  const h = LaneHarness.withInvoice({}, { settings: { relay: 'created' } });
  h.relay.down = true;
  await h.take(invoiceEvent('invoice.created'));
  const tried = h.relay.sent.length;
  await h.take(event);
  h.relay.down = false;
  await h.idle(48);
  expect(h.relay.sent).toHaveLength(tried);
  const relays = (await h.state(INVOICE_ID)).calls.filter((m) => m.kind === 'relay_event');
  expect(relays.map((m) => m.status)).toEqual(['cancelled']);
});

it.each(['paid', 'void', 'uncollectible'] as const)(
  'Crossbill does not relay a late invoice.created event of an invoice already %s on Stripe',
  async (status) => {
    const h = LaneHarness.inMemory({ settings: { relay: 'created' } });
    h.clock.advance(20 * HOUR_MS);
    h.platform.put(anInvoice({ status }));
    await h.take(invoiceEvent('invoice.created'));
    expect(h.relay.sent).toEqual([]);
    const why = `relay_event taken back: the invoice is ${status}`;
    expect((await h.state(INVOICE_ID)).journal.map((l) => l.text)).toContainEqual(why);
  },
);

it('Crossbill relays a late invoice.created event of a payable invoice', async () => {
  const h = LaneHarness.inMemory({ settings: { relay: 'created' } });
  h.clock.advance(20 * HOUR_MS);
  h.platform.put(anInvoice());
  await h.take(invoiceEvent('invoice.created'));
  expect(h.relay.sent).toHaveLength(1);
});

it('Crossbill relays a late invoice.created event if Stripe does not know the invoice or does not reply', async () => {
  const h = LaneHarness.inMemory({ settings: { relay: 'created' } });
  h.clock.advance(20 * HOUR_MS);
  await h.take(invoiceEvent('invoice.created'));
  expect(h.relay.sent).toHaveLength(1);
  const away = LaneHarness.inMemory({ settings: { relay: 'created' } });
  away.clock.advance(20 * HOUR_MS);
  away.platform.put(anInvoice());
  away.platform.fail('read', ...Array.from({ length: 12 }, () => 'retry' as const));
  await away.take(invoiceEvent('invoice.created'));
  await away.idle(0.05);
  expect(away.relay.sent).toEqual([]);
  await away.idle(0.5);
  expect(away.relay.sent).toHaveLength(1);
});

it('a few failed reads do not make Crossbill relay a late invoice.created event of a void invoice', async () => {
  const h = LaneHarness.inMemory({ settings: { relay: 'created' } });
  h.clock.advance(20 * HOUR_MS);
  h.platform.put(anInvoice({ status: 'void' }));
  h.platform.fail('read', 'retry', 'retry', 'retry', 'retry', 'retry');
  await h.take(invoiceEvent('invoice.created'));
  await h.idle(2);
  expect(h.relay.sent).toEqual([]);
});

it.each(['once', 'never'] as const)(
  'after an outage of the MoR and of Stripe, Crossbill relays only after a new read of the invoice (Crossbill had read it %s)',
  async (read) => {
    const h = LaneHarness.inMemory({ settings: { relay: 'created' }, seed: 2 });
    h.clock.advance(20 * HOUR_MS);
    h.platform.put(anInvoice());
    h.relay.down = true;
    const away = Array.from({ length: 400 }, () => 'retry' as const);
    if (read === 'never') h.platform.fail('read', ...away);
    await h.take(invoiceEvent('invoice.created'));
    h.platform.fail('read', ...away);
    await h.idle(5);
    const tried = h.relay.sent.length;
    expect(tried).toBeGreaterThan(2); // Stripe, which cannot be asked, keeps no renewal from being charged
    h.platform.trouble.length = 0;
    h.relay.down = false;
    h.platform.put(anInvoice({ status: 'void' })); // and no event has told of it yet
    await h.idle(3);
    expect(h.relay.sent).toHaveLength(tried);
  },
);

it('Crossbill relays a new invoice.created event without a read of the invoice', async () => {
  const h = LaneHarness.withInvoice({ status: 'draft' }, { settings: { relay: 'created' } });
  await h.take(invoiceEvent('invoice.created', { createdAt: START }));
  expect([h.relay.sent.length, h.platform.asked]).toEqual([1, []]);
});

it('Crossbill does not relay a long waiting invoice.created event if the invoice became void without an event', async () => {
  const h = LaneHarness.withInvoice({}, { settings: { relay: 'created' } });
  h.relay.down = true;
  await h.take(invoiceEvent('invoice.created', { createdAt: START }));
  await h.idle(2);
  const tried = h.relay.sent.length;
  h.platform.put(anInvoice({ status: 'void' }));
  h.relay.down = false;
  await h.idle(3);
  expect(h.relay.sent).toHaveLength(tried);
});

it('Crossbill relays only one of two invoice.created events of a new invoice', async () => {
  const h = LaneHarness.withInvoice({}, { settings: { relay: 'created' } });
  await h.take(invoiceEvent('invoice.created', { eventId: 'evt_1' }));
  await h.take(invoiceEvent('invoice.created', { eventId: 'evt_2' }));
  expect(h.relay.sent).toHaveLength(1);
  await h.take(aPaymentFailed());
  h.clock.advance(1);
  await h.take(invoiceEvent('invoice.created', { eventId: 'evt_3' })); // a retry, as the MoR's documents have it
  expect(h.relay.sent).toHaveLength(2);
});

it('if an operator repeats a stored invoice.created event, Crossbill does not relay the event again', async () => {
  const h = LaneHarness.withInvoice({}, { settings: { relay: 'created' } });
  await h.take(invoiceEvent('invoice.created'));
  expect(h.relay.sent).toHaveLength(1);
  const store = h.backend.repository as unknown as { events: { status: string }[] };
  for (const e of store.events) e.status = 'received'; // an operator asked for it
  await h.drain();
  expect(h.relay.sent).toHaveLength(1);
});

const ids = (rig: Rig): string[] => relayed(rig).map((e) => e.id);

async function refusedByItsAddress({ h }: Rig, eventId: string): Promise<void> {
  const send = h.relay.send.bind(h.relay);
  h.relay.send = async () => failed('refused', { status: 404 });
  await h.take(invoiceEvent('invoice.created', { eventId, at: h.clock.now() }));
  h.relay.send = send;
}

async function sendAgain(rig: Rig): Promise<void> {
  await chooseItem(rig.h, 'retry', { kind: 'effect_failed' });
  await rig.h.idle(1);
}

it('the choice `retry` sends a refused invoice.created event to the MoR again', async () => {
  const r = rig({ retrySchedule: null });
  await refusedByItsAddress(r, 'evt_a');
  await sendAgain(r);
  expect(ids(r)).toEqual(['evt_a']);
});

it('the choice `retry` does not send a refused invoice.created event if the MoR received another invoice.created event', async () => {
  const r = rig({ retrySchedule: null });
  await refusedByItsAddress(r, 'evt_a');
  await r.h.take(invoiceEvent('invoice.created', { eventId: 'evt_b' }));
  await sendAgain(r);
  expect(ids(r)).toEqual(['evt_b']);
});

it('the choice `retry` does not send a refused invoice.created event after the operator’s own retry of the charge', async () => {
  const r = rig({ retrySchedule: null, recoveryLinks: null });
  await refused(r);
  r.h.clock.advance(HOUR_MS);
  await refusedByItsAddress(r, 'evt_b');
  expect((await retry(r)).ok).toBe(true);
  await r.h.idle(1);
  await sendAgain(r);
  expect(ids(r)).toEqual([expect.stringMatching(/^evt_crossbill_/)]);
});

it('Crossbill relays no new invoice.created event after a payment on a payment link, even on an expired link', async () => {
  const r = rig({ retrySchedule: null });
  const { h } = r;
  await refused(r);
  await h.idle(1);
  const [id, type] = ['evt_captured', 'payment.captured'];
  const data = { paymentLinkId: 'link_1', pspReference: 'ch_9' };
  h.clock.advance(7 * DAY_MS);
  const created = h.clock.now().toISOString();
  await h.take(delivery('mor_events', id, type, INVOICE_ID, { id, type, created, data }));
  expect((await state(r)).objects.map((o) => o.status)).toEqual(['EXPIRED']);
  await h.take(invoiceEvent('invoice.created', { eventId: 'evt_b', at: h.clock.now() }));
  await h.idle(1);
  expect(ids(r)).toEqual([]);
});
