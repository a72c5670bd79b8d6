// A request without a reply, while the money of its invoice comes.
import { chooseItem } from '../../../support/rigs/choose-item.js';
import { expect, it } from '@jest/globals';
import { type CallRow } from '../../../../src/shared/domain/call-row.js';
import { type LaneState } from '../../../../src/shared/domain/model.js';
import { emptyLane, callKey } from '../../../../src/engine/context.js';
import { requestLink } from '../../../../src/features/links/rules/request-link.js';
import { tellStep } from '../../../support/builders/tell-step.js';
import {
  aPaymentFailed,
  aPaymentSucceeded,
  delivery,
  INVOICE_ID,
  invoiceEvent,
} from '../../../support/builders/events.js';
import { hear, open, PROFORMA } from '../../../support/builders/channel-lane.js';
import { aLink, aProforma, asking, eur, linkFacts } from '../../../support/builders/channel-object.js';
import { failed } from '../../../support/fakes/fake-platform.js';
import { never } from '../../../support/never.js';
import { rig, state } from '../../../support/rigs/retry-rig.js';
import { settle, wanted } from '../../../support/builders/settled.js';
import { at, ctx, lane, payment, withInvoice } from '../../../support/builders/waiting-payment.js';
import { applyReply, decide } from '../../../support/rigs/decide.js';

const silent = failed('unknown', { status: 503 });
const notified = (before: LaneState, after: LaneState) => tellStep(before, after).map((t) => t.type);
const withdrawn = (state: LaneState) => wanted(state, ctx());
const requested = { status: 'REQUESTED', morId: null, url: null } as const;
const link = (state: LaneState) => asking(state, aLink(requested));
const proforma = (state: LaneState) => asking(state, aProforma({ ...requested, number: null }));
const tried = ({ s, m }: { readonly s: LaneState; readonly m: CallRow }) => applyReply(s, m.id, silent, ctx());

it('if a payment comes before the MoR answers a link request, Crossbill withdraws the request and opens a review item', async () => {
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
  await h.idle(3);
  const s = await state(r);
  expect(links.links.size).toBe(0);
  expect(notified(emptyLane(s.lane), s)).not.toContain('payment_link.created');
  expect(open(s)).toMatchObject([
    {
      kind: 'double_payment',
      fact: { code: 'may-stand' },
    },
  ]);
});

it('if the amount due changes before the MoR answers a link request, Crossbill withdraws the request and makes a new one', async () => {
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
  await h.idle(1);
  const [item] = open(await state(r)); // the first may be there, though nobody got its address
  expect(item).toMatchObject({
    kind: 'double_payment',
    fact: { code: 'may-stand' },
  });
  await chooseItem(h, 'dismiss');
  await h.idle(1);
  expect([asked, (await state(r)).objects.map((o) => o.status)]).toEqual([['600'], ['REPLACED', 'PAYABLE']]);
});

it.each<readonly [string, LaneState, string]>([
  ['is paid', lane({ status: 'paid' }), 'the invoice is paid'],
  ['is void', lane({ status: 'void' }), 'the invoice is void'],
  ['has a payment before its mark', lane({}, payment()), 'payment pay_1 was taken and is being marked'],
])('Crossbill withdraws an unanswered link request and stores the reason if the invoice %s', (_, of, why) => {
  const s = withdrawn(link(of).s);
  expect(s.calls).toMatchObject([{ kind: 'create_payment_link', status: 'cancelled' }]);
  expect(s.objects).toMatchObject([
    { status: 'REFUSED', detail: { refusal: { status: 409, code: 'invoice_not_payable' } } },
  ]);
  expect(s.objects[0]?.detail.refusal?.message).toBe(`Crossbill withdrew the request: ${why}.`);
  expect(s.journal.at(-1)?.text).toBe(`create_payment_link taken back: ${why}`);
  expect(open(settle(s, ctx()))).not.toContainEqual(expect.objectContaining({ subject: 'lnk_1' }));
});

it.each<readonly [string, LaneState]>([
  ['is open', lane()],
  ['is uncollectible', lane({ status: 'uncollectible' })],
  ['has a payment that waits for an operator', lane({}, payment({ mark: 'parked' }))],
  ['is marked in part', lane({}, payment({ mark: 'confirmed' }))],
])('Crossbill keeps an unanswered link request while its invoice %s', (_, of) => {
  const { s } = link(of);
  expect(withdrawn(s)).toBe(s);
});

it("after a withdrawn link request, the next request still names the customer's country", () => {
  const recoveryLinks = { jurisdiction: 'GB', returnUrl: 'https://shop.example', expiresSec: 600 };
  const asked = withInvoice(lane(), { customerCountry: 'AT' });
  const first = decide(asked, ctx({ recoveryLinks }), (l) => void requestLink(l, 'lnk_1'));
  const back = withdrawn({ ...first, payments: [payment()] });
  expect(back.objects[0]?.status).toBe('REFUSED');
  const second = decide(back, ctx({ recoveryLinks }), (l) => void requestLink(l, 'lnk_2'));
  expect(second.objects.map((o) => o.detail.jurisdiction)).toEqual(['AT', 'AT']);
});

