// Requests for proforma invoices and payment links: who gets one, what Crossbill writes down, and what a refusal does.
import { expect, it } from '@jest/globals';
import { type InvoiceRow } from '../../../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../src/shared/domain/payment-row.js';
import { type MorObjectRow } from '../../../../../src/shared/domain/mor-object.js';
import { type InvoiceFacts } from '../../../../../src/shared/domain/ports/billing-platform.js';
import { callOf } from '../../../../../src/engine/call.js';
import { type Ctx } from '../../../../../src/engine/context.js';
import {
  objectDeleted,
  type ObjectRequest,
  requestObject,
  findOpenObject,
  applyRefusal,
  applySilence,
} from '../../../../../src/core/mor-objects/rules/request.js';
import { hasFallback, requestLink } from '../../../../../src/features/links/rules/request-link.js';
import { refusal } from '../../../../support/builders/asked-refund.js';
import { facts, NOW, PROFORMA } from '../../../../support/builders/channel-lane.js';
import {
  aLink,
  announced as anEvent,
  aProforma,
  asking,
  withObjects,
} from '../../../../support/builders/channel-object.js';
import { FACTS } from '../../../../support/builders/item-facts.js';
import { never } from '../../../../support/never.js';
import { HISTORY } from '../../../../support/builders/refused-renewal.js';
import { at, ctx as on, lane, payment, withInvoice } from '../../../../support/builders/waiting-payment.js';
import { asCommand, decide, closeReviews, openReview } from '../../../../support/rigs/decide.js';

const LINKS = { jurisdiction: 'GB', returnUrl: 'https://shop.example/thanks', expiresSec: 600 };
const later = on({}, 5_000);
const DAY_MS = 86_400_000;
const texts = (state: LaneState) => state.journal.map((l) => l.text);

const wire = { method: 'POST', path: '/x', body: '{}' } as const;
const ask = (state: LaneState, over: Partial<ObjectRequest> = {}, of: Ctx = later) =>
  asCommand((lane) =>
    requestObject(lane, {
      ...{ kind: 'proforma', id: 'pfm_9', wire, until: at(DAY_MS), facts: facts(), askedAt: NOW, by: 'ops', ...over },
    }),
  )(state, of);

it('Crossbill records a request for a proforma invoice or payment link with its amount, caller and deadline', () => {
  const done = ask(lane());
  expect(done).toMatchObject({
    ok: true,
    value: {
      ...{ id: 'pfm_9', kind: 'proforma', invoiceId: 'in_1', status: 'REQUESTED', amount: 2990n, currency: 'EUR' },
      ...{ deadline: at(DAY_MS), createdAt: at(5_000) },
    },
  });
  const s = done.ok ? done.state : never();
  expect(s.calls).toMatchObject([{ kind: 'create_proforma', subject: 'pfm_9', wire }]);
  expect(texts(s)).toEqual(['ops asked for a proforma invoice of 29.90 EUR']);
  const link = ask(lane(), { kind: 'payment_link', until: null });
  expect(link.ok ? texts(link.state) : []).toEqual(['ops asked for a payment link of 29.90 EUR']);
});

