// A renewal from Stripe's events to the MoR: what is relayed, taken back, and read.
import { withWords } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { addCall, type Ctx, emptyLane, putMessage, putPayment } from '../../src/engine/change.js';
import { type InvoiceEvent } from '../../src/engine/event.js';
import { type InvoiceRow, type LaneState, type OutboxRow, type PaymentRow } from '../../src/domain/model.js';
import { type InvoiceFacts } from '../../src/domain/ports/billing-platform.js';
import { type FlowSettings } from '../../src/domain/settings.js';
import { applyInvoice } from '../../src/invoices/rules/invoice-event.js';
import { nextLookup } from '../../src/engine/lookup.js';
import { invoiceLookup } from '../../src/engine/read-invoice.js';
import { applyRead } from '../support/settle-rule.js';
import { relayCall } from '../../src/invoices/rules/relay.js';
import { refusal } from '../support/asked-refund.js';
import { facts, NOW, open } from '../support/channel-lane.js';
import { aLink, aProforma, withObjects } from '../support/channel-object.js';
import { never } from '../support/never.js';
import { TRAIL } from '../support/refused-renewal.js';
import { wanted } from '../support/settled.js';
import * as waiting from '../support/waiting-payment.js';

const { at, payment } = waiting;
const ctx = (over: Partial<FlowSettings> = {}, ms = 0): Ctx => waiting.ctx(over, ms);
const lane = (over: Partial<InvoiceFacts> = {}, row: Partial<InvoiceRow> = {}, ...payments: PaymentRow[]): LaneState =>
  waiting.withInvoice(waiting.lane(over, ...payments), row);
const texts = (s: LaneState) => s.journal.map((l) => l.text);
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
const relay = ctx({ relay: true });
const linked = { enrolment: { by: 'linked' } } as const;

describe('the event of a new invoice', () => {
  const taken = (e: InvoiceEvent, of = relay, s = emptyLane('in_1')) => applyInvoice(s, e, of);

  it('is relayed to the MoR byte for byte, once, and its verdict is expected', () => {
    const { state, verdict } = taken(event());
    expect(state.messages).toMatchObject([
      {
        peer: 'relay',
        kind: 'relay_event',
        subject: 'evt_1',
        status: 'pending',
        wire: { method: 'POST', body: '{"id":"evt_1"}' },
      },
    ]);
    expect(verdict).toEqual({ status: 'done', reason: "the MoR's verdict is expected for 29.90 EUR" });
    expect(taken(event(), relay, state).state.messages).toHaveLength(1);
    const other = addCall(emptyLane('in_1'), relay, { kind: 'finalize_invoice', invoiceId: 'evt_1' }, 'evt_1');
    expect(taken(event(), relay, other).state.messages).toHaveLength(2);
  });

  it('that comes a second time under another id is relayed after a refusal alone, as a retry', () => {
    const again = { ...event(), eventId: 'evt_2' };
    const first = taken(event()).state;
    const asked = taken(again, relay, first).state;
    expect(asked.messages).toHaveLength(1);
    expect(texts(asked)).toEqual(['not relayed: the MoR was asked to charge it before, and has not answered']);
    const of = (status: OutboxRow['status']) => putMessage(first, { ...(first.messages[0] ?? never()), status });
    expect(taken(again, relay, of('done')).state.messages).toHaveLength(1);
    expect(taken(again, relay, of('refused')).state.messages).toHaveLength(2);
    expect(taken(again, relay, putPayment(of('done'), payment({ mark: 'none' }))).state.messages).toHaveLength(2);
    const trail = { ...TRAIL, waitingSince: NOW.toISOString() };
    const retried = lane({ status: 'open' }, { retries: trail }, payment({ mark: 'none' }));
    expect(taken(again, relay, retried).state.messages).toHaveLength(0);
  });

  it.each<readonly [string, InvoiceEvent, Ctx, LaneState, string, string | null]>([
    ['the relay is off', event(), ctx(), emptyLane('in_1'), 'done', "the MoR's verdict is expected for 29.90 EUR"],
    [
      'it is paid at signup',
      event({ billingReason: 'subscription_create' }),
      relay,
      emptyLane('in_1'),
      'ignored',
      'paid at signup, not a renewal',
    ],
    [
      'it was paid before the event came',
      event(),
      relay,
      lane({ status: 'paid' }),
      'done',
      "the MoR's verdict is expected for 29.90 EUR",
    ],
    ['its customer is not enrolled', event(), relay, lane({}, { enrolled: false }), 'ignored', 'not enrolled'],
    ['the event is another one', event({}, 'invoice.finalized'), relay, emptyLane('in_1'), 'done', null],
  ])('is not relayed where %s', (_, e, of, s, status, reason) => {
    const { state, verdict } = taken(e, of, s);
    expect(state.messages).toEqual([]);
    expect(verdict).toEqual({ status, reason });
  });

  it('over nothing says that nothing is due; before the enrolment is known it says that', () => {
    expect(taken(event({ amountDue: 0n })).verdict).toEqual({ status: 'ignored', reason: 'nothing is due' });
    const unknown = taken(event(), ctx({ relay: true, ...linked }));
    expect(unknown.verdict).toEqual({ status: 'done', reason: 'whether its customer is enrolled is looked up' });
    expect(unknown.state.messages).toHaveLength(1);
  });

  it('enrols its customer where its metadata say so', () => {
    const enrolment = { by: 'metadata', key: 'mor', value: 'yes' } as const;
    const { state } = taken(event({ metadata: { mor: 'yes' } }), ctx({ enrolment }));
    expect(state.invoice?.enrolled).toBe(true);
  });
});

