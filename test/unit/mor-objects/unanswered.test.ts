// A request without a reply, while the money of its invoice comes.
import { describe, expect, it } from '@jest/globals';
import { type LaneState, type OutboxRow } from '../../../src/domain/model.js';
import { emptyLane, messageKey } from '../../../src/engine/context.js';
import { requestLink } from '../../../src/mor-objects/rules/request.js';
import { tellLane } from '../../../src/notifications/rules/tell-lane.js';
import { aPaymentFailed, aPaymentSucceeded, delivery, INVOICE_ID, invoiceEvent } from '../../support/builders.js';
import { hear, open, PROFORMA } from '../../support/channel-lane.js';
import { aLink, aProforma, asking, eur, linkFacts } from '../../support/channel-object.js';
import { failed } from '../../support/fakes.js';
import { withWords, wordsOf } from '../../support/item-words.js';
import { never } from '../../support/never.js';
import { rig, state } from '../../support/retry-rig.js';
import { settle, wanted } from '../../support/settled.js';
import { at, ctx, lane, payment, withInvoice } from '../../support/waiting-payment.js';
import { applyAnswer, resolveReview, decide } from '../../support/decide.js';

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