it.each<readonly [string, LaneState, Partial<ObjectRequest>, Ctx, object]>([
  ['in shadow mode', lane(), {}, on({ sendsNothing: true }), { status: 409, code: 'shadow_mode' }],
  ['for a void invoice', lane(), { facts: facts({ status: 'void' }) }, later, { code: 'invoice_not_payable' }],
  ['when nothing is due', lane(), { facts: facts({ amountRemaining: 0n }) }, later, { code: 'invoice_not_payable' }],
  ['while a payment is being marked', lane({}, payment()), {}, later, { code: 'invoice_not_payable' }],
  [
    'while the bank debit of its signup is not settled',
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
  ['without its body', lane(), { wire: null }, later, { status: 400, code: 'invalid_request' }],
])('Crossbill refuses a request for a proforma invoice or link %s', (_, s, over, of, refused) => {
  expect(ask(s, over, of)).toMatchObject({ ok: false, ...refused });
});

it.each(['proforma', 'payment_link'] as const)(
  "Crossbill refuses a new %s while a payment of the invoice waits for an operator's decision",
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
  'Crossbill refuses a new %s while the MoR may be charging the invoice again',
  (kind) => {
    const awaited = (expectedBy: Date): LaneState =>
      withInvoice(lane(), { expectedBy, retries: { ...HISTORY, waitingSince: NOW.toISOString() } });
    expect(ask(awaited(at(60_000)), { kind })).toMatchObject({
      ...{ ok: false, status: 409, code: 'invoice_not_payable' },
      message: expect.stringContaining('the MoR may be charging the invoice again; its answer is due by'),
    });
    expect(ask(awaited(at(5_000)), { kind }).ok).toBe(true);
  },
);

it.each(['proforma', 'payment_link'] as const)(
  'Crossbill refuses a new %s after an unconfirmed capture on an expired link, until the payment is booked or dismissed',
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
  ['pays only a part of the invoice', payment({ mark: 'confirmed' })],
  ['an operator has decided on', payment({ mark: 'parked' })],
  ['was refused', payment({ mark: 'none', succeededAt: null })],
])('Crossbill accepts a proforma request although the invoice has a payment that %s', (_, p) => {
  expect(ask(lane({}, p)).ok).toBe(true);
});

it('a repeated request returns the open proforma invoice or payment link, even without a request body', () => {
  const s = withObjects(lane(), aProforma({ id: 'pfm_0' }), aProforma(), aLink());
  expect(ask(s, { wire: null })).toMatchObject({ ok: true, value: { id: 'pfm_1' } });
  expect(ask(s, { kind: 'payment_link', wire: null })).toMatchObject({ ok: true, value: { id: 'lnk_1' } });
  expect(findOpenObject(s, 'payment_link', { now: at(60_000) })).toBeNull();
  expect(findOpenObject(lane(), 'proforma', later)).toBeNull();
});

it('Crossbill checks a request against the newest facts of the invoice: those just read at Stripe, or those stored since', () => {
  const newer = (over: Partial<InvoiceFacts>) => withInvoice(lane(over), { readAt: at(1) });
  expect(ask(newer({ status: 'paid' }))).toMatchObject({ ok: false, code: 'invoice_not_payable' });
  expect(ask(newer({ amountRemaining: 990n }))).toMatchObject({ ok: false, code: 'invoice_changed' });
  const older = withInvoice(lane({ amountRemaining: 990n }), { readAt: NOW });
  expect(ask(older)).toMatchObject({ ok: true, value: { amount: 2990n } });
  expect(ask({ ...lane(), invoice: null }).ok).toBe(true);
});

