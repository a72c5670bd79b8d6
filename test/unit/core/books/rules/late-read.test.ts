// A read of an invoice that is taken in late, as its subscription or the MoR was asked something first: what was heard meanwhile is newer.
import { expect, it } from '@jest/globals';
import { requestObject } from '../../../../support/rigs/object-calls.js';
import { isHeardSince } from '../../../../../src/core/books/rules/invoice-facts.js';
import { emptyLane } from '../../../../../src/engine/context.js';
import { requestRetry } from '../../../../../src/features/retries/rules/retry.js';
import { finding } from '../../../../../src/features/verify/rules/findings.js';
import { VerifyService } from '../../../../../src/features/verify/verify.service.js';
import { LaneSignal } from '../../../../../src/engine/lane-signal.js';
import { anInvoice, INVOICE_ID, invoiceEvent } from '../../../../support/builders/events.js';
import { aCtx, facts, NOW } from '../../../../support/builders/channel-lane.js';
import { refused, relayed, type Rig, rig, state } from '../../../../support/rigs/retry-rig.js';
import { recordEvent, applyLateRead, recordRead, asCommand } from '../../../../support/rigs/decide.js';

const shownNow = ({ h }: Rig) => ({
  facts: h.platform.invoices.get(INVOICE_ID) ?? anInvoice(),
  askedAt: h.clock.now(),
});

const askRetry = (rig: Rig, { facts: invoice, askedAt }: ReturnType<typeof shownNow>) =>
  rig.h.command(INVOICE_ID, (s, ctx) => {
    const shown = { invoice, object: '{}', apiVersion: null, livemode: false, subscriptionStatus: 'past_due' };
    return asCommand((lane) => requestRetry(lane, { shown, askedAt, by: 'ops' }))(s, ctx);
  });

const askLink = (rig: Rig, read: ReturnType<typeof shownNow>) =>
  rig.h.command(INVOICE_ID, (s, ctx) => {
    const wire = { method: 'POST', path: '/', body: '{"key":"k","amount":{"minor":{"minor":"1000"}}}' } as const;
    return requestObject(s, { kind: 'payment_link', id: 'lnk_1', wire, until: null, ...read, by: 'ops' }, ctx);
  });

/** A refused renewal, read an hour later, and paid on Stripe half a second after that, which its event says at once. */
async function paidMeanwhile(): Promise<{ r: Rig; read: ReturnType<typeof shownNow> }> {
  const r = rig({ retrySchedule: null, recoveryLinks: null });
  await refused(r);
  r.h.clock.advance(3_600_000);
  const read = shownNow(r);
  r.h.clock.advance(500);
  r.h.platform.payAnotherWay(INVOICE_ID);
  await r.h.take(invoiceEvent('invoice.paid', { at: r.h.clock.now() }));
  return { r, read };
}

it.each([0, 40])(
  'Crossbill requests no charge for an invoice paid on Stripe during a read of %s seconds',
  async (seconds) => {
    const { r, read } = await paidMeanwhile();
    r.h.clock.advance(seconds * 1_000);
    const done = await askRetry(r, read);
    await r.h.drain();
    expect(done).toMatchObject({ ok: false, status: 409, code: 'invoice_not_retryable' });
    expect([relayed(r), (await state(r)).invoice?.platformStatus]).toEqual([[], 'paid']);
  },
);

it('Crossbill makes no payment link for an invoice paid on Stripe during a slow read', async () => {
  const { r, read } = await paidMeanwhile();
  const done = await askLink(r, read);
  await r.h.drain();
  expect(done).toMatchObject({ ok: false, status: 409, code: 'invoice_not_payable' });
  expect([r.links.links.size, (await state(r)).invoice?.platformStatus]).toEqual([0, 'paid']);
});

