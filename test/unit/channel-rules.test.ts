// What the merchant asks for beside an invoice, what it brings in money, and which object and payment an event means.
import { FACTS } from '../support/item-facts.js';
import { withWords } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { closeReviews, type Ctx, openReview, putPayment, putRefund } from '../../src/engine/change.js';
import { type LaneState, type PaymentRow } from '../../src/domain/model.js';
import { type MorObjectRow, objectName } from '../../src/domain/mor-object.js';
import { type InvoiceFacts } from '../../src/domain/ports/billing-platform.js';
import {
  applyChannelRefusal,
  applyChannelSilence,
  objectGone,
  objectOf,
  until,
} from '../../src/mor-objects/rules/mor-object.js';
import {
  objectDeleted,
  type ObjectRequest,
  requestObject,
  standing,
} from '../../src/mor-objects/rules/request-object.js';
import { nameCustomers, takeMoney } from '../../src/mor-objects/rules/take-money.js';
import { byEvent, refusal } from '../support/asked-refund.js';
import { facts, LINK, NOW, open, PROFORMA } from '../support/channel-lane.js';
import { aLink, announced as anEvent, aProforma, asking, eur, withObjects } from '../support/channel-object.js';
import { never } from '../support/never.js';
import { TRAIL } from '../support/refused-renewal.js';
import { at, ctx as on, lane, payment, withInvoice } from '../support/waiting-payment.js';
import { paymentNamed } from '../../src/engine/payment.js';

const later = on({}, 5_000);
const DAY_MS = 86_400_000;
const texts = (s: LaneState) => s.journal.map((l) => l.text);

