// Another payment method of the customer is confirmed: its refused renewal is tried again at once, and once.
import { FACTS } from '../support/item-facts.js';
import { describe, expect, it } from '@jest/globals';
import { openReview, putObject, putPayment } from '../../src/engine/change.js';
import { type LaneState } from '../../src/domain/model.js';
import { type ConfirmedMethod } from '../../src/domain/retry.js';
import { newMorObject } from '../../src/domain/mor-object.js';
import { orderIfWanted } from '../../src/retries/rules/settle-retries.js';
import { nextOf } from '../../src/retries/rules/next-try.js';
import { takeMethod } from '../../src/retries/rules/take-method.js';
import { anInvoice, aPaymentSucceeded, INVOICE_ID, invoiceEvent } from '../support/builders.js';
import { announced } from '../support/channel-object.js';
import { at, ctx, hard, lane, object, payment, retried, shown } from '../support/refused-renewal.js';
import { after, declined, refused, relayed, type Rig, rig, SCHEDULE, state } from '../support/retry-rig.js';

const method = (ms: number, over: Partial<ConfirmedMethod> = {}): ConfirmedMethod => ({
  ...{ id: 'met_1', at: at(ms).toISOString(), by: 'shop', ...over },
});

function told(s: LaneState, m: ConfirmedMethod, ms = 0): LaneState {
  const done = takeMethod(s, m, ctx(ms));
  if (!done.ok) throw new Error(done.message);
  return done.state;
}

async function confirm(r: Rig, over: Partial<ConfirmedMethod> = {}): Promise<void> {
  r.h.clock.advance(1_000);
  await r.h.command(INVOICE_ID, (s, c) =>
    takeMethod(s, { id: 'met_1', at: c.now.toISOString(), by: 'shop', ...over }, c),
  );
  await r.h.drain();
}

describe('a refused renewal whose customer has another confirmed payment method', () => {
  it('is charged again at once over the relay, whatever the decline and the schedule say', async () => {
    for (const retrySchedule of [{ ...SCHEDULE, hard: [] }, null]) {
      const r = rig({ recoveryLinks: null, retrySchedule });
      await refused(r, 'stolen_card');
      expect(relayed(r)).toHaveLength(0);
      await confirm(r);
      expect(relayed(r)).toHaveLength(1);
      expect((await state(r)).invoice?.retries?.retries).toMatchObject([
        { means: 'charge', by: 'shop', method: 'met_1' },
      ]);
    }
  });

  it('is charged once, however often the confirmation is reported and whatever the MoR answers', async () => {
    const r = rig({ retrySchedule: null, recoveryLinks: null });
    await refused(r, 'expired_card');
    await confirm(r);
    await confirm(r, { at: at(-1).toISOString() });
    await r.h.take(declined(r, 'insufficient_funds'));
    await r.h.rest(48);
    expect(relayed(r)).toHaveLength(1);
    await confirm(r, { id: 'met_2' });
    expect(relayed(r)).toHaveLength(2);
  });

  it('is charged next to a payment link that a fresh read shows unpaid, and not before that read', async () => {
    const r = rig({ retrySchedule: null });
    await refused(r, 'expired_card');
    await r.h.drain();
    expect((await state(r)).objects).toMatchObject([{ kind: 'payment_link', status: 'PAYABLE' }]);
    const reads = r.links.reads;
    await confirm(r);
    expect(r.links.reads).toBeGreaterThan(reads);
    expect(relayed(r)).toHaveLength(1);
  });

  it('gets a payment link where there is no relay, and no second one while that can be paid', async () => {
    const r = rig({ relay: false, retrySchedule: null });
    r.h.platform.change(INVOICE_ID, { status: 'open' });
    await refused(r, 'expired_card');
    await confirm(r);
    await after(r, 3_600_000);
    expect((await state(r)).objects.filter((o) => o.kind === 'payment_link')).toHaveLength(1);
  });

  it('is not charged when it was paid meanwhile, also when no event said so', async () => {
    const r = rig({ retrySchedule: null, recoveryLinks: null });
    await refused(r, 'expired_card');
    r.h.platform.payAnotherWay(INVOICE_ID);
    await confirm(r);
    expect(relayed(r)).toHaveLength(0);
  });

  it('is tried with it when the refusal of the method before arrives only after the report', async () => {
    const r = rig({ retrySchedule: null, recoveryLinks: null });
    await r.h.take(invoiceEvent('invoice.finalized'));
    await confirm(r);
    expect(relayed(r)).toHaveLength(0);
    await r.h.take(declined(r, 'expired_card'));
    expect(relayed(r)).toHaveLength(1);
  });
});

