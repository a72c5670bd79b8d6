// What is decided about proforma invoices, links, e-invoices, disputes and alerts, whatever order they arrive in.
import { withWords } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { applyAnswer } from '../../src/decisions/decide.js';
import { applyObjectRead } from '../support/object-calls.js';
import { newPayment } from '../../src/engine/payment.js';
import { newRefund } from '../../src/refunds/rules/refund.js';
import { type Ctx, putObject, putPayment, putRefund } from '../../src/engine/change.js';
import { answerOf } from '../../src/invoices/invoice-sentence.js';
import { requestObject } from '../support/object-calls.js';
import { takeRead } from '../../src/engine/facts.js';
import { type LaneState } from '../../src/domain/model.js';
import { newMorObject } from '../../src/domain/mor-object.js';
import { type LinkFacts } from '../../src/domain/ports/mor-channels.js';
import { aCtx, anOpenInvoice, facts, hear, LINK, NOW, open, paidByCard, PROFORMA } from '../support/channel-lane.js';
import { plan, settle } from '../support/settled.js';

const settled = (received: string, total = '29.90', currency = 'EUR'): object => ({
  proformaInvoiceId: PROFORMA,
  status: 'SETTLED',
  settledAt: '2026-11-20T11:00:00Z',
  total: { amount: total, currency },
  amountReceived: { amount: received, currency },
});

const fromBank = (s: LaneState): LaneState['payments'] => s.payments.filter((p) => p.origin === 'proforma');

describe('a bank transfer', () => {
  it('in full is a payment of the invoice’s own customer with the proforma invoice as its reference', () => {
    const s = hear(anOpenInvoice(), 'proforma_invoice.settled', settled('29.90'));
    expect(fromBank(s)).toMatchObject([
      { amount: 2990n, currency: 'EUR', reference: PROFORMA, customerId: 'cus_1', mark: 'reporting', paymentId: null },
    ]);
    expect(s.messages).toMatchObject([{ kind: 'report_payment' }]);
    expect(s.entries).toMatchObject([{ reason: 'payment_collected' }]);
    expect(open(s)).toEqual([]);
  });

  it('in part marks nothing and says what is missing', () => {
    const s = hear(anOpenInvoice(), 'proforma_invoice.settled', settled('10.00'));
    expect(fromBank(s)).toMatchObject([{ amount: 1000n, mark: 'parked' }]);
    expect(s.messages).toEqual([]);
    expect(withWords(open(s))).toMatchObject([
      { kind: 'partial_transfer', summary: expect.stringContaining('19.90 EUR') },
    ]);
  });

  it('in part leaves the rest to be billed by another proforma invoice, once the part is on the invoice', () => {
    const wire = { method: 'POST', path: '/x', body: '{}' } as const;
    const rest = facts({ amountPaid: 1000n, amountRemaining: 1990n });
    const ask = (s: LaneState, shown = rest) => {
      const request = {
        kind: 'proforma',
        id: 'pfm_2',
        wire,
        until: NOW,
        facts: shown,
        askedAt: NOW,
        by: 'ops',
      } as const;
      return requestObject(s, request, aCtx());
    };
    const s = hear(anOpenInvoice(), 'proforma_invoice.settled', settled('10.00'));
    expect(ask(s, facts())).toMatchObject({ ok: false, code: 'invoice_not_payable' }); // the part waits for a person
    const payments = s.payments.map((p) => ({
      ...p,
      mark: 'confirmed' as const,
      waived: ['amount_mismatch' as const],
    }));
    const applied = settle(takeRead({ ...s, payments }, aCtx(), rest), aCtx());
    expect(ask(applied)).toMatchObject({ ok: true, value: { id: 'pfm_2', amount: 1990n } });
    const { objects, reviews, messages, invoice } = applied;
    if (invoice === null) throw new Error('the lane has an invoice');
    const view = { invoice, payments, objects, reviews, messages, refunds: [], attempts: [] };
    expect(answerOf(view, NOW, (r) => r.topic).text).not.toContain('a proforma invoice is out');
  });

  it.each([
    ['more than is due', settled('30.00'), 'amount_mismatch'],
    ['another currency', settled('29.90', '29.90', 'USD'), 'currency_mismatch'],
    ['the full amount of a proforma invoice over another sum', settled('10.00', '10.00'), 'amount_mismatch'],
  ])('of %s waits for a person', (_what, data, kind) => {
    const s = hear(anOpenInvoice(), 'proforma_invoice.settled', data);
    expect(open(s)).toMatchObject([{ kind }]);
    expect(s.messages).toEqual([]);
  });

  it('told twice, under another event id too, is one payment; told with another amount, a conflict', () => {
    let s = hear(anOpenInvoice(), 'proforma_invoice.settled', settled('29.90'));
    s = hear(s, 'proforma_invoice.settled', settled('29.90'), aCtx(), 'evt_other');
    expect(fromBank(s)).toHaveLength(1);
    expect(s.entries).toHaveLength(1);
    s = hear(s, 'proforma_invoice.settled', settled('30.00'), aCtx(), 'evt_third');
    expect(fromBank(s)).toMatchObject([{ amount: 2990n }]);
    expect(open(s)).toMatchObject([{ kind: 'conflicting_event', subject: 'evt_third' }]);
  });

  it('ends in the same state in every order of its events', () => {
    const all = [
      ['proforma_invoice.issued', { proformaInvoiceId: PROFORMA, number: 'PF-1' }],
      ['proforma_invoice.settled', settled('29.90')],
      ['proforma_invoice.issued', { proformaInvoiceId: PROFORMA }],
    ] as const;
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 1, 2], { minLength: 3 }), (order) => {
        let s = anOpenInvoice();
        for (const i of order) s = hear(s, all[i]?.[0] ?? '', all[i]?.[1] ?? {}, aCtx(), `evt_${i}`);
        expect(s.objects).toMatchObject([{ kind: 'proforma', morId: PROFORMA, status: 'SETTLED', number: 'PF-1' }]);
        expect(fromBank(s)).toHaveLength(1);
      }),
    );
  });

  it('that a read shows and no event announced becomes an item after an hour', () => {
    const o = newMorObject(NOW, {
      id: 'pfm_1',
      kind: 'proforma',
      invoiceId: 'in_1',
      status: 'ISSUED',
      morId: PROFORMA,
    });
    const proforma = { morId: PROFORMA, number: 'PF-1', status: 'SETTLED', merchantReference: 'in_1', failure: null };
    const read = { ok: true, value: { kind: 'proforma', proforma }, status: 200, requestId: null } as const;
    const s = settle(applyObjectRead(putObject(anOpenInvoice(), o), o.id, read, aCtx()), aCtx());
    expect(open(s)).toEqual([]);
    const later = new Date(NOW.getTime() + 3_600_000);
    expect(plan(s, aCtx()).dueAt).toEqual(later);
    const told = settle(s, aCtx(later));
    expect(open(told)).toMatchObject([{ kind: 'conflicting_event' }]);
    const paid = hear(told, 'proforma_invoice.settled', settled('29.90'), aCtx(later));
    expect(open(paid)).toEqual([]);
  });
});

