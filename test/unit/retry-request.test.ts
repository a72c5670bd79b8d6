// A refused renewal that a person wants tried again now, and a relay that refuses.
import { withWords } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { requestObject } from '../../src/mor-objects/rules/request-object.js';
import { takeRead } from '../../src/engine/facts.js';
import { type FlowSettings } from '../../src/domain/settings.js';
import { resolveReview } from '../../src/decisions/decide.js';
import { requestRetry } from '../../src/retries/rules/request-retry.js';
import { retryName } from '../../src/retries/rules/trail.js';
import { anInvoice, aPaymentSucceeded, INVOICE_ID, invoiceEvent } from '../support/builders.js';
import { failed } from '../support/fakes.js';
import { openKinds } from '../support/lane-harness.js';
import {
  after,
  DAY_MS,
  days,
  declined,
  refused,
  relayed,
  retry,
  type Rig,
  rig,
  SCHEDULE,
  state,
} from '../support/retry-rig.js';

describe('a retry that a person asks for', () => {
  it('is sent at once, counts as the schedule’s next step, and a second one is refused while its answer is awaited', async () => {
    const r = rig();
    await refused(r);
    expect(await retry(r)).toMatchObject({ ok: true, value: { number: 1, means: 'charge', by: 'ops' } });
    expect(await retry(r)).toMatchObject({ ok: false, status: 409, code: 'invoice_not_retryable' });
    await r.h.drain();
    const again = await retry(r);
    expect(again.ok ? '' : again.message).toContain('the MoR may be charging it; its answer has been awaited since');
    await r.h.take(declined(r));
    expect((await state(r)).invoice?.nextTryAt).toEqual(new Date(r.h.clock.now().getTime() + 5 * DAY_MS));
    expect(relayed(r)).toHaveLength(1);
  });

  it('works without a schedule, and nothing follows it by itself', async () => {
    const r = rig({ retrySchedule: null, recoveryLinks: null });
    await refused(r, 'stolen_card');
    expect(await retry(r)).toMatchObject({ ok: true, value: { means: 'charge' } });
    await r.h.take(declined(r));
    await r.h.rest(24 * 60);
    expect(relayed(r)).toHaveLength(1);
    expect((await state(r)).invoice?.nextTryAt).toBeNull();
  });

  it('may follow a silent one once that is overdue', async () => {
    const r = rig();
    await refused(r);
    await retry(r);
    await r.h.rest(30);
    r.h.clock.advance(DAY_MS);
    await r.h.drain();
    expect(openKinds(await state(r))).toEqual(['renewal_overdue']);
    expect(await retry(r)).toMatchObject({ ok: true, value: { number: 2 } });
    expect(openKinds(await state(r))).toEqual([]);
  });

  const cases: readonly [string, string, (r: Rig) => unknown, Partial<FlowSettings>?][] = [
    ['that is paid', 'the invoice is paid', (r) => r.h.platform.payAnotherWay(INVOICE_ID)],
    ['that is void', 'the invoice is void', (r) => r.h.platform.change(INVOICE_ID, { status: 'void' })],
    [
      'that is written off',
      'marked uncollectible',
      (r) => r.h.platform.change(INVOICE_ID, { status: 'uncollectible' }),
    ],
    ['whose subscription has ended', 'its subscription is canceled', (r) => r.h.platform.ended.add('sub_oak')],
    [
      'for which money was taken',
      'money was taken for it already (payment pay_taken)',
      (r) => {
        r.h.platform.change(INVOICE_ID, { status: 'draft' });
        r.h.clock.advance(60_000);
        return r.h.take(aPaymentSucceeded({ paymentId: 'pay_taken', at: r.h.clock.now() }));
      },
    ],
    ['without any way to do it', 'no way is set up', () => undefined, { relay: false }],
    [
      'that is paid in part and has no link set up',
      'a part of it is paid',
      (r) => r.h.platform.change(INVOICE_ID, { amountPaid: 400n, amountRemaining: 600n }),
    ],
    [
      'whose link can be paid',
      'a payment link can be paid until',
      (r) =>
        r.h.command(INVOICE_ID, (s, ctx) => {
          const wire = { method: 'POST', path: '/', body: '{}' } as const;
          const facts = r.h.platform.invoices.get(INVOICE_ID) ?? anInvoice();
          return requestObject(
            s,
            { kind: 'payment_link', id: 'lnk_p', wire, until: null, facts, askedAt: ctx.now, by: 'ops' },
            ctx,
          );
        }),
    ],
  ];
  it.each(cases)('of an invoice %s is refused with why: %s', async (_, why, prepare, over = {}) => {
    const r = rig({ retrySchedule: null, recoveryLinks: null, ...over });
    await refused(r);
    await prepare(r);
    const sent = relayed(r).length;
    const done = await retry(r);
    expect(done).toMatchObject({ ok: false, status: 409, code: 'invoice_not_retryable' });
    expect(done.ok ? '' : done.message).toContain(why);
    await r.h.rest(1);
    expect(relayed(r)).toHaveLength(sent);
  });

  it('is refused where another amount was read since Stripe was asked for it: the event would hold the old one', async () => {
    const r = rig();
    await refused(r);
    const [invoice, askedAt] = [anInvoice(), r.h.clock.now()];
    const shown = {
      invoice,
      object: '{"amount_due":1000}',
      apiVersion: null,
      livemode: false,
      subscriptionStatus: null,
    };
    r.h.clock.advance(1_000);
    r.h.platform.change(INVOICE_ID, { amountDue: 800n, amountRemaining: 800n });
    const now = r.h.platform.invoices.get(INVOICE_ID) ?? null;
    await r.h.command(INVOICE_ID, (s, ctx) => ({ ok: true, value: null, state: takeRead(s, ctx, now) }));
    const done = await r.h.command(INVOICE_ID, (s, ctx) => requestRetry(s, { shown, askedAt, by: 'ops' }, ctx));
    expect(done).toMatchObject({ ok: false, status: 409, code: 'invoice_not_retryable' });
    await r.h.drain();
    expect(relayed(r)).toEqual([]);
  });

  it('of an invoice that never failed is refused', async () => {
    const r = rig();
    await r.h.take(invoiceEvent('invoice.finalized'));
    const done = await retry(r);
    expect(done.ok ? '' : done.message).toContain('no charge of it has failed');
  });
});