it('an operator deletes a proforma invoice one time, and the timeline names the operator and the invoice number', () => {
  const gone = (state: LaneState, id = 'pfm_1') => asCommand((lane) => objectDeleted(lane, id, 'ops'))(state, later);
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

it("Crossbill stores the MoR's silence or refusal with the requested link; a link with an id at the MoR stays unchanged", () => {
  const requested = aLink({ status: 'REQUESTED', morId: null, detail: { automatic: true } });
  const { s, m } = asking(withObjects(lane(), aLink({ id: 'lnk_0', status: 'REQUESTED' })), requested);
  const silence = (of: LaneState) => decide(of, later, (x) => applySilence(x, callOf(x, m)));
  const refuse = (of: LaneState, failure = refusal()) =>
    decide(of, later, (x) => applyRefusal(x, callOf(x, m), failure));
  expect(silence(s).objects).toMatchObject([
    { id: 'lnk_0', detail: {}, updatedAt: NOW },
    { id: 'lnk_1', detail: { automatic: true, unanswered: true }, updatedAt: at(5_000) },
  ]);
  const refused = refuse(s, refusal({ status: 400, errors: [{ field: 'a', message: 'no' }] }));
  expect(refused.objects[0]?.status).toBe('REQUESTED');
  expect(refused.objects[1]).toMatchObject({
    ...{ status: 'REFUSED', updatedAt: at(5_000) },
    detail: {
      automatic: true,
      refusal: { status: 400, code: 'not_refundable', message: 'no', errors: [{ field: 'a', message: 'no' }] },
    },
  });
  const known = withObjects(s, aLink());
  expect([silence(known), refuse(known)]).toEqual([known, known]);
  const none = lane();
  expect([silence(none), refuse(none)]).toEqual([none, none]);
});

const asked = (row: Partial<InvoiceRow>, of = on({ recoveryLinks: LINKS }), state = withInvoice(lane(), row)) =>
  decide(state, of, (x) => void requestLink(x, 'lnk_9'));

it.each<readonly [string, Partial<InvoiceRow>, Ctx?]>([
  ['nothing is due', { amountRemaining: 0n }],
  ['less than nothing is due', { amountRemaining: -1n }],
  ['the amount due is unknown', { amountRemaining: null }],
  ['the currency is unknown', { currency: null }],
  ['the settings turn links off', {}, on({ recoveryLinks: null })],
])('Crossbill requests no payment link if %s', (_, row, of = on({ recoveryLinks: LINKS })) => {
  const s = withInvoice(lane(), row);
  expect(asked(row, of, s)).toBe(s);
});

it('Crossbill requests a link for one cent or more; in shadow mode Crossbill stores the link as refused and sends nothing', () => {
  expect(asked({ amountRemaining: 1n }).objects).toMatchObject([{ id: 'lnk_9', amount: 1n, status: 'REQUESTED' }]);
  const shadow = asked({}, on({ recoveryLinks: LINKS, sendsNothing: true }));
  expect([shadow.objects[0]?.status, shadow.calls[0]?.status]).toEqual(['REFUSED', 'cancelled']);
});

it("Crossbill requests a link in the customer's country until the MoR refuses to collect there", () => {
  const refusal = (status: number | null, ...fields: string[]): MorObjectRow['detail'] => ({
    ...{ automatic: true, jurisdiction: 'AT' },
    refusal: { status, code: 'no', message: 'no', errors: fields.map((field) => ({ field, message: 'no' })) },
  });
  const country = (...objects: MorObjectRow[]) =>
    asked({}, undefined, withObjects(lane({ customerCountry: 'AT' }), ...objects)).objects.at(-1)?.detail.jurisdiction;
  const gone = (detail: MorObjectRow['detail'], over: Partial<MorObjectRow> = {}) =>
    aLink({ status: 'REPLACED', detail, ...over });
  expect(asked({ customerCountry: null }).objects[0]?.detail.jurisdiction).toBe('GB');
  expect(country()).toBe('AT');
  expect(country(gone(refusal(409)))).toBe('GB');
  expect(country(gone(refusal(400, 'amount', 'jurisdiction')))).toBe('GB');
  expect(country(aProforma(), gone(refusal(409)))).toBe('GB');
  for (const other of [
    gone(refusal(400, 'amount')),
    gone(refusal(null)),
    gone({ automatic: true, jurisdiction: 'AT' }),
    gone({ ...refusal(409), jurisdiction: 'DE' }),
    gone({ ...refusal(409), automatic: false }),
    aProforma({ status: 'REPLACED', detail: refusal(409) }),
  ]) {
    expect(country(other)).toBe('AT');
  }
});

it("if the MoR refuses a link's country, the next link can use the configured country, unless both countries are the same", () => {
  const status = { status: 409, code: null, message: 'no', errors: [] };
  const link = (detail: MorObjectRow['detail']) => aLink({ detail: { automatic: true, refusal: status, ...detail } });
  const falls = (object: MorObjectRow, of = LINKS) =>
    hasFallback({ settings: on({ recoveryLinks: of }).settings }, object);
  expect(falls(link({ jurisdiction: 'AT' }))).toBe(true);
  expect(falls(link({ jurisdiction: 'GB' }))).toBe(false);
  expect(falls(link({}))).toBe(false);
  expect(falls(aLink({ detail: { automatic: true, jurisdiction: 'AT' } }))).toBe(false);
});
