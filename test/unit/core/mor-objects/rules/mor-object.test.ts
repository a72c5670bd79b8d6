// What proforma invoices and payment links have in common: which object an event means, when Crossbill reads it, what money it brings, and
// when it stands next to a settled invoice.
import { FACTS } from '../../../../support/builders/item-facts.js';
import { expect, it } from '@jest/globals';
import { putPayment } from '../../../../support/builders/put-rows.js';
import { Lane } from '../../../../../src/engine/lane.js';
import { declares } from '../../../../../src/engine/items.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../src/shared/domain/payment-row.js';
import { dueDate, isPayableLink, type MorObjectRow } from '../../../../../src/shared/domain/mor-object.js';
import { linkLookup } from '../../../../../src/features/links/rules/link.js';
import { findOrAddObject } from '../../../../../src/core/mor-objects/rules/mor-object.js';
import { pollObjects, nextPoll, type ObjectLookup } from '../../../../../src/core/mor-objects/rules/read-object.js';
import { nameCustomers, applyMoney } from '../../../../../src/core/mor-objects/rules/object-money.js';
import { openObjectItems } from '../../../../../src/core/mor-objects/rules/open-objects.js';
import { proformaLookup } from '../../../../../src/features/transfers/rules/proforma.js';
import { LINK, NOW, open, PROFORMA } from '../../../../support/builders/channel-lane.js';
import {
  aLink,
  announced as anEvent,
  aProforma,
  eur,
  withObjects,
} from '../../../../support/builders/channel-object.js';
import { never } from '../../../../support/never.js';
import { applyObjectRead } from '../../../../support/rigs/object-calls.js';
import { at, ctx as on, lane, payment, withInvoice } from '../../../../support/builders/waiting-payment.js';
import { decide, openReview } from '../../../../support/rigs/decide.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const later = on({}, 5_000);

it('an event belongs to the link or proforma invoice with its id, or to a request still without an id, or to a new object, in this order', () => {
  const of = (morId: string, kind: MorObjectRow['kind'], ...objects: MorObjectRow[]) => ({
    ...findOrAddObject(new Lane(withObjects(lane(), ...objects), later), kind, morId),
  });
  const requested = aProforma({ id: 'pfm_2', status: 'REQUESTED', morId: null });
  expect(of(PROFORMA, 'proforma', aLink({ morId: PROFORMA }), requested, aProforma()).id).toBe('pfm_1');
  expect(of('pf_9', 'proforma', aLink({ status: 'REQUESTED', morId: null }), aProforma(), requested)).toMatchObject({
    ...{ id: 'pfm_2', morId: 'pf_9', status: 'REQUESTED' },
  });
  const named = aProforma({ status: 'REQUESTED' });
  for (const fresh of [
    of('pf_9', 'proforma', named),
    of('pf_9', 'proforma', aProforma({ morId: null })),
    of('pf_9', 'e_invoice', { ...requested, kind: 'e_invoice' }),
  ])
    expect(fresh).toMatchObject({ morId: 'pf_9', invoiceId: 'in_1', status: 'UNKNOWN', createdAt: at(5_000) });
});

const read = (object: MorObjectRow, ms: number) => nextPoll(object, at(ms))?.getTime() ?? null;
const in_ = (ms: number) => at(ms).getTime();

it('without events Crossbill reads a proforma invoice at pauses of half its age, from a minute to a day', () => {
  const o = aProforma({ deadline: at(30 * DAY_MS) });
  expect([0, 10 * MINUTE_MS, 4 * DAY_MS].map((ms) => read(o, ms))).toEqual([
    ...[in_(MINUTE_MS), in_(15 * MINUTE_MS), in_(5 * DAY_MS)],
  ]);
});

it('Crossbill reads a payment link for the last time a minute after it expires', () => {
  const link = aLink({ deadline: at(10 * MINUTE_MS) });
  expect(read(link, 9 * MINUTE_MS)).toBe(in_(11 * MINUTE_MS));
  expect(read(link, 0)).toBe(in_(MINUTE_MS));
  expect(read(link, 11 * MINUTE_MS)).toBe(in_(16.5 * MINUTE_MS));
  expect(read(aLink({ deadline: null }), 10 * MINUTE_MS)).toBe(in_(15 * MINUTE_MS));
  for (const status of ['PAID', 'EXPIRED', 'REQUESTED']) expect(read(aLink({ status }), 0)).toBeNull();
});

it('Crossbill goes on reading a link with an undocumented status, and treats it as payable until its expiry', () => {
  const link = aLink({ status: 'PROCESSING', deadline: at(10 * MINUTE_MS) });
  expect(read(link, 0)).toBe(in_(MINUTE_MS));
  expect(read(link, 20 * DAY_MS)).toBe(in_(21 * DAY_MS));
  expect([isPayableLink(link, at(0)), isPayableLink(link, at(DAY_MS))]).toEqual([true, false]);
  for (const status of ['UNKNOWN', 'PAID']) expect(isPayableLink(aLink({ status }), at(0))).toBe(false);
});