describe('a request for a proforma invoice or a link', () => {
  const wire = { method: 'POST', path: '/x', body: '{}' } as const;
  const ask = (s: LaneState, over: Partial<ObjectRequest> = {}, of: Ctx = later) =>
    requestObject(
      s,
      { kind: 'proforma', id: 'pfm_9', wire, until: at(DAY_MS), facts: facts(), askedAt: NOW, by: 'ops', ...over },
      of,
    );

  it('is written down over what is due, with who asked and until when', () => {
    const done = ask(lane());
    expect(done).toMatchObject({
      ok: true,
      value: {
        ...{ id: 'pfm_9', kind: 'proforma', invoiceId: 'in_1', status: 'REQUESTED', amount: 2990n, currency: 'EUR' },
        ...{ deadline: at(DAY_MS), createdAt: at(5_000) },
      },
    });
    const s = done.ok ? done.state : never();
    expect(s.messages).toMatchObject([{ kind: 'create_proforma', subject: 'pfm_9', wire }]);
    expect(texts(s)).toEqual(['ops asked for a proforma invoice of 29.90 EUR']);
    const link = ask(lane(), { kind: 'payment_link', until: null });
    expect(link.ok ? texts(link.state) : []).toEqual(['ops asked for a payment link of 29.90 EUR']);
  });

  it.each<readonly [string, LaneState, Partial<ObjectRequest>, Ctx, object]>([
    ['in shadow mode', lane(), {}, on({ shadow: true }), { status: 409, code: 'shadow_mode' }],
    [
      'for an invoice that is void',
      lane(),
      { facts: facts({ status: 'void' }) },
      later,
      { code: 'invoice_not_payable' },
    ],
    ['when nothing is due', lane(), { facts: facts({ amountRemaining: 0n }) }, later, { code: 'invoice_not_payable' }],
    ['while a payment is being marked', lane({}, payment()), {}, later, { code: 'invoice_not_payable' }],
    [
      'while the bank debit of its signup is on its way: the customer could pay twice',
      lane({}, payment({ mark: 'proving', succeededAt: null, pendingSince: NOW })),
      { kind: 'payment_link', until: null },
      later,
      {
        code: 'invoice_not_payable',
        message: expect.stringContaining('payment pay_1 of its signup is not settled yet'),
      },
    ],
    [
      'while one of two payments is being marked',
      lane({}, payment({ id: 'pmt_0', mark: 'closed' }), payment()),
      {},
      later,
      { code: 'invoice_not_payable' },
    ],
    ['that is not complete', lane(), { wire: null }, later, { status: 400, code: 'invalid_request' }],
  ])('is refused %s', (_, s, over, of, refused) => {
    expect(ask(s, over, of)).toMatchObject({ ok: false, ...refused });
  });

  it.each(['proforma', 'payment_link'] as const)(
    '(%s) is refused while money that was taken waits for a person: the customer would pay it again',
    (kind) => {
      const s = lane({}, payment({ mark: 'parked' }));
      const item = { kind: 'effect_failed', subject: 'report_payment:pay_1', fact: FACTS.effect_failed } as const;
      const waits = openReview(s, later, { ...item, paymentRowId: 'pmt_1' });
      expect(ask(waits, { kind })).toMatchObject({
        ...{ ok: false, status: 409, code: 'invoice_not_payable' },
        message: expect.stringContaining('payment pay_1 was taken and waits for a person. Decide its review item'),
      });
      const chosen = { by: 'ada', resolution: 'refund', note: null } as const;
      expect(
        ask(
          closeReviews(waits, later, () => true, chosen),
          { kind },
        ).ok,
      ).toBe(true);
      expect(ask(openReview(s, later, { ...item, paymentRowId: 'pmt_9' }), { kind }).ok).toBe(true);
    },
  );

  it.each(['proforma', 'payment_link'] as const)(
    '(%s) is refused while the MoR’s answer to another charge is awaited, and not once that is overdue',
    (kind) => {
      const awaited = (expectedBy: Date): LaneState =>
        withInvoice(lane(), { expectedBy, retries: { ...TRAIL, waitingSince: NOW.toISOString() } });
      expect(ask(awaited(at(60_000)), { kind })).toMatchObject({
        ...{ ok: false, status: 409, code: 'invoice_not_payable' },
        message: expect.stringContaining('the MoR may be charging it again, and its answer is awaited until'),
      });
      expect(ask(awaited(at(5_000)), { kind }).ok).toBe(true);
    },
  );

  it.each(['proforma', 'payment_link'] as const)(
    '(%s) is refused while a payment on a link that has ended was announced, until it is known or a person has looked into it',
    (kind) => {
      const detail = { observed: [anEvent()] };
      const ended = aLink({ status: 'EXPIRED', detail });
      const announced = withObjects(lane(), ended);
      expect(ask(announced, { kind })).toMatchObject({
        ...{ ok: false, status: 409, code: 'invoice_not_payable' },
        message: expect.stringMatching(/a payment on payment link .* was announced, and is not confirmed yet/),
      });
      expect(ask(withObjects(lane(), { ...ended, paymentRowId: 'pmt_1' }), { kind }).ok).toBe(true);
      const item = { kind: 'conflicting_event', subject: ended.id, fact: FACTS.conflicting_event } as const;
      const asked = openReview(announced, later, item);
      expect(ask(asked, { kind }).ok).toBe(false);
      const looked = { by: 'ada', resolution: 'dismiss', note: null } as const;
      expect(
        ask(
          closeReviews(asked, later, () => true, looked),
          { kind },
        ).ok,
      ).toBe(true);
    },
  );

  it.each<readonly [string, PaymentRow]>([
    ['was given back', payment({ mark: 'closed' })],
    ['is marked in part', payment({ mark: 'confirmed' })],
    ['a person has decided on', payment({ mark: 'parked' })],
    ['was refused', payment({ mark: 'none', succeededAt: null })],
  ])('is taken beside a payment that %s', (_, p) => {
    expect(ask(lane({}, p)).ok).toBe(true);
  });

  it('gives the one that stands, which needs nothing new', () => {
    const s = withObjects(lane(), aProforma({ id: 'pfm_0' }), aProforma(), aLink());
    expect(ask(s, { wire: null })).toMatchObject({ ok: true, value: { id: 'pfm_1' } });
    expect(ask(s, { kind: 'payment_link', wire: null })).toMatchObject({ ok: true, value: { id: 'lnk_1' } });
    expect(standing(s, 'payment_link', on({}, 60_000))).toBeNull();
    expect(standing(lane(), 'proforma', later)).toBeNull();
  });

  it('is compared with what is known by now, where that is newer than what it asks for', () => {
    const newer = (over: Partial<InvoiceFacts>) => withInvoice(lane(over), { readAt: at(1) });
    expect(ask(newer({ status: 'paid' }))).toMatchObject({ ok: false, code: 'invoice_not_payable' });
    expect(ask(newer({ amountRemaining: 990n }))).toMatchObject({ ok: false, code: 'invoice_changed' });
    const older = withInvoice(lane({ amountRemaining: 990n }), { readAt: NOW });
    expect(ask(older)).toMatchObject({ ok: true, value: { amount: 2990n } });
    expect(ask({ ...lane(), invoice: null }).ok).toBe(true);
  });

  it('that is taken back is deleted, once, by its number or name', () => {
    const gone = (s: LaneState, id = 'pfm_1') => objectDeleted(s, id, 'ops', later);
    const s = withObjects(lane(), aProforma({ id: 'pfm_0' }), aProforma({ readDueAt: at(1) }));
    const done = gone(s);
    const state = done.ok ? done.state : never();
    expect(state.objects).toMatchObject([
      { id: 'pfm_0', status: 'ISSUED' },
      { id: 'pfm_1', status: 'DELETED', readDueAt: null, updatedAt: at(5_000), number: 'PF-1' },
    ]);
    expect(texts(state)).toEqual(['ops deleted proforma invoice PF-1']);
    expect(gone(state)).toMatchObject({ ok: true, state });
    expect(gone(s, 'pfm_9')).toMatchObject({ ok: false, status: 404, code: 'not_found' });
    const nameless = gone(withObjects(lane(), aProforma({ number: null })));
    expect(nameless.ok ? texts(nameless.state) : []).toEqual([`ops deleted proforma invoice ${PROFORMA}`]);
  });
});

