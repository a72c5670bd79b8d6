// Stripe's events of an invoice, and drafts that count as stuck.
import { describe, expect, it } from '@jest/globals';
import { eur } from '../../../../support/builders/channel-object.js';
import { type Ctx, emptyLane } from '../../../../../src/engine/context.js';
import { putPayment, putCall } from '../../../../support/builders/put-rows.js';
import { type InvoiceEvent } from '../../../../../src/engine/event.js';
import { declares } from '../../../../../src/engine/items.js';
import { type CallRow } from '../../../../../src/shared/domain/call-row.js';
import { type ReviewKind } from '../../../../../src/shared/domain/fact.js';
import { type InvoiceRow } from '../../../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../src/shared/domain/payment-row.js';
import { type Resolution } from '../../../../../src/shared/domain/review-row.js';
import { type InvoiceFacts } from '../../../../../src/shared/domain/ports/billing-platform.js';
import { type DecisionSettings } from '../../../../../src/shared/domain/settings.js';
import { chooseDraft, draftItems, applyInvoice } from '../../../../../src/core/invoices/rules/invoice.js';
import { aPaymentSucceeded, anInvoice, INVOICE_ID, invoiceEvent, START } from '../../../../support/builders/events.js';
import { facts, NOW, open } from '../../../../support/builders/channel-lane.js';
import { aKind } from '../../../../support/builders/item-facts.js';
import { LaneHarness } from '../../../../support/rigs/lane-harness.js';
import { never } from '../../../../support/never.js';
import { HISTORY } from '../../../../support/builders/refused-renewal.js';
import { choose, applyEvent } from '../../../../support/rigs/settle-rule.js';
import * as waiting from '../../../../support/builders/waiting-payment.js';
import { decide, addCall, openReview } from '../../../../support/rigs/decide.js';

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
const HOUR_MS = 3_600_000;
const item = (state: LaneState, kind: ReviewKind, subject: string) =>
  openReview(state, ctx(), { ...aKind(kind), subject });
const relay = ctx({ relay: 'created' });
const linked = { enrolment: { by: 'linked' } } as const;

const taken = (event: InvoiceEvent, of = relay, state = emptyLane('in_1')) =>
  applyEvent(applyInvoice, state, event, of);

it('Crossbill relays a new invoice’s event to the MoR one time, byte for byte', () => {
  const { state, verdict: outcome } = taken(event());
  expect(state.calls).toMatchObject([
    {
      peer: 'relay',
      kind: 'relay_event',
      subject: 'evt_1',
      status: 'pending',
      wire: { method: 'POST', body: '{"id":"evt_1"}' },
    },
  ]);
  expect(outcome).toEqual({ status: 'done', reason: "the MoR's verdict is expected for 29.90 EUR" });
  expect(taken(event(), relay, state).state.calls).toHaveLength(1);
  const other = addCall(emptyLane('in_1'), relay, { kind: 'finalize_invoice', invoiceId: 'evt_1' }, 'evt_1');
  expect(taken(event(), relay, other).state.calls).toHaveLength(2);
});

it('Crossbill relays a second invoice.created event only after a refused relay or a declined charge', () => {
  const again = { ...event(), eventId: 'evt_2' };
  const first = taken(event()).state;
  const asked = taken(again, relay, first).state;
  expect(asked.calls).toHaveLength(1);
  expect(texts(asked)).toEqual(['not relayed: the MoR has not yet answered an earlier request to charge it']);
  const of = (status: CallRow['status']) => putCall(first, { ...(first.calls[0] ?? never()), status });
  expect(taken(again, relay, of('done')).state.calls).toHaveLength(1);
  expect(taken(again, relay, of('refused')).state.calls).toHaveLength(2);
  expect(taken(again, relay, putPayment(of('done'), payment({ mark: 'none' }))).state.calls).toHaveLength(2);
  const history = { ...HISTORY, waitingSince: NOW.toISOString() };
  const retried = lane({ status: 'open' }, { retries: history }, payment({ mark: 'none' }));
  expect(taken(again, relay, retried).state.calls).toHaveLength(0);
});