describe('an event of an invoice', () => {
  const taken = (e: InvoiceEvent, s = lane()) => applyInvoice(s, e, ctx({}, 5_000)).state;

  it('that was deleted shows it so, whatever its facts say', () => {
    expect(taken(event({}, 'invoice.deleted', at(1)), lane({ status: 'draft' })).invoice?.platformStatus).toBe(
      'deleted',
    );
    expect(taken(event({}, 'invoice.updated', at(1)), lane({ status: 'draft' })).invoice?.platformStatus).toBe('draft');
  });

  it('that Stripe wants paid is written into its retries, and no other event is', () => {
    const s = lane({}, { retries: TRAIL });
    const asked = (type: string) => taken(event({ status: 'open' }, type, at(1)), s).invoice?.retries?.askedAt;
    expect(asked('invoice.payment_attempt_required')).toBe(at(1).toISOString());
    expect(asked('invoice.updated')).toBeNull();
  });

  it('that names an overpayment which is not known has the invoice read', () => {
    const late = (amountOverpaid: bigint, known: bigint) => {
      const s = lane({ status: 'paid', amountOverpaid: known });
      return taken(event({ status: 'open', amountOverpaid }, 'invoice.overpaid', at(-1)), s).invoice?.readDueAt;
    };
    expect(late(100n, 0n)).toEqual(at(5_000));
    expect(late(100n, 100n)).toBeNull();
    expect(late(0n, 100n)).toBeNull();
  });
});

describe('the relay of an event that waits', () => {
  const relayed = (s: LaneState): LaneState => applyInvoice(s, event(), relay).state;
  const draft = relayed(lane({ status: 'draft' }));
  const [m = never()] = draft.messages;
  const status = (s: LaneState) => wanted(s, ctx({}, 5_000)).messages.map((x) => x.status);

  it('is taken back once its money came or its invoice is over, and not before', () => {
    expect(status(draft)).toEqual(['pending']);
    expect(status({ ...draft, invoice: null })).toEqual(['pending']);
    const over = { ...draft, invoice: lane({ status: 'void' }).invoice };
    const back = wanted(over, ctx({}, 5_000));
    expect(back.messages).toMatchObject([{ status: 'cancelled', answeredAt: at(5_000) }]);
    expect(texts(back)).toEqual(['relay_event taken back: the invoice is void']);
    expect(texts(wanted(putPayment(draft, payment()), ctx()))).toEqual(['relay_event taken back: payment pay_1 came']);
    const given = lane({ status: 'uncollectible' });
    expect(texts(wanted({ ...draft, invoice: given.invoice }, ctx()))).toEqual([
      'relay_event taken back: the invoice is uncollectible',
    ]);
  });

  it('is taken back once the MoR has refused it, or the customer can pay another way', () => {
    const why = (s: LaneState) => texts(wanted(s, ctx({}, 5_000)));
    expect(why(putPayment(draft, payment({ mark: 'none' })))).toEqual([
      'relay_event taken back: the MoR has heard of it: it spoke of payment pay_1',
    ]);
    expect(status(putPayment(draft, payment({ mark: 'none', recordedAt: at(-1) })))).toEqual(['pending']);
    for (const o of [aLink({ deadline: at(60_000) }), aProforma()])
      expect(why(withObjects(draft, o))).toEqual(['relay_event taken back: the customer can pay it another way now']);
    expect(status(withObjects(draft, aLink({ deadline: at(1_000) })))).toEqual(['pending']);
  });

  it('comes after a read of its invoice where that is an hour old', () => {
    const { readFirst } = relayCall;
    const asks = (createdAt: Date | null, readAttempts = 0): boolean =>
      typeof readFirst === 'function' && readFirst(lane({ createdAt }, { readAttempts }).invoice ?? never(), ctx());
    expect([asks(at(-3_600_000)), asks(at(1 - 3_600_000)), asks(null)]).toEqual([true, false, false]);
    expect([asks(at(-3_600_000), 9), asks(at(-3_600_000), 10)]).toEqual([true, false]); // Stripe cannot be asked
  });

  it('leaves alone what was answered', () => {
    const over = { ...draft, invoice: lane({ status: 'void' }).invoice };
    expect(status(putMessage(over, { ...m, status: 'done' }))).toEqual(['done']);
  });

  it('waits while it is not known whether the customer is enrolled, and goes last', () => {
    expect(relayCall.waits?.(draft, relay)).toBe(false);
    expect(relayCall.waits?.(draft, ctx(linked))).toBe(true);
    expect([relayCall.order, relayCall.answered(draft, m, { kind: 'relay_event' }, relay)]).toEqual([3, draft]);
  });

  it('that the MoR refuses is for a person, whose retry sends the same event again', () => {
    const refused = putMessage(draft, { ...m, status: 'refused' });
    const told = relayCall.refused(refused, m, refusal({ status: 400, code: 'no' }), relay);
    expect(withWords(open(told))).toMatchObject([
      {
        ...{ kind: 'effect_failed', subject: 'relay_event:evt_1', summary: 'relay_event was refused: 400 no' },
        proposal: expect.stringContaining('it may not charge this renewal'),
      },
    ]);
    const choose = (resolution: 'retry' | 'dismiss', subject = 'relay_event:evt_1') => {
      const r = { ...(told.reviews[0] ?? never()), subject };
      const done = relayCall.resolve?.(told, r, { resolution, note: null, by: 'ada' }, relay) ?? never();
      return done.ok ? done.state.messages.map((x) => x.status) : done.code;
    };
    expect(choose('retry')).toEqual(['pending']);
    expect(choose('dismiss')).toEqual(['refused']);
    expect(choose('retry', 'relay_event:evt_9')).toEqual(['refused']);
    const beside = putMessage(told, { ...m, id: 'out_0', kind: 'retry_charge', status: 'refused' });
    const first = { ...beside, messages: beside.messages.toReversed() };
    const r = told.reviews[0] ?? never();
    const again = relayCall.resolve?.(first, r, { resolution: 'retry', note: null, by: 'ada' }, relay) ?? never();
    expect(again).toMatchObject({ ok: true, state: { messages: [{ status: 'refused' }, { status: 'pending' }] } });
  });
});