it('Crossbill goes on reading a proforma invoice with an undocumented status', () => {
  expect(read(aProforma({ status: 'UNDER_REVIEW' }), 0)).toBe(in_(MINUTE_MS));
});

it('Crossbill stops reading a proforma invoice after its settlement, its failure or the thirtieth day past its due date', () => {
  for (const status of ['REQUESTED', 'SETTLED', 'ISSUANCE_FAILED']) expect(read(aProforma({ status }), 0)).toBeNull();
  expect([dueDate(aProforma()), dueDate(aProforma({ deadline: at(1) }))]).toEqual([at(30 * DAY_MS), at(1)]);
  expect(read(aProforma(), 60 * DAY_MS)).toBe(in_(61 * DAY_MS));
  expect(read(aProforma(), 60 * DAY_MS + 1)).toBeNull();
  expect(read({ ...aLink({ status: 'ISSUED' }), kind: 'e_invoice' }, 0)).toBeNull();
});

it('Crossbill plans a read of each payment link and proforma invoice with an id at the MoR, and reads them when due', () => {
  const objects = [
    aLink({ id: 'lnk_0', morId: null }),
    aLink({ id: 'lnk_1', readDueAt: at(1) }),
    aLink({ id: 'lnk_2' }),
  ];
  const s = decide(withObjects(lane(), ...objects), on(), pollObjects);
  expect(s.objects.map((o) => o.readDueAt)).toEqual([null, at(1), at(MINUTE_MS)]);
  const wanted = ({ wanted: of }: ObjectLookup, ...rows: MorObjectRow[]) =>
    of(new Lane(withObjects(lane(), ...rows), on({}, 1)));
  const read = { objectId: 'lnk_1', morId: LINK };
  expect(wanted(linkLookup, aLink({ id: 'lnk_0', readDueAt: at(2) }), aLink({ readDueAt: at(1) }))).toEqual(read);
  const asks = { objectId: 'pfm_1', morId: PROFORMA };
  expect(wanted(proformaLookup, aLink({ readDueAt: at(1) }), aProforma({ readDueAt: at(1) }))).toEqual(asks);
  const nothing = [
    aLink(),
    aLink({ morId: null, readDueAt: at(1) }),
    { ...aLink({ readDueAt: at(1) }), kind: 'dispute' as const },
  ];
  for (const o of nothing) expect([wanted(linkLookup, o), wanted(proformaLookup, o)]).toEqual([null, null]);
});

it('Crossbill plans no read for a lane without an open payment link or proforma invoice', () => {
  const s = openReview(withObjects(lane(), aLink({ status: 'PAID' })), on(), {
    ...{ kind: 'dispute', subject: 'x', fact: FACTS.dispute },
  });
  expect(decide(s, on(), pollObjects)).toBe(s);
});

const ok = { ok: true, status: 404, requestId: null, value: null } as const;
const gone = (over: Partial<MorObjectRow>) =>
  applyObjectRead(withObjects(lane(), aLink({ readDueAt: NOW, readAttempts: 8, ...over })), 'lnk_1', ok, later);

it('a payment link unknown to the MoR becomes DELETED, and Crossbill reads the link no more', () => {
  expect(gone({}).objects).toMatchObject([{ status: 'DELETED', updatedAt: at(5_000), readDueAt: null, morId: LINK }]);
  expect(gone({}).journal.map((l) => l.text)).toEqual([`the MoR no longer knows payment link ${LINK}`]);
  const before = gone({ status: 'DELETED' });
  expect([before.objects[0]?.updatedAt, before.journal]).toEqual([NOW, []]);
});

it('a paid link that the MoR no longer knows stays PAID until its payment is booked', () => {
  expect(gone({ status: 'PAID' }).objects[0]?.status).toBe('PAID');
  expect(gone({ status: 'PAID', paymentRowId: 'pmt_1' }).objects[0]?.status).toBe('DELETED');
});

const how = { at: at(-1), eventId: 'evt_1', parked: false };
function apply(object: MorObjectRow, state = lane(), received = eur(2990n), over = {}) {
  const lane = new Lane(withObjects(state, object), later);
  const taken = applyMoney(lane, lane.findObject(object.id) ?? never(), received, { ...how, ...over });
  return { ...taken, state: lane.toState() };
}

it("Crossbill books the money of a proforma invoice or payment link once, as a payment of the invoice's customer", () => {
  const bank = apply(aProforma());
  expect(bank.payment).toMatchObject({
    ...{ invoiceId: 'in_1', customerId: 'cus_1', origin: 'proforma', reference: PROFORMA, amount: 2990n },
    ...{ currency: 'EUR', succeededAt: at(-1), mark: 'waiting', processorChargeId: null },
  });
  expect(bank.state.entries).toMatchObject([{ reason: 'payment_collected', amount: eur(2990n), eventId: 'evt_1' }]);
  expect(bank.state.objects).toMatchObject([{ paymentRowId: bank.payment?.id }]);
  expect(bank.said).toBe('29.90 EUR came by bank transfer for proforma invoice PF-1');
  const link = apply(aLink({ detail: { observed: [anEvent({ charge: 'ch_9' })] } }));
  expect(link.payment).toMatchObject({ origin: 'payment_link', reference: LINK, processorChargeId: 'ch_9' });
  expect(link.said).toBe(`29.90 EUR came on payment link ${LINK}`);
  expect(apply(aProforma(), lane(), eur(1n), { parked: true }).payment?.mark).toBe('parked');
  expect(apply(aProforma(), { ...lane(), invoice: null }).payment?.customerId).toBe('');
});

