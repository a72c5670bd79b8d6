// Requests for proforma invoices and payment links: who gets one, what Crossbill writes down, and what a refusal does.
import { describe, expect, it } from '@jest/globals';
import { applyAnswer, resolveReview } from '../../../../src/decisions/decide.js';
import { type InvoiceRow, type LaneState, type OutboxRow, type PaymentRow } from '../../../../src/domain/model.js';
import { type MorObjectRow } from '../../../../src/domain/mor-object.js';
import { type InvoiceFacts } from '../../../../src/domain/ports/billing-platform.js';
import { asCommand, decide } from '../../../../src/engine/adapter.js';
import { callOf } from '../../../../src/engine/call.js';
import { closeReviews, type Ctx, emptyLane, messageKey, openReview } from '../../../../src/engine/change.js';
import {
  hasFallback,
  objectDeleted,
  type ObjectRequest,
  requestLink,
  requestObject,
  standing,
  takeRefusal,
  takeSilence,
} from '../../../../src/mor-objects/rules/request.js';
import { tellLane } from '../../../../src/notifications/rules/tell-lane.js';
import { refusal } from '../../../support/asked-refund.js';
import { aPaymentFailed, aPaymentSucceeded, delivery, INVOICE_ID, invoiceEvent } from '../../../support/builders.js';
import { facts, hear, NOW, open, PROFORMA } from '../../../support/channel-lane.js';
import {
  aLink,
  announced as anEvent,
  aProforma,
  asking,
  eur,
  linkFacts,
  withObjects,
} from '../../../support/channel-object.js';
import { failed } from '../../../support/fakes.js';
import { FACTS } from '../../../support/item-facts.js';
import { withWords, wordsOf } from '../../../support/item-words.js';
import { never } from '../../../support/never.js';
import { TRAIL } from '../../../support/refused-renewal.js';
import { rig, state } from '../../../support/retry-rig.js';
import { settle, wanted } from '../../../support/settled.js';
import { at, ctx, ctx as on, lane, payment, withInvoice } from '../../../support/waiting-payment.js';

const LINKS = { jurisdiction: 'GB', returnUrl: 'https://shop.example/thanks', expiresSec: 600 };
const later = on({}, 5_000);
const DAY_MS = 86_400_000;
const texts = (s: LaneState) => s.journal.map((l) => l.text);