it.each<readonly [string, InvoiceEvent, Ctx, LaneState, string, string | null]>([
  [
    'the relay is off in the settings',
    event(),
    ctx(),
    emptyLane('in_1'),
    'done',
    "the MoR's verdict is expected for 29.90 EUR",
  ],
  [
    'the invoice belongs to a signup',
    event({ billingReason: 'subscription_create' }),
    relay,
    emptyLane('in_1'),
    'ignored',
    'paid at signup, not a renewal',
  ],
  [
    'the invoice is paid already',
    event(),
    relay,
    lane({ status: 'paid' }),
    'done',
    "the MoR's verdict is expected for 29.90 EUR",
  ],
  ['the customer is not enrolled', event(), relay, lane({}, { enrolled: false }), 'ignored', 'not enrolled'],
  ['the event is no invoice.created', event({}, 'invoice.finalized'), relay, emptyLane('in_1'), 'done', null],
])('Crossbill does not relay an event if %s', (_, e, of, s, status, reason) => {
  const { state, verdict: outcome } = taken(e, of, s);
  expect(state.calls).toEqual([]);
  expect(outcome).toEqual({ status, reason });
});

it('if nothing is due, or while the enrolment lookup is open, Crossbill’s decision on an invoice event gives this reason', () => {
  expect(taken(event({ amountDue: 0n, status: 'open' })).verdict).toEqual({
    status: 'ignored',
    reason: 'nothing is due',
  });
  expect(taken(event({ amountDue: 0n })).verdict).toEqual({
    status: 'ignored',
    reason: 'nothing is due yet: the final invoice decides',
  });
  const unknown = taken(event(), ctx({ relay: 'created', ...linked }));
  expect(unknown.verdict).toEqual({ status: 'done', reason: 'Crossbill checks whether its customer is enrolled' });
  expect(unknown.state.calls).toHaveLength(1);
});

it('the metadata of a subscription’s invoice enrols its customer', () => {
  const enrolment = { by: 'metadata', key: 'mor', value: 'yes' } as const;
  const { state } = taken(event({ metadata: { mor: 'yes' } }), ctx({ enrolment }));
  expect(state.invoice?.enrolled).toBe(true);
});

describe('an event of an invoice', () => {
  const taken = (event: InvoiceEvent, state = lane()) => applyEvent(applyInvoice, state, event, ctx({}, 5_000)).state;

  it('Crossbill shows an invoice as deleted after its invoice.deleted event, whatever status the event carries', () => {
    expect(taken(event({}, 'invoice.deleted', at(1)), lane({ status: 'draft' })).invoice?.platformStatus).toBe(
      'deleted',
    );
    expect(taken(event({}, 'invoice.updated', at(1)), lane({ status: 'draft' })).invoice?.platformStatus).toBe('draft');
  });

  it('only an invoice.payment_attempt_required event counts as Stripe’s request for a retry', () => {
    const s = lane({}, { retries: HISTORY });
    const asked = (type: string) => taken(event({ status: 'open' }, type, at(1)), s).invoice?.retries?.askedAt;
    expect(asked('invoice.payment_attempt_required')).toBe(at(1).toISOString());
    expect(asked('invoice.updated')).toBeNull();
  });

  it('an event with an overpaid amount above the known amount makes Crossbill read the invoice', () => {
    const late = (amountOverpaid: bigint, known: bigint) => {
      const s = lane({ status: 'paid', amountOverpaid: known });
      return taken(event({ status: 'open', amountOverpaid }, 'invoice.overpaid', at(-1)), s).invoice?.readDueAt;
    };
    expect(late(100n, 0n)).toEqual(at(5_000));
    expect(late(100n, 100n)).toBeNull();
    expect(late(0n, 100n)).toBeNull();
  });
});

const watched = (state: LaneState, of: Ctx): LaneState => decide(state, of, declares(draftItems));
const stuck = { status: 'draft', finalizationError: 'no tax location' } as const;
const held = (over: Partial<PaymentRow> = {}) => ({ ...payment({ mark: 'held' }), ...over });
const late = ctx({}, 73 * HOUR_MS);

it('a draft with a failed finalization opens a review item with Stripe’s reason', () => {
  expect(open(watched(lane(stuck), ctx()))).toMatchObject([
    {
      ...{ kind: 'finalization_failed', subject: 'in_1', paymentRowId: null },
      fact: { code: 'finalization-failed', said: 'no tax location' },
    },
  ]);
});