describe('a payment link', () => {
  const facts200 = (over: Partial<LinkFacts>): LinkFacts => ({
    morId: LINK,
    url: 'https://pay.example/1',
    status: 'PAYABLE',
    priced: { minor: 2990n, currency: 'EUR' },
    due: { minor: 2990n, currency: 'EUR' },
    expiresAt: new Date(NOW.getTime() + 600_000),
    ...over,
  });
  const linkMade = (link: LinkFacts) =>
    ({ ok: true, value: { kind: 'create_payment_link', link }, status: 201, requestId: null }) as const;
  /** A read when the next one is due, in the state that it leaves. */
  const readWhenDue = (s: LaneState, outcome: Parameters<typeof applyObjectRead>[2]): LaneState => {
    const then = aCtx(s.objects.find((o) => o.id === 'lnk_1')?.readDueAt ?? NOW);
    return settle(applyObjectRead(s, 'lnk_1', outcome, then), then);
  };
  const readOf = (over: Partial<LinkFacts>) =>
    ({ ok: true, value: { kind: 'payment_link', link: facts200(over) }, status: 200, requestId: null }) as const;
  const asked = (s: LaneState, ctx: Ctx, id = 'lnk_1') =>
    requestObject(
      s,
      {
        kind: 'payment_link',
        id,
        wire: { method: 'POST', path: '/x', body: '{}' },
        until: null,
        facts: facts(),
        askedAt: ctx.now,
        by: 'ops',
      },
      ctx,
    );
  function withLink(ctx = aCtx()): LaneState {
    const made = asked(anOpenInvoice(ctx), ctx);
    if (!made.ok) throw new Error(made.message);
    const m = made.state.messages.find((x) => x.kind === 'create_payment_link');
    if (m === undefined) throw new Error('no message');
    return settle(applyAnswer(made.state, m.id, linkMade(facts200({})), ctx), ctx);
  }

  it('is asked for once: the one that can be paid is given again, one that expired is not', () => {
    const s = withLink();
    expect(asked(s, aCtx(), 'lnk_2')).toMatchObject({ ok: true, value: { id: 'lnk_1', morId: LINK } });
    const later = aCtx(new Date(NOW.getTime() + 600_001));
    expect(asked(s, later, 'lnk_2')).toMatchObject({ ok: true, value: { id: 'lnk_2', status: 'REQUESTED' } });
  });

  it.each(['paid', 'void'] as const)('is not made for a %s invoice', (status) => {
    const request = {
      kind: 'payment_link',
      id: 'lnk_9',
      wire: null,
      until: null,
      facts: facts({ status }),
      askedAt: NOW,
      by: 'ops',
    } as const;
    expect(requestObject(anOpenInvoice(), request, aCtx())).toMatchObject({ ok: false, code: 'invoice_not_payable' });
  });

  it('is not made for what Stripe said before a worker marked the invoice, nor over what was due then', () => {
    const ctx = aCtx(new Date(NOW.getTime() + 3_000));
    const request = { kind: 'payment_link', id: 'lnk_9', wire: { method: 'POST', path: '/x', body: '{}' } } as const;
    const asking = { ...request, until: null, facts: facts(), askedAt: NOW, by: 'ops' };
    const now = anOpenInvoice(ctx);
    const marked = takeRead(now, ctx, facts({ status: 'paid', amountRemaining: 0n }));
    expect(requestObject(marked, asking, ctx)).toMatchObject({ ok: false, code: 'invoice_not_payable' });
    const credited = takeRead(now, ctx, facts({ amountRemaining: 1000n }));
    expect(requestObject(credited, asking, ctx)).toMatchObject({ ok: false, code: 'invoice_changed' });
    expect(requestObject(now, asking, ctx)).toMatchObject({ ok: true, value: { amount: 2990n } });
  });

  it('that is announced as paid is read, and counts only when it says so', () => {
    let s = hear(withLink(), 'payment.captured', { anywhere: { link: LINK }, pspReference: 'ch_9' });
    expect(plan(s, aCtx()).errand).toMatchObject({ name: 'read-object', question: { morId: LINK } });
    expect(s.payments).toEqual([]);
    s = settle(applyObjectRead(s, 'lnk_1', readOf({}), aCtx()), aCtx());
    expect(s.payments).toEqual([]);
    expect(plan(s, aCtx()).dueAt?.getTime()).toBeGreaterThan(NOW.getTime());
    const paid = readOf({ status: 'PAID', due: { minor: 0n, currency: 'EUR' } });
    s = settle(applyObjectRead(s, 'lnk_1', paid, aCtx()), aCtx());
    s = settle(applyObjectRead(s, 'lnk_1', paid, aCtx()), aCtx());
    expect(s.payments).toMatchObject([
      { origin: 'payment_link', reference: LINK, amount: 2990n, processorChargeId: 'ch_9', mark: 'reporting' },
    ]);
  });

  it('that a read showed as paid before it was announced gets its charge from the event, by which its refund is found', () => {
    const paid = readOf({ status: 'PAID', due: { minor: 0n, currency: 'EUR' } });
    let s = settle(applyObjectRead(withLink(), 'lnk_1', paid, aCtx()), aCtx());
    expect(s.payments).toMatchObject([{ reference: LINK, processorChargeId: null }]);
    s = hear(s, 'payment.captured', { paymentLinkId: LINK, pspReference: 'ch_9' });
    s = hear(s, 'payment.captured', { paymentLinkId: LINK }, aCtx(), 'evt_again');
    expect(s.payments).toMatchObject([{ reference: LINK, processorChargeId: 'ch_9' }]);
    expect(s.entries).toHaveLength(1);
  });

  it('whose charge has come as a payment of its own is that payment, and no second one', () => {
    const ids = { paymentId: 'pay_9', processorChargeId: 'ch_9', invoiceId: 'in_1', customerId: 'cus_1' };
    const p = newPayment(aCtx(), { ...ids, currency: 'EUR', amount: 2990n, succeededAt: NOW, mark: 'waiting' });
    const s = hear(settle(putPayment(withLink(), p), aCtx()), 'payment.captured', { id: LINK, pspReference: 'ch_9' });
    const paid = settle(applyObjectRead(s, 'lnk_1', readOf({ status: 'PAID', due: null }), aCtx()), aCtx());
    expect(paid.payments).toMatchObject([{ paymentId: 'pay_9', mark: 'reporting' }]);
    expect(paid.objects).toMatchObject([{ status: 'PAID', paymentRowId: p.id }]);
    expect(open(paid)).toEqual([]);
  });

  it('that is announced before our own request was answered is found by its key', () => {
    const made = asked(anOpenInvoice(), aCtx());
    if (!made.ok) throw new Error(made.message);
    const s = hear(made.state, 'payment.captured', { idempotencyKey: 'crossbill:create_payment_link:lnk_1:1' });
    const m = s.messages.find((x) => x.kind === 'create_payment_link');
    if (m === undefined) throw new Error('no message');
    const link = facts200({ status: 'PAID', due: null });
    const paid = settle(applyAnswer(s, m.id, linkMade(link), aCtx()), aCtx());
    expect(paid.payments).toMatchObject([{ amount: 2990n, origin: 'payment_link' }]);
  });

  it('that says PAID at last closes the item about the payment that was announced', () => {
    let s = hear(withLink(), 'payment.captured', { id: LINK });
    for (let n = 0; n < 9; n++) s = readWhenDue(s, readOf({ status: 'PAYABLE' }));
    expect(open(s)).toMatchObject([{ kind: 'conflicting_event', subject: 'lnk_1' }]);
    s = readWhenDue(s, readOf({ status: 'PAID', due: null }));
    expect([s.payments.length, open(s)]).toEqual([1, []]);
  });

  it('that was paid in part is worth what is not outstanding', () => {
    const s = hear(withLink(), 'payment.captured', { id: LINK });
    const part = readOf({ status: 'PAID', due: { minor: 990n, currency: 'EUR' } });
    const taken = settle(applyObjectRead(s, 'lnk_1', part, aCtx()), aCtx());
    expect(taken.payments).toMatchObject([{ amount: 2000n, mark: 'parked' }]);
    expect(open(taken)).toMatchObject([{ kind: 'amount_mismatch' }]);
  });

  it('warns while it can be paid for an invoice that was paid another way, until it expires', () => {
    const paid = takeRead(withLink(), aCtx(), facts({ status: 'paid', amountPaid: 2990n, amountRemaining: 0n }));
    const s = settle(paid, aCtx());
    expect(open(s)).toMatchObject([{ kind: 'double_payment', subject: 'lnk_1' }]);
    const expiry = new Date(NOW.getTime() + 600_000);
    expect(open(settle(s, aCtx(expiry)))).toEqual([]);
  });
});