const known = (over: Partial<PaymentRow> = {}) =>
  lane(
    {},
    payment({ id: 'pmt_0', processorChargeId: 'ch_0' }),
    payment({ origin: 'proforma', reference: PROFORMA, processorChargeId: null, ...over }),
  );

it('a known payment of a proforma invoice is not booked a second time', () => {
  const again = apply(aProforma(), known());
  expect([again.payment, again.said, again.state.payments.length]).toEqual([
    null,
    'this payment is already recorded',
    2,
  ]);
  expect([again.state.objects[0]?.paymentRowId, again.state.entries, open(again.state)]).toEqual(['pmt_1', [], []]);
});

it('a payment of a payment link, or of a different proforma invoice, does not count as the payment of this proforma invoice', () => {
  for (const over of [{ reference: 'pf_9' }, { origin: 'payment_link' }] as const)
    expect(apply(aProforma(), known(over)).payment).not.toBeNull();
});

it("a link's money counts as a known payment if a capture on the link names the charge of that payment", () => {
  const link = aLink({ detail: { observed: [anEvent({ charge: 'ch_1' })] } });
  const own = (over: Partial<PaymentRow> = {}) =>
    lane({}, payment({ id: 'pmt_0', processorChargeId: 'ch_0' }), payment(over));
  expect(apply(link, own())).toMatchObject({ payment: null, state: { objects: [{ paymentRowId: 'pmt_1' }] } });
  expect(apply(link, own({ succeededAt: null })).payment).not.toBeNull();
  expect(apply(aLink(), own({ processorChargeId: null })).payment).not.toBeNull();
  expect(apply(link, own({ processorChargeId: 'ch_2' })).payment).not.toBeNull();
});

it.each<readonly [string, PaymentRow['amount'], string]>([
  ['another amount', 1000n, 'EUR'],
  ['another currency', 2990n, 'USD'],
  ['no amount', null, 'EUR'],
])(
  'if the payment of a proforma invoice is already recorded with %s, its settlement opens a review item and changes nothing',
  (_, amount, currency) => {
    const s = putPayment(lane(), { ...payment({ origin: 'proforma', reference: PROFORMA, currency }), amount });
    const taken = apply(aProforma(), s);
    expect([taken.payment, taken.said, taken.state.entries]).toEqual([
      null,
      'differs from the record: not applied',
      [],
    ]);
    expect(taken.state.payments).toEqual(s.payments);
    expect(open(taken.state)).toMatchObject([
      {
        ...{ kind: 'conflicting_event', subject: 'evt_1', paymentRowId: 'pmt_1' },
        fact: {
          ...{ code: 'announced-otherwise', announced: eur(2990n) },
          recorded: amount === null ? null : { minor: amount, currency },
        },
      },
    ]);
    expect(open(apply(aProforma(), s, eur(2990n), { eventId: null }).state)[0]?.subject).toBe('pfm_1:amount');
  },
);

it("a payment gets the invoice's customer as soon as Crossbill knows that customer", () => {
  const s = lane({}, payment({ id: 'pmt_0', customerId: '' }), payment({ customerId: 'cus_9' }));
  expect(decide(s, later, nameCustomers).payments.map((p) => p.customerId)).toEqual(['cus_1', 'cus_9']);
  for (const unknown of [{ ...s, invoice: null }, withInvoice(s, { customerId: null })])
    expect(decide(unknown, later, nameCustomers)).toBe(unknown);
});

const settled = (state: LaneState): LaneState => decide(state, on(), declares(openObjectItems));
const subjects = (state: LaneState) => open(state).map((r) => [r.kind, r.subject]);

it.each(['paid', 'void'] as const)(
  'an open proforma invoice on a %s invoice opens a double_payment item until the proforma invoice ends',
  (status) => {
    const s = settled(withObjects(lane({ status }), aProforma({ deadline: at(60_000) })));
    expect(open(s)).toMatchObject([
      {
        ...{ kind: 'double_payment', subject: 'pfm_1' },
        fact: { code: 'still-payable', what: 'proforma', object: 'PF-1', status, until: at(60_000).toISOString() },
      },
    ]);
    const over = settled(withObjects(s, aProforma({ status: 'CANCELLED' })));
    expect(over.reviews).toMatchObject([{ resolution: 'cleared' }]);
  },
);

it('a proforma invoice opens no review item while the invoice is open, or as soon as nobody can pay the proforma invoice', () => {
  const paid = lane({ status: 'paid' });
  const over = ['DELETED', 'ISSUANCE_FAILED', 'SETTLED', 'REQUESTED'].map((status) => aProforma({ status }));
  for (const s of [withObjects(lane(), aProforma()), ...over.map((o) => withObjects(paid, o))])
    expect(subjects(settled(s))).toEqual([]);
});