describe('money that a proforma invoice or a link brought', () => {
  const how = { at: at(-1), eventId: 'evt_1', parked: false };
  const take = (o: MorObjectRow, s = lane(), received = eur(2990n), over = {}) =>
    takeMoney(withObjects(s, o), o, received, { ...how, ...over }, later);

  it('is one payment of the invoice’s customer, booked by its event', () => {
    const bank = take(aProforma());
    expect(bank.payment).toMatchObject({
      ...{ invoiceId: 'in_1', customerId: 'cus_1', origin: 'proforma', reference: PROFORMA, amount: 2990n },
      ...{ currency: 'EUR', succeededAt: at(-1), mark: 'waiting', processorChargeId: null },
    });
    expect(bank.state.entries).toMatchObject([{ reason: 'payment_collected', amount: eur(2990n), eventId: 'evt_1' }]);
    expect(bank.state.objects).toMatchObject([{ paymentRowId: bank.payment?.id }]);
    expect(bank.said).toBe('29.90 EUR came by bank transfer for proforma invoice PF-1');
    const link = take(aLink({ detail: { observed: [anEvent({ charge: 'ch_9' })] } }));
    expect(link.payment).toMatchObject({ origin: 'payment_link', reference: LINK, processorChargeId: 'ch_9' });
    expect(link.said).toBe(`29.90 EUR came on payment link ${LINK}`);
    expect(take(aProforma(), lane(), eur(1n), { parked: true }).payment?.mark).toBe('parked');
    expect(take(aProforma(), { ...lane(), invoice: null }).payment?.customerId).toBe('');
  });

  const known = (over: Partial<PaymentRow> = {}) =>
    lane(
      {},
      payment({ id: 'pmt_0', processorChargeId: 'ch_0' }),
      payment({ origin: 'proforma', reference: PROFORMA, processorChargeId: null, ...over }),
    );

  it('that is recorded already is no second payment', () => {
    const again = take(aProforma(), known());
    expect([again.payment, again.said, again.state.payments.length]).toEqual([
      null,
      'this payment is already recorded',
      2,
    ]);
    expect([again.state.objects[0]?.paymentRowId, again.state.entries, open(again.state)]).toEqual(['pmt_1', [], []]);
  });

  it('of another proforma invoice or another way is another payment', () => {
    for (const over of [{ reference: 'pf_9' }, { origin: 'payment_link' }] as const)
      expect(take(aProforma(), known(over)).payment).not.toBeNull();
  });

  it('whose charge has come as a payment of its own is that payment, if it was taken', () => {
    const link = aLink({ detail: { observed: [anEvent({ charge: 'ch_1' })] } });
    const own = (over: Partial<PaymentRow> = {}) =>
      lane({}, payment({ id: 'pmt_0', processorChargeId: 'ch_0' }), payment(over));
    expect(take(link, own())).toMatchObject({ payment: null, state: { objects: [{ paymentRowId: 'pmt_1' }] } });
    expect(take(link, own({ succeededAt: null })).payment).not.toBeNull();
    expect(take(aLink(), own({ processorChargeId: null })).payment).not.toBeNull();
    expect(take(link, own({ processorChargeId: 'ch_2' })).payment).not.toBeNull();
  });

  it.each<readonly [string, PaymentRow['amount'], string, string]>([
    ['another amount', 1000n, 'EUR', '10.00 EUR'],
    ['another currency', 2990n, 'USD', '29.90 USD'],
    ['no amount', null, 'EUR', 'nothing'],
  ])('that is recorded with %s is for a person; what was recorded first stands', (_, amount, currency, was) => {
    const s = putPayment(lane(), { ...payment({ origin: 'proforma', reference: PROFORMA, currency }), amount });
    const taken = take(aProforma(), s);
    expect([taken.payment, taken.said, taken.state.entries]).toEqual([
      null,
      'differs from the record: not applied',
      [],
    ]);
    expect(taken.state.payments).toEqual(s.payments);
    expect(withWords(open(taken.state))).toMatchObject([
      {
        ...{ kind: 'conflicting_event', subject: 'evt_1', paymentRowId: 'pmt_1' },
        summary: `29.90 EUR was announced for ${PROFORMA}; the record says ${was}`,
      },
    ]);
    expect(open(take(aProforma(), s, eur(2990n), { eventId: null }).state)[0]?.subject).toBe('pfm_1');
  });

  it('is the invoice’s customer’s once that is known', () => {
    const s = lane({}, payment({ id: 'pmt_0', customerId: '' }), payment({ customerId: 'cus_9' }));
    expect(nameCustomers(s).payments.map((p) => p.customerId)).toEqual(['cus_1', 'cus_9']);
    for (const unknown of [{ ...s, invoice: null }, withInvoice(s, { customerId: null })])
      expect(nameCustomers(unknown)).toBe(unknown);
  });
});