describe('a dispute', () => {
  const about = { disputeId: 'dp_1', paymentReference: 'ch_1', deadline: '2026-12-01T00:00:00Z' };

  it('is beside its payment with its deadline and leaves the paid state alone', () => {
    const s = hear(paidByCard(), 'dispute.action_needed', about);
    expect(s.objects).toMatchObject([{ kind: 'dispute', morId: 'dp_1', paymentRowId: s.payments[0]?.id }]);
    expect(withWords(open(s))).toMatchObject([
      { kind: 'dispute', subject: 'dp_1', summary: expect.stringContaining('2026-12-01') },
    ]);
    expect(s.invoice?.status).toBe('paid');
  });

  it.each(['won', 'lost'])('that is %s is so in every order of its events, and booked at most once', (outcome) => {
    const all = [
      ['dispute.action_needed', about, '2026-11-20T10:00:00Z'],
      ['dispute.revision_requested', { ...about, deadline: '2026-12-05T00:00:00Z' }, '2026-11-20T11:00:00Z'],
      ['dispute.outcome', { disputeId: 'dp_1', charge: 'ch_1', outcome }, '2026-11-20T12:00:00Z'],
      ['dispute.outcome', { disputeId: 'dp_1', outcome }, '2026-11-20T12:00:01Z'],
    ] as const;
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }), (order) => {
        let s = paidByCard();
        for (const i of order) {
          const [type, data, at] = all[i] ?? all[0];
          s = hear(s, type, data, aCtx(), `evt_${i}`, at);
        }
        expect(s.objects).toMatchObject([{ status: outcome }]);
        const lost = s.entries.filter((e) => e.reason === 'dispute_lost');
        expect(lost).toHaveLength(outcome === 'lost' ? 1 : 0);
        expect(open(s).map((r) => r.subject)).toEqual(outcome === 'lost' ? ['dp_1:lost'] : []);
        expect(s.invoice?.status).toBe('paid');
      }),
    );
  });

  it('that is lost takes what was not given back before', () => {
    const ctx = aCtx();
    const before = paidByCard(ctx);
    const [p] = before.payments;
    if (p === undefined) throw new Error('no payment');
    const s = hear(putPayment(before, { ...p, amountRefunded: 1000n }), 'dispute.outcome', {
      disputeId: 'dp_1',
      outcome: 'lost',
    });
    expect(s.entries).toMatchObject([
      { debit: 'disputed_payments', credit: 'mor_receivable', amount: { minor: 1990n, currency: 'EUR' } },
    ]);
  });

  it('that is lost takes no more than another one left', () => {
    const outcome = { charge: 'ch_1', outcome: 'lost' };
    const amount = { amount: '20.00', currency: 'EUR' };
    let s = hear(paidByCard(), 'dispute.outcome', { ...outcome, disputeId: 'dp_1', amount });
    s = hear(s, 'dispute.outcome', { ...outcome, disputeId: 'dp_2', amount }, aCtx(), 'evt_2');
    s = hear(s, 'dispute.outcome', { ...outcome, disputeId: 'dp_3' }, aCtx(), 'evt_3');
    expect(s.entries.filter((e) => e.reason === 'dispute_lost').map((e) => e.amount.minor)).toEqual([2000n, 990n]);
    expect(open(s).map((r) => r.subject)).toEqual(['dp_1:lost', 'dp_2:lost', 'dp_3:lost']);
  });
});