it('a draft with a waiting payment opens a review item after 73 hours', () => {
  const s = lane({ status: 'draft' }, {}, payment({ id: 'pmt_0', mark: 'closed' }), held());
  expect(watched(s, ctx({}, 73 * HOUR_MS - 1))).toBe(s);
  expect(open(watched(s, late))).toMatchObject([
    {
      ...{ kind: 'finalization_failed', subject: 'in_1', paymentRowId: 'pmt_1' },
      fact: { code: 'draft-waits', taken: eur(2990n), since: '2026-11-20T12:00:00.000Z' },
    },
  ]);
});

it.each<readonly [string, LaneState]>([
  ['no payment waits', lane({ status: 'draft' }, {}, payment({ mark: 'closed' }))],
  ['the payment’s amount is unknown', lane({ status: 'draft' }, {}, held({ amount: null }))],
  ['the payment just arrived', lane({ status: 'draft' }, {}, held({ recordedAt: at(1) }))],
  ['the invoice is unknown', emptyLane('in_1')],
  ['the invoice is final', lane({}, {}, held())],
])('a draft opens no review item if %s', (_, s) => {
  expect(watched(s, late)).toBe(s);
});

it('the finalization of a draft closes its review item, and no other item', () => {
  const asked = item(item(lane(), 'finalization_failed', 'in_1'), 'dispute', 'in_1');
  const done = watched(asked, ctx());
  expect(open(done).map((r) => r.kind)).toEqual(['dispute']);
  expect(done.reviews[0]).toMatchObject({ resolution: 'cleared' });
});

it('the choice `retry` on a failed finalization moves the held payments back to waiting', () => {
  const parked = payment({ id: 'pmt_2', mark: 'parked' });
  const stuck = lane({ status: 'draft' }, { finalizationError: 'no address' }, payment({ mark: 'held' }), parked);
  const chosen = (resolution: Resolution, state = stuck) =>
    choose(chooseDraft, state, {} as never, { resolution, note: null, by: 'ops' }, ctx());
  expect(chosen('retry')).toMatchObject({
    payments: [{ mark: 'waiting' }, { mark: 'parked' }],
    invoice: { finalizationError: null, readAt: null },
  });
  expect(chosen('dismiss')).toBe(stuck);
  const unknown = { ...stuck, invoice: null };
  expect(chosen('retry', unknown)).toBe(unknown);
});

it('an invoice.finalization_failed event opens a review item, even if the event is a second older than the draft', async () => {
  const h = LaneHarness.inMemory();
  const open = async (): Promise<string[]> =>
    (await h.state(INVOICE_ID)).reviews.filter((r) => r.status === 'open').map((r) => r.kind);
  h.platform.put(anInvoice({ status: 'draft' }));
  await h.take(invoiceEvent('invoice.created'), aPaymentSucceeded());
  await h.idle(0.1);
  const at = new Date(START.getTime() - 1_000);
  await h.take(invoiceEvent('invoice.finalization_failed', { status: 'draft', at }));
  await h.idle(0.1);
  expect(await open()).toEqual(['finalization_failed']);
  h.platform.change(INVOICE_ID, { status: 'open' });
  await h.take(invoiceEvent('invoice.finalized'));
  expect([(await h.state(INVOICE_ID)).invoice?.status, await open()]).toEqual(['paid', []]);
});

it('Crossbill reads a late draft at growing pauses, and marks it paid after its invoice.finalized event', async () => {
  const h = LaneHarness.withInvoice({ status: 'draft', finalizesAt: new Date(START.getTime() + 3_600_000) });
  await h.take(aPaymentSucceeded());
  await h.idle(6);
  expect(h.platform.asked.length).toBeLessThan(30);
  h.clock.advance(60_000);
  h.platform.change(INVOICE_ID, { status: 'open' });
  await h.take(invoiceEvent('invoice.finalized', { at: h.clock.now() }));
  expect((await h.state(INVOICE_ID)).invoice?.status).toBe('paid');
});

it('Crossbill reads a late draft 1, 2, 4, 8 and 16 minutes after its planned finalization, and marks the finalized invoice paid', async () => {
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
  await h.idle(0.25);
  expect((await h.state(INVOICE_ID)).invoice?.status).toBe('paid');
});