it('an invoice paid on Stripe during a slow read of `crossbill verify` stays paid after the repair', async () => {
  const r = rig({ retrySchedule: null, recoveryLinks: null });
  const { h } = r;
  await refused(r);
  h.clock.advance(3_600_000);
  const readInvoice = h.platform.readInvoice.bind(h.platform);
  h.platform.readInvoice = async (id) => {
    h.platform.readInvoice = readInvoice;
    const open = await readInvoice(id);
    h.platform.payAnotherWay(INVOICE_ID);
    await h.take(invoiceEvent('invoice.paid', { at: h.clock.now() }));
    return open;
  };
  const none = {} as never;
  const verify = new VerifyService(
    none,
    none,
    h.platform,
    h.gateway,
    none,
    h.repository,
    h.context,
    new LaneSignal(),
    h.ids,
  );
  await verify.repair(none, [finding.otherStatus({ invoiceId: INVOICE_ID }, { shown: 'open', known: 'paid' })]);
  await h.drain();
  expect((await state(r)).invoice).toMatchObject({ platformStatus: 'paid', amountRemaining: 0n });
});

it('Crossbill reads an invoice from Stripe again before it requests a charge, if its last read is old', async () => {
  const r = rig({ retrySchedule: null, recoveryLinks: null });
  await refused(r);
  r.h.clock.advance(3_600_000);
  const read = shownNow(r);
  r.h.platform.payAnotherWay(INVOICE_ID);
  r.h.clock.advance(40_000);
  expect(await askRetry(r, read)).toMatchObject({ ok: true });
  await r.h.drain();
  expect([relayed(r), (await state(r)).invoice?.platformStatus]).toEqual([[], 'paid']);
});

it.each([
  ['becomes void', { status: 'void' }, 'invoice_not_payable', 'the invoice is void'],
  ['gets a lower amount due', { amountDue: 800n, amountRemaining: 800n }, 'invoice_changed', 'the amount due changed'],
] as const)(
  'Crossbill makes no charge and no payment link for an invoice that %s during a slow read',
  async (_, change, code, why) => {
    const r = rig({ retrySchedule: null, recoveryLinks: null });
    await refused(r);
    r.h.platform.change(INVOICE_ID, change);
    expect(await askLink(r, shownNow(r))).toMatchObject({ ok: false, status: 409, code });
    const done = await askRetry(r, shownNow(r));
    expect([done.ok, done.ok ? '' : done.message]).toEqual([false, expect.stringContaining(why)]);
    await r.h.drain();
    expect([relayed(r), r.links.links.size]).toEqual([[], 0]);
  },
);

it('Crossbill counts a later read of an invoice, or an event in the same second, as newer than an earlier read', () => {
  const ms = (count: number): Date => new Date(NOW.getTime() + count);
  const askedAt = ms(400);
  const ofEvent = (at: Date) => recordEvent(emptyLane('in_1'), aCtx(), facts(), at).invoice;
  const ofRead = (at: Date) => recordRead(emptyLane('in_1'), aCtx(at), facts()).invoice;
  expect(isHeardSince(null, askedAt)).toBe(false);
  expect([-1_000, 0, 1_000].map((n) => isHeardSince(ofEvent(ms(n)), askedAt))).toEqual([false, true, true]);
  expect([0, 400, 401].map((n) => isHeardSince(ofRead(ms(n)), askedAt))).toEqual([false, false, true]);
});

it('if Stripe’s clock is slow, an invoice stays paid although an older read of the invoice arrives after the event', () => {
  const ms = (count: number): Date => new Date(NOW.getTime() + count);
  const read = recordRead(emptyLane('in_1'), aCtx(ms(-60_000)), facts());
  const paid = facts({ status: 'paid', amountPaid: 1000n, amountRemaining: 0n });
  const known = recordEvent(read, aCtx(ms(300)), paid, ms(-1_000));
  const s = applyLateRead(known, aCtx(ms(400)), facts(), ms(5));
  expect(s.invoice?.platformStatus).toBe('paid');
});

it('if Stripe’s clock is slow, Crossbill requests no charge for a paid invoice', async () => {
  const r = rig({ retrySchedule: null, recoveryLinks: null });
  await refused(r);
  r.h.clock.advance(3_600_000);
  const read = shownNow(r);
  r.h.clock.advance(500);
  r.h.platform.payAnotherWay(INVOICE_ID);
  await r.h.take(invoiceEvent('invoice.paid', { at: new Date(r.h.clock.now().getTime() - 2_000) }));
  expect((await askRetry(r, read)).ok).toBe(false);
  await r.h.drain();
  expect([relayed(r), (await state(r)).invoice?.platformStatus]).toEqual([[], 'paid']);
});