describe('what an event is about', () => {
  it('is the object of its kind and name, or the one that is being asked for, or a new one', () => {
    const of = (morId: string, kind: MorObjectRow['kind'], ...objects: MorObjectRow[]) =>
      objectOf(withObjects(lane(), ...objects), kind, morId, later);
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

  const other = payment({ id: 'pmt_0', paymentId: 'pay_0', processorChargeId: 'ch_0' });
  const own = payment({ processorPaymentIntentId: 'pi_1' });

  it.each([
    ['the MoR’s id', 'pay_1'],
    ['our id', 'pmt_1'],
    ['its charge', 'ch_1'],
    ['its payment intent', 'pi_1'],
    ['its refund at the MoR', 'rfnd_1'],
    ['its refund at the processor', 're_1'],
    ['our id of its refund', 'ref_event'],
    ['the link that it came by', LINK],
  ])('is the payment that it names by %s', (_, id) => {
    const refunded = putRefund(lane({}, other, own), byEvent({ morRefundId: 'rfnd_1', processorRefundId: 're_1' }));
    const s = withObjects(
      refunded,
      aLink({ id: 'lnk_0', morId: 'link_0', paymentRowId: 'pmt_0' }),
      aLink({ paymentRowId: 'pmt_1' }),
    );
    expect(paymentNamed(s, new Set([id]))?.id).toBe('pmt_1');
    expect(paymentNamed(s, new Set(['x']))).toBeNull();
  });

  it('is the only payment that was taken, where it names none', () => {
    const refused = payment({ id: 'pmt_0', paymentId: null, processorChargeId: null, succeededAt: null });
    const named = (s: LaneState) => paymentNamed(withObjects(s, aLink()), new Set([LINK]))?.id ?? null;
    expect(named(lane({}, refused, own))).toBe('pmt_1');
    expect(named(lane({}, refused))).toBeNull();
    expect(named(lane())).toBeNull();
  });
});

describe('an object at the MoR', () => {
  it('goes by its number, its name at the MoR, or ours', () => {
    const names = [aProforma(), aProforma({ number: null }), aLink(), aLink({ morId: null })].map(objectName);
    expect(names).toEqual([
      ...['proforma invoice PF-1', `proforma invoice ${PROFORMA}`, `payment link ${LINK}`, 'payment link lnk_1'],
    ]);
    expect([until(aLink()), until(aLink({ deadline: null }))]).toEqual([
      'by 2026-11-20 12:01 UTC',
      '(no deadline given)',
    ]);
  });

  it('whose request nobody answered, or that was refused, shows it, while nothing more is known', () => {
    const requested = aLink({ status: 'REQUESTED', morId: null, detail: { automatic: true } });
    const { s, m } = asking(withObjects(lane(), aLink({ id: 'lnk_0', status: 'REQUESTED' })), requested);
    expect(applyChannelSilence(s, m, later).objects).toMatchObject([
      { id: 'lnk_0', detail: {}, updatedAt: NOW },
      { id: 'lnk_1', detail: { automatic: true, unanswered: true }, updatedAt: at(5_000) },
    ]);
    const refused = applyChannelRefusal(s, m, refusal({ status: 400, errors: [{ field: 'a', message: 'no' }] }), later);
    expect(refused.objects[0]?.status).toBe('REQUESTED');
    expect(refused.objects[1]).toMatchObject({
      ...{ status: 'REFUSED', updatedAt: at(5_000) },
      detail: {
        automatic: true,
        refusal: { status: 400, code: 'not_refundable', message: 'no', errors: [{ field: 'a', message: 'no' }] },
      },
    });
    const known = withObjects(s, aLink());
    expect([applyChannelSilence(known, m, later), applyChannelRefusal(known, m, refusal(), later)]).toEqual([
      known,
      known,
    ]);
    const none = lane();
    expect([applyChannelSilence(none, m, later), applyChannelRefusal(none, m, refusal(), later)]).toEqual([none, none]);
  });

  it('that the MoR no longer knows is deleted, and is for a person where a payment on it was announced', () => {
    const gone = (over: Partial<MorObjectRow>) => objectGone(lane(), aLink(over), later);
    expect(gone({}).objects).toMatchObject([{ status: 'DELETED', updatedAt: at(5_000), morId: LINK }]);
    expect([texts(gone({})), open(gone({}))]).toEqual([[`the MoR no longer knows payment link ${LINK}`], []]);
    const detail = { observed: [anEvent()] };
    expect(withWords(open(gone({ detail })))).toMatchObject([
      {
        ...{ kind: 'conflicting_event', subject: 'lnk_1' },
        summary: `a payment on payment link ${LINK} was announced, but the MoR does not know the link`,
      },
    ]);
    expect(open(gone({ detail, paymentRowId: 'pmt_1' }))).toEqual([]);
    const before = gone({ status: 'DELETED' });
    expect([before.objects[0]?.updatedAt, before.journal]).toEqual([NOW, []]);
    // A payment was announced on it after it was gone.
    expect(open(gone({ status: 'DELETED', detail }))).toMatchObject([{ subject: 'lnk_1' }]);
  });
});