describe('an alert', () => {
  it('that was answered with a refund expects its payment.refunded and makes no refund of its own', () => {
    const ctx = aCtx();
    let s = hear(paidByCard(ctx), 'pre_chargeback_alert.received', {
      alertId: 'al_1',
      payment: 'pay_1',
      dueBy: '2026-11-21T00:00:00Z',
    });
    expect(open(s)).toMatchObject([{ kind: 'dispute', subject: 'alert:al_1' }]);
    s = hear(s, 'pre_chargeback_alert.outcome', { alertId: 'al_1', refunded: true });
    expect(s.refunds).toEqual([]);
    expect(open(s)).toMatchObject([{ kind: 'dispute', subject: 'alert:al_1:outcome' }]);
    const [p] = s.payments;
    if (p === undefined) throw new Error('no payment');
    const refund = { ...newRefund(ctx, p, 2990n, null, 'event'), status: 'succeeded', succeededAt: NOW } as const;
    s = settle(putRefund(s, refund), ctx);
    expect(open(s)).toEqual([]);
    expect(s.refunds).toHaveLength(1);
  });

  it('that was answered with a refund is not content with a part that was given back long before it', () => {
    const ctx = aCtx();
    const before = paidByCard(ctx);
    const [p] = before.payments;
    if (p === undefined) throw new Error('no payment');
    const monthAgo = new Date(NOW.getTime() - 30 * 86_400_000);
    const part = { ...newRefund(ctx, p, 1000n, null, 'event'), status: 'succeeded', succeededAt: monthAgo } as const;
    let s = hear(settle(putRefund(before, part), ctx), 'pre_chargeback_alert.outcome', {
      alertId: 'al_1',
      payment: 'pay_1',
      refunded: true,
    });
    expect(open(s)).toMatchObject([{ kind: 'dispute', subject: 'alert:al_1:outcome' }]);
    const rest = { ...newRefund(ctx, p, 1990n, null, 'event'), status: 'succeeded', succeededAt: NOW } as const;
    s = settle(putRefund(s, rest), ctx);
    expect(open(s)).toEqual([]);
  });

  it('and a dispute that both go by their payment’s id are two things', () => {
    let s = hear(paidByCard(), 'pre_chargeback_alert.received', { payment: 'pay_1' });
    s = hear(s, 'dispute.action_needed', { payment: 'pay_1' });
    expect(open(s)).toHaveLength(2);
    s = hear(s, 'pre_chargeback_alert.outcome', { payment: 'pay_1', refunded: false });
    expect(open(s)).toMatchObject([{ kind: 'dispute', subject: 'pay_1' }]);
  });
});

it('an e-invoice keeps its last word: cancelled after issued, in either order', () => {
  const data = { eInvoiceId: 'e1', source: { type: 'proforma_invoice', id: PROFORMA } };
  for (const order of [
    ['e_invoice.issued', 'e_invoice.cancelled'],
    ['e_invoice.cancelled', 'e_invoice.issued'],
  ]) {
    let s = anOpenInvoice();
    for (const type of order) s = hear(s, type, data, aCtx(), type);
    expect(s.objects).toMatchObject([{ kind: 'e_invoice', morId: 'e1', status: 'CANCELLED' }]);
  }
});