describe('what follows a confirmed method', () => {
  const refusal = hard;

  it('is a charge now, also after the schedule has ended, and not after a charge that was ordered since', () => {
    const ended = { at: at(1_000).toISOString(), how: 'nothing', why: null } as const;
    expect(nextOf(told(lane({ refusal, ended }), method(2_000)), ctx(3_000))).toMatchObject({
      ...{ do: 'retry', means: 'charge', at: at(2_000), method: { id: 'met_1' } },
    });
    const since = lane({ refusal, retries: [retried({ at: at(2_500).toISOString(), kind: 'hard' })] });
    expect(nextOf(told(since, method(2_000)), ctx(3_000))).not.toHaveProperty('method');
    const back = lane({ refusal, retries: [retried({ at: at(2_500).toISOString(), withdrawn: true })] });
    expect(nextOf(told(back, method(2_000)), ctx(3_000))).toHaveProperty('method');
  });

  it('names the missing settings on the timeline where neither a relay nor payment links are set up', () => {
    const noWay = ctx(1_000, { relay: false, recoveryLinks: null });
    const line = (c: typeof noWay): string => {
      const done = takeMethod(lane({ refusal }), method(1_000), c);
      return (done.ok ? done.state.journal.at(-1)?.text : undefined) ?? '';
    };
    expect(line(noWay)).toMatch(/MOR_RELAY_URL.*RECOVERY_LINK_RETURN_URL/);
    expect(line(ctx(1_000))).toContain('shop');
    expect(line(ctx(1_000))).not.toContain('MOR_RELAY_URL');
  });

  const s = lane({ refusal });
  const blocks: readonly [string, LaneState, Parameters<typeof ctx>[1]?][] = [
    ['shadow mode', s, { shadow: true }],
    ['a charge that the MoR has not answered', lane({ refusal, waitingSince: at(0).toISOString() })],
    [
      'an open review item',
      openReview(s, ctx(), { kind: 'conflicting_event', subject: 'x', fact: FACTS.conflicting_event }),
    ],
    ['money that was announced on a link', putObject(s, payable({ detail: { observed: [announced()] } }))],
    ['a proforma invoice that stands', putObject(s, object('proforma', { status: 'OUTSTANDING', morId: 'pf_1' }))],
    ['a link whose last read failed', putObject(s, payable({ detail: { silentSince: at(0).toISOString() } }))],
    ['a link that the MoR has not named yet', putObject(s, payable({ status: 'REQUESTED', morId: null }))],
    ['an invoice that is void', lane({ refusal }, { status: 'void' })],
    ['an invoice that is marked uncollectible', lane({ refusal }, { status: 'uncollectible' })],
  ];
  it.each(blocks)('waits behind %s', (_, blocked, over = {}) => {
    const row = blocked.invoice;
    if (row === null) throw new Error('the lane has an invoice');
    const known = { ...blocked, invoice: { ...row, method: method(1_000) } };
    expect(nextOf(known, ctx(2_000, over))).toEqual({ do: 'rest' });
  });

  it('is nothing once the subscription has ended, now and later', () => {
    const over = orderIfWanted(told(s, method(1_000)), shown({ subscriptionStatus: 'canceled' }), ctx(2_000));
    expect(over.messages).toEqual([]);
    expect(nextOf(over, ctx(3_000))).toEqual({ do: 'rest' });
  });

  it('an invoice whose money came, or that is over, keeps no method', () => {
    const taken = putPayment(s, payment({ mark: 'waiting', succeededAt: at(0) }));
    for (const one of [taken, lane({ refusal }, { status: 'paid' })]) expect(told(one, method(1_000))).toBe(one);
  });

  function payable(over: object = {}) {
    return newMorObject(at(0), {
      id: 'lnk_1',
      kind: 'payment_link',
      invoiceId: 'in_1',
      status: 'PAYABLE',
      morId: 'pl_1',
      ...over,
    });
  }
});

it('the MoR’s success with another method marks the invoice as any other', async () => {
  const r = rig({ retrySchedule: null, recoveryLinks: null });
  await refused(r, 'expired_card');
  await confirm(r);
  await r.h.take(
    aPaymentSucceeded({ paymentId: 'pay_new', at: r.h.clock.now(), amount: Number(anInvoice().amountDue) }),
  );
  expect((await state(r)).invoice).toMatchObject({ status: 'paid' });
});