describe('a read of the invoice', () => {
  const read = (value: InvoiceFacts | null) =>
    applyRead(lane({}, { readAttempts: 2 }), { ok: true, value, status: 200, requestId: 'req_1' }, ctx({}, 5_000));

  it('says what is due, or that there is no such invoice, with the number of Stripe’s request', () => {
    const s = read(facts({ amountRemaining: 1990n }));
    expect(s.invoice).toMatchObject({ amountRemaining: 1990n, readAt: at(5_000), readAttempts: 0 });
    expect(s.journal).toMatchObject([
      {
        text: 'read from Stripe: open, 19.90 EUR due',
        detail: { call: 'read_invoice', requestId: 'req_1' },
        kind: 'call',
      },
    ]);
    expect(texts(read(null))).toEqual(['read from Stripe: no such invoice']);
    expect(read(null).invoice?.platformStatus).toBe('deleted');
  });

  it.each([
    ['retry', 1, 2_000],
    ['unknown', 1, 2_000],
    ['stopped', 1, 60_000],
    ['refused', 1, 60_000],
    ['retry', 4, 16_000],
  ] as const)('that fails (%s, after %i tries) is made again after %i ms', (kind, readAttempts, pause) => {
    const s = applyRead(lane({}, { readAttempts }), refusal({ kind, status: 500, requestId: 'req_2' }), ctx());
    expect(s.invoice).toMatchObject({ readAttempts: readAttempts + 1, readDueAt: at(pause), amountDue: 2990n });
    const said = {
      text: 'read from Stripe failed: 500 not_refundable no',
      detail: { call: 'read_invoice', requestId: 'req_2' },
    };
    expect(s.journal).toMatchObject(readAttempts < 3 ? [said] : []);
  });

  it('that fails is noted three times', () => {
    const noted = (readAttempts: number) => texts(applyRead(lane({}, { readAttempts }), refusal(), ctx())).length;
    expect([0, 2, 3].map(noted)).toEqual([1, 1, 0]);
  });

  it('is an errand where somebody asked for one, when its time has come', () => {
    const errand = (s: LaneState, isDue = true) => nextLookup(invoiceLookup)(s, ctx({}, isDue ? 0 : -1), () => isDue);
    const asked = lane({}, { readAt: null, readDueAt: at(0) });
    expect(errand(asked)).toMatchObject({ name: 'read-invoice', question: 'in_1' });
    expect(errand(asked, false)).toBeNull();
    for (const row of [{ readAt: null, readDueAt: null }, { readDueAt: at(0) }])
      expect(errand(lane({}, row))).toBeNull();
    expect(errand(emptyLane('in_1'))).toBeNull();
  });
});