it('if a withdrawn link request gets a capture, Crossbill sends the request again under the same key and books the payment', () => {
  const asked = link(lane({ status: 'paid' }));
  const back = settle(tried(asked), ctx());
  expect(back.objects[0]?.detail).toMatchObject({ mayStand: true });
  const idempotencyKey = callKey('create_payment_link', 'lnk_1', 1);
  const heard = hear(back, 'payment.captured', { idempotencyKey, pspReference: 'ch_9' }, ctx());
  const [m = never()] = heard.calls;
  expect(m).toMatchObject({ status: 'pending', key: asked.m.key, wire: asked.m.wire });
  const { observed, ...detail } = heard.objects[0]?.detail ?? never();
  expect([detail, observed]).toMatchObject([{ unanswered: true }, [{ source: 'event', charge: 'ch_9' }]]);
  expect(detail).not.toHaveProperty('mayStand');
  const reply = { kind: 'create_payment_link', link: linkFacts({ status: 'PAID', due: eur(0n) }) } as const;
  const outcome = { ok: true, value: reply, status: 201, requestId: null } as const;
  const found = settle(applyReply(heard, m.id, outcome, ctx()), ctx());
  expect(found.payments).toMatchObject([{ origin: 'payment_link', amount: 2990n, processorChargeId: 'ch_9' }]);
  expect(notified(heard, found)).not.toContain('payment_link.created');
  expect(open(found).filter((r) => r.subject === 'lnk_1')).toEqual([]);
});

it('if a withdrawn link request of an outdated amount gets a capture, Crossbill repeats the request and books a parked payment', async () => {
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
  await h.idle(1);
  const s = await state(r);
  expect(s.payments.map((p) => [p.origin, p.mark, p.amount])).toContainEqual(['payment_link', 'parked', 1000n]);
  const [taken, due] = [eur(1000n), eur(600n)];
  expect(open(s)).toMatchObject([{ fact: { code: 'amount-differs', taken, due } }]);
});

it('if the MoR refuses a link request after a capture on that link, a review item opens', () => {
  const asked = link(lane({ status: 'paid' }));
  const idempotencyKey = callKey('create_payment_link', 'lnk_1', 1);
  const heard = hear(settle(tried(asked), ctx()), 'payment.captured', { idempotencyKey, pspReference: 'ch_9' }, ctx());
  const refusal = failed('refused', { status: 409, code: 'no_active_arrangement', message: 'none' });
  const refused = settle(applyReply(heard, heard.calls[0]?.id ?? '', refusal, ctx()), ctx());
  expect(open(refused).filter((x) => x.fact.code === 'link-lost' && x.fact.announced)).toMatchObject([
    { kind: 'conflicting_event', subject: 'lnk_1' },
  ]);
});

it('Crossbill sends the notification payment_link.created for a new link, but not while a payment of its invoice waits', () => {
  const { s, m } = link(lane());
  const reply = { kind: 'create_payment_link', link: linkFacts({ expiresAt: at(60_000) }) } as const;
  const outcome = { ok: true, value: reply, status: 201, requestId: null } as const;
  const made = applyReply(s, m.id, outcome, ctx());
  expect(notified(s, settle(made, ctx()))).toContain('payment_link.created');
  expect(notified(s, settle({ ...made, payments: [payment()] }, ctx()))).not.toContain('payment_link.created');
});

const paid = lane({ status: 'paid' });

it('Crossbill withdraws an unanswered proforma request of a paid invoice, with a review item if the MoR may have received it', () => {
  const never = settle(proforma(paid).s, ctx());
  expect(never.calls).toMatchObject([{ kind: 'create_proforma', status: 'cancelled' }]);
  expect([never.objects[0]?.status, open(never)]).toEqual(['REFUSED', []]);
  const once = settle(tried(proforma(paid)), ctx());
  expect(once.calls).toMatchObject([{ status: 'cancelled', attempts: 1 }]);
  expect(open(once)).toMatchObject([
    {
      ...{ kind: 'double_payment', subject: 'pfm_1' },
      fact: { code: 'may-stand', what: 'proforma', object: 'pfm_1', invoice: 'in_1' },
    },
  ]);
});

it('after a withdrawn request, an event about its proforma invoice updates the stored proforma invoice and adds no second invoice', () => {
  const once = settle(tried(proforma(paid)), ctx());
  const heard = hear(once, 'proforma_invoice.issued', { proformaInvoiceId: PROFORMA, number: 'PF-9' }, ctx());
  expect(heard.objects).toMatchObject([{ id: 'pfm_1', morId: PROFORMA, status: 'ISSUED', number: 'PF-9' }]);
  expect(heard.objects[0]?.detail.mayStand).toBeUndefined();
  expect(heard.calls).toMatchObject([{ status: 'cancelled' }]);
});

it('if Crossbill withdraws a proforma request, the proforma invoice keeps the id and status from an earlier event', () => {
  const { s } = asking(paid, aProforma({ status: 'ISSUED' }));
  const back = withdrawn(s);
  expect([back.calls[0]?.status, back.objects[0]]).toEqual(['cancelled', s.objects[0]]);
});