describe('a relay that refuses a retry', () => {
  it('is a person’s to mend; tried again it is the same event, and dismissed the schedule goes on', async () => {
    const r = rig();
    await refused(r);
    const send = r.h.relay.send.bind(r.h.relay);
    r.h.relay.send = () => Promise.resolve(failed('refused'));
    await after(r, 3 * DAY_MS);
    expect(openKinds(await state(r))).toEqual(['effect_failed']);
    r.h.relay.send = send;
    const item = (await state(r)).reviews.find((x) => x.status === 'open');
    const choose = (resolution: 'retry' | 'dismiss') =>
      r.h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', { resolution, note: null, by: 'ops' }, ctx));
    await choose('retry');
    await r.h.drain();
    expect(relayed(r).map((e) => e.id)).toEqual([retryName('evt_crossbill', INVOICE_ID, 1)]);
    await r.h.take(declined(r));
    await r.h.rest(24 * 6);
    expect(relayed(r)).toHaveLength(2);
  });

  it('opens an item for each retry, even if the item of an earlier one was dismissed: no subscription ends unseen', async () => {
    const r = rig({ retrySchedule: { ...SCHEDULE, soft: days(3, 5), end: 'cancel' } });
    await refused(r);
    r.h.relay.send = () => Promise.resolve(failed('refused', { status: 403, message: 'no' }));
    for (const number of [1, 2]) {
      await r.h.rest(24 * 40);
      const open = (await state(r)).reviews.filter((x) => x.status === 'open');
      const summary = `retry_charge, retry ${number}, was refused: 403 no`;
      expect(withWords(open)).toMatchObject([
        { kind: 'effect_failed', subject: `retry_charge:${INVOICE_ID}`, summary },
      ]);
      expect(r.h.platform.effects).toEqual({});
      const dismiss = { resolution: 'dismiss', note: 'seen', by: 'ops' } as const;
      await r.h.command(INVOICE_ID, (s, ctx) => resolveReview(s, open[0]?.id ?? '', dismiss, ctx));
    }
    await r.h.rest(24 * 40);
    expect(r.h.platform.effects).toEqual({ cancel_subscription: 1 }); // a person has seen both
  });
});