describe('a request for a proforma invoice or a link', () => {
  const wire = { method: 'POST', path: '/x', body: '{}' } as const;
  const ask = (s: LaneState, over: Partial<ObjectRequest> = {}, of: Ctx = later) =>
    asCommand((lane) =>
      requestObject(lane, {
        ...{ kind: 'proforma', id: 'pfm_9', wire, until: at(DAY_MS), facts: facts(), askedAt: NOW, by: 'ops', ...over },
      }),
    )(s, of);

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
    expect(standing(s, 'payment_link', { now: at(60_000) })).toBeNull();
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
    const gone = (s: LaneState, id = 'pfm_1') => asCommand((lane) => objectDeleted(lane, id, 'ops'))(s, later);
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

describe('a request without an object', () => {
  it('shows that nobody replied, or the refusal, while nothing more is known', () => {
    const requested = aLink({ status: 'REQUESTED', morId: null, detail: { automatic: true } });
    const { s, m } = asking(withObjects(lane(), aLink({ id: 'lnk_0', status: 'REQUESTED' })), requested);
    const silence = (of: LaneState) => decide(of, later, (x) => takeSilence(x, callOf(x, m)));
    const refuse = (of: LaneState, f = refusal()) => decide(of, later, (x) => takeRefusal(x, callOf(x, m), f));
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
});

describe('a payment link of what is due', () => {
  const asked = (row: Partial<InvoiceRow>, of = on({ recoveryLinks: LINKS }), s = withInvoice(lane(), row)) =>
    decide(s, of, (x) => void requestLink(x, 'lnk_9'));

  it.each<readonly [string, Partial<InvoiceRow>, Ctx?]>([
    ['nothing is due', { amountRemaining: 0n }],
    ['less than nothing is due', { amountRemaining: -1n }],
    ['it is not known what is due', { amountRemaining: null }],
    ['the currency is not known', { currency: null }],
    ['the settings want none', {}, on({ recoveryLinks: null })],
  ])('is not asked for when %s', (_, row, of = on({ recoveryLinks: LINKS })) => {
    const s = withInvoice(lane(), row);
    expect(asked(row, of, s)).toBe(s);
  });

  it('is asked for from one cent on; in shadow mode it is written down as refused and not sent', () => {
    expect(asked({ amountRemaining: 1n }).objects).toMatchObject([{ id: 'lnk_9', amount: 1n, status: 'REQUESTED' }]);
    const shadow = asked({}, on({ recoveryLinks: LINKS, shadow: true }));
    expect([shadow.objects[0]?.status, shadow.messages[0]?.status]).toEqual(['REFUSED', 'cancelled']);
  });

  it('is asked for in the customer’s country, until the MoR has refused to collect there', () => {
    const refusal = (status: number | null, ...fields: string[]): MorObjectRow['detail'] => ({
      ...{ automatic: true, jurisdiction: 'AT' },
      refusal: { status, code: 'no', message: 'no', errors: fields.map((field) => ({ field, message: 'no' })) },
    });
    const country = (...objects: MorObjectRow[]) =>
      asked({}, undefined, withObjects(lane({ customerCountry: 'AT' }), ...objects)).objects.at(-1)?.detail
        .jurisdiction;
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

  it('that was refused for its country can be asked for in the one of the settings, unless it was that', () => {
    const status = { status: 409, code: null, message: 'no', errors: [] };
    const link = (detail: MorObjectRow['detail']) => aLink({ detail: { automatic: true, refusal: status, ...detail } });
    const falls = (o: MorObjectRow, of = LINKS) => hasFallback({ settings: on({ recoveryLinks: of }).settings }, o);
    expect(falls(link({ jurisdiction: 'AT' }))).toBe(true);
    expect(falls(link({ jurisdiction: 'GB' }))).toBe(false);
    expect(falls(link({}))).toBe(false);
    expect(falls(aLink({ detail: { automatic: true, jurisdiction: 'AT' } }))).toBe(false);
  });
});

describe('a request without a reply, while the money of its invoice comes', () => {
  const silent = failed('unknown', { status: 503 });
  const told = (before: LaneState, after: LaneState) => tellLane(before, after).map((t) => t.type);
  const withdrawn = (s: LaneState) => wanted(s, ctx());
  const requested = { status: 'REQUESTED', morId: null, url: null } as const;
  const link = (s: LaneState) => asking(s, aLink(requested));
  const proforma = (s: LaneState) => asking(s, aProforma({ ...requested, number: null }));
  const tried = ({ s, m }: { readonly s: LaneState; readonly m: OutboxRow }) => applyAnswer(s, m.id, silent, ctx());

  describe('a payment link that the MoR has not answered', () => {
    it('is not asked for again once the money came: the backend would mail it to a customer who has paid', async () => {
      const r = rig({ retrySchedule: null });
      const { h, links } = r;
      const create = links.createLink.bind(links);
      let down = true;
      links.createLink = async (wire) => (down ? silent : create(wire));
      await h.take(invoiceEvent('invoice.finalized'), aPaymentFailed({ paymentId: 'pay_1' }));
      await h.take(aPaymentSucceeded({ paymentId: 'pay_2' }));
      expect((await state(r)).invoice?.status).toBe('paid');
      h.clock.advance(60_000);
      down = false;
      await h.rest(3);
      const s = await state(r);
      expect(links.links.size).toBe(0);
      expect(told(emptyLane(s.lane), s)).not.toContain('payment_link.created');
      expect(withWords(open(s))).toMatchObject([
        {
          kind: 'double_payment',
          summary: expect.stringMatching(/^payment link .* without an answer, and then taken back/),
        },
      ]);
    });

    it('is not made over an amount that is no longer due; one that is made by itself is made anew', async () => {
      const r = rig({ retrySchedule: null });
      const { h, links } = r;
      const create = links.createLink.bind(links);
      const asked: string[] = [];
      let down = true;
      links.createLink = async (wire) => {
        if (down) return silent;
        asked.push(/"minor":\{"minor":"(\d+)"/.exec(String(wire.body))?.[1] ?? '');
        return create(wire);
      };
      await h.take(invoiceEvent('invoice.finalized'), aPaymentFailed({ paymentId: 'pay_1' }));
      h.platform.change(INVOICE_ID, { amountDue: 600n, amountRemaining: 600n, total: 600n });
      await h.take(invoiceEvent('invoice.updated', { at: h.clock.now(), amountDue: 600n }));
      down = false;
      await h.rest(1);
      const [item] = open(await state(r)); // the first may be there, though nobody was given its address
      expect(withWords(item)).toMatchObject({ kind: 'double_payment', summary: expect.stringContaining('taken back') });
      const choice = { resolution: 'dismiss', note: null, by: 'ada' } as const;
      await h.command(INVOICE_ID, (s, of) => resolveReview(s, item?.id ?? '', choice, of));
      await h.rest(1);
      expect([asked, (await state(r)).objects.map((o) => o.status)]).toEqual([['600'], ['REPLACED', 'PAYABLE']]);
    });

    it.each<readonly [string, LaneState, string]>([
      ['is paid', lane({ status: 'paid' }), 'the invoice is paid'],
      ['is void', lane({ status: 'void' }), 'the invoice is void'],
      ['has a payment that is being marked', lane({}, payment()), 'payment pay_1 was taken and is being marked'],
    ])('is taken back when its invoice %s, and whoever asked is told why', (_, of, why) => {
      const s = withdrawn(link(of).s);
      expect(s.messages).toMatchObject([{ kind: 'create_payment_link', status: 'cancelled' }]);
      expect(s.objects).toMatchObject([
        { status: 'REFUSED', detail: { refusal: { status: 409, code: 'invoice_not_payable' } } },
      ]);
      expect(s.objects[0]?.detail.refusal?.message).toBe(`It is not asked for any more: ${why}.`);
      expect(s.journal.at(-1)?.text).toBe(`create_payment_link taken back: ${why}`);
      expect(open(settle(s, ctx()))).not.toContainEqual(expect.objectContaining({ subject: 'lnk_1' }));
    });

    it.each<readonly [string, LaneState]>([
      ['is open', lane()],
      ['is written off: the customer may still pay it', lane({ status: 'uncollectible' })],
      ['waits for a person to decide on another payment', lane({}, payment({ mark: 'parked' }))],
      ['is marked in part', lane({}, payment({ mark: 'confirmed' }))],
    ])('is asked for as long as its invoice %s', (_, of) => {
      const { s } = link(of);
      expect(withdrawn(s)).toBe(s);
    });

    it('says nothing of the customer’s country when it is taken back: the next one is asked for there too', () => {
      const recoveryLinks = { jurisdiction: 'GB', returnUrl: 'https://shop.example', expiresSec: 600 };
      const asked = withInvoice(lane(), { customerCountry: 'AT' });
      const first = decide(asked, ctx({ recoveryLinks }), (l) => void requestLink(l, 'lnk_1'));
      const back = withdrawn({ ...first, payments: [payment()] });
      expect(back.objects[0]?.status).toBe('REFUSED');
      const second = decide(back, ctx({ recoveryLinks }), (l) => void requestLink(l, 'lnk_2'));
      expect(second.objects.map((o) => o.detail.jurisdiction)).toEqual(['AT', 'AT']);
    });

    it('is asked for under its own key and bytes when a payment on it is announced after all: that money is found', () => {
      const asked = link(lane({ status: 'paid' }));
      const back = settle(tried(asked), ctx());
      expect(back.objects[0]?.detail).toMatchObject({ mayStand: true });
      const idempotencyKey = messageKey('create_payment_link', 'lnk_1', 1);
      const heard = hear(back, 'payment.captured', { idempotencyKey, pspReference: 'ch_9' }, ctx());
      const [m = never()] = heard.messages;
      expect(m).toMatchObject({ status: 'pending', key: asked.m.key, wire: asked.m.wire });
      const { observed, ...detail } = heard.objects[0]?.detail ?? never();
      expect([detail, observed]).toMatchObject([{ unanswered: true }, [{ source: 'event', charge: 'ch_9' }]]);
      expect(detail).not.toHaveProperty('mayStand');
      const answer = { kind: 'create_payment_link', link: linkFacts({ status: 'PAID', due: eur(0n) }) } as const;
      const outcome = { ok: true, value: answer, status: 201, requestId: null } as const;
      const found = settle(applyAnswer(heard, m.id, outcome, ctx()), ctx());
      expect(found.payments).toMatchObject([{ origin: 'payment_link', amount: 2990n, processorChargeId: 'ch_9' }]);
      expect(told(heard, found)).not.toContain('payment_link.created');
      expect(open(found).filter((r) => r.subject === 'lnk_1')).toEqual([]);
    });

    it('is asked for again too when it was set aside for one of another amount: that money is found as well', async () => {
      const r = rig({ retrySchedule: null });
      const { h, links } = r;
      const create = links.createLink.bind(links);
      links.createLink = async (wire) => {
        await create(wire);
        return silent; // made, and the answer is lost
      };
      await h.take(invoiceEvent('invoice.finalized'), aPaymentFailed({ paymentId: 'pay_1' }));
      h.platform.change(INVOICE_ID, { amountDue: 600n, amountRemaining: 600n, total: 600n });
      await h.take(invoiceEvent('invoice.updated', { at: h.clock.now(), amountDue: 600n }));
      links.createLink = create;
      expect((await state(r)).objects.map((o) => o.status)).toEqual(['REPLACED']);
      links.pay('link_1');
      const [idempotencyKey = never()] = links.links.keys();
      const [id, type] = ['evt_captured', 'payment.captured'];
      const event = { id, type, created: h.clock.now().toISOString(), data: { idempotencyKey, pspReference: 'ch_9' } };
      await h.take(delivery('mor_events', id, type, INVOICE_ID, event));
      await h.rest(1);
      const s = await state(r);
      expect(s.payments.map((p) => [p.origin, p.mark, p.amount])).toContainEqual(['payment_link', 'parked', 1000n]);
      expect(open(s).map((x) => wordsOf(x).summary)).toEqual(['10.00 EUR was taken; 6.00 EUR is due']);
    });

    it('and whose payment was announced is told to a person when the MoR refuses to give it', () => {
      const asked = link(lane({ status: 'paid' }));
      const idempotencyKey = messageKey('create_payment_link', 'lnk_1', 1);
      const heard = hear(
        settle(tried(asked), ctx()),
        'payment.captured',
        { idempotencyKey, pspReference: 'ch_9' },
        ctx(),
      );
      const refusal = failed('refused', { status: 409, code: 'no_active_arrangement', message: 'none' });
      const refused = settle(applyAnswer(heard, heard.messages[0]?.id ?? '', refusal, ctx()), ctx());
      expect(open(refused).filter((x) => wordsOf(x).summary.includes('was announced'))).toMatchObject([
        { kind: 'conflicting_event', subject: 'lnk_1' },
      ]);
    });

    it('and that is answered while its invoice’s money comes is not told to the backend as one to be sent', () => {
      const { s, m } = link(lane());
      const answer = { kind: 'create_payment_link', link: linkFacts({ expiresAt: at(60_000) }) } as const;
      const outcome = { ok: true, value: answer, status: 201, requestId: null } as const;
      const made = applyAnswer(s, m.id, outcome, ctx());
      expect(told(s, settle(made, ctx()))).toContain('payment_link.created');
      expect(told(s, settle({ ...made, payments: [payment()] }, ctx()))).not.toContain('payment_link.created');
    });
  });

  describe('a proforma invoice that the MoR has not answered', () => {
    const paid = lane({ status: 'paid' });

    it('is not asked for again once its invoice is paid; a person is told that the MoR may have made it, if it was asked', () => {
      const never = settle(proforma(paid).s, ctx());
      expect(never.messages).toMatchObject([{ kind: 'create_proforma', status: 'cancelled' }]);
      expect([never.objects[0]?.status, open(never)]).toEqual(['REFUSED', []]);
      const once = settle(tried(proforma(paid)), ctx());
      expect(once.messages).toMatchObject([{ status: 'cancelled', attempts: 1 }]);
      expect(withWords(open(once))).toMatchObject([
        {
          ...{ kind: 'double_payment', subject: 'pfm_1' },
          summary:
            'proforma invoice pfm_1 was asked for without an answer, and then taken back: the MoR may have made it',
          proposal: expect.stringContaining('reference begins with in_1'),
        },
      ]);
    });

    it('and that was made all the same is the one that its event names, no second one', () => {
      const once = settle(tried(proforma(paid)), ctx());
      const heard = hear(once, 'proforma_invoice.issued', { proformaInvoiceId: PROFORMA, number: 'PF-9' }, ctx());
      expect(heard.objects).toMatchObject([{ id: 'pfm_1', morId: PROFORMA, status: 'ISSUED', number: 'PF-9' }]);
      expect(heard.objects[0]?.detail.mayStand).toBeUndefined();
      expect(heard.messages).toMatchObject([{ status: 'cancelled' }]);
    });

    it('but named by its event already keeps its name and state', () => {
      const { s } = asking(paid, aProforma({ status: 'ISSUED' }));
      const back = withdrawn(s);
      expect([back.messages[0]?.status, back.objects[0]]).toEqual(['cancelled', s.objects[0]]);
    });
  });
});
