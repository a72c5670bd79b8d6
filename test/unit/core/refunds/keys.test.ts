// A refund whose first try may have moved money: it is not made a second time, whatever became of the answer, the record or the key.
import { never } from '../../../support/never.js';
import { chooseItem, tryChoice } from '../../../support/rigs/choose-item.js';
import { describe, expect, it } from '@jest/globals';
import { type LaneState } from '../../../../src/shared/domain/model.js';
import { refundable } from '../../../../src/shared/domain/status.js';
import { finding } from '../../../../src/features/verify/rules/findings.js';
import { VerifyService } from '../../../../src/features/verify/verify.service.js';
import { LaneSignal } from '../../../../src/engine/lane-signal.js';
import { anInvoice, aPaymentSucceeded, aRefund, INVOICE_ID } from '../../../support/builders/events.js';
import { StoreUnavailable } from '../../../../src/shared/domain/errors.js';
import { failed } from '../../../support/fakes/fake-platform.js';
import { balances, LaneHarness, openKinds } from '../../../support/rigs/lane-harness.js';
import { ask, paid } from '../../../support/builders/paid-lane.js';
import { resolveReview } from '../../../support/rigs/decide.js';

const state = (harness: LaneHarness): Promise<LaneState> => harness.state(INVOICE_ID);

/** What was given back of 10.00 EUR, by the ledger and by Stripe's credit notes. */
async function shows(harness: LaneHarness, refunded: bigint, notes: number): Promise<void> {
  expect(harness.platform.notes).toHaveLength(notes);
  expect(balances(await state(harness))).toEqual({
    mor_receivable: 1000n - refunded,
    settled_invoices: refunded - 1000n,
  });
}

/** Of 3.00 EUR; what became of its first try is left to each test. Nobody worked for longer than a key lives. */
async function askLongAgo(harness: LaneHarness): Promise<void> {
  await ask(harness, 300n);
  await harness.drain();
  harness.clock.advance(30 * 3_600_000);
}

it("after 30 hours Crossbill repeats no refund with a lost answer or a lost record, and reserves the amount until the MoR's event", async () => {
  for (const lost of ['answer', 'record'] as const) {
    const h = await paid();
    if (lost === 'answer') h.gateway.trouble.push('lost-answer');
    else h.repository.dieBefore = h.repository.transactions + 2; // the transaction after the call
    await askLongAgo(h);
    await h.idle(48);
    let s = await state(h);
    expect(h.gateway.made).toHaveLength(1);
    expect([s.refunds[0]?.status, openKinds(s)]).toEqual(['unknown', ['refund_stuck']]);
    expect(refundable(s.payments[0] ?? never(), s.refunds, 0n)).toBe(700n);
    await h.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1', amount: 300 }));
    s = await state(h);
    expect([s.refunds.length, openKinds(s)]).toEqual([1, []]);
    await shows(h, 300n, 1);
  }
});

it('after a crash during a refund and 30 hours without the MoR, Crossbill does not send the refund again', async () => {
  const h = await paid();
  const replies = h.gateway.createRefund.bind(h.gateway);
  let isDown = false;
  h.gateway.createRefund = (...call) => (isDown ? Promise.resolve(failed('retry')) : replies(...call));
  h.repository.dieBefore = h.repository.transactions + 2; // the transaction after the call
  await ask(h, 300n);
  await h.drain();
  isDown = true; // nobody can connect for a day
  await h.idle(30);
  isDown = false;
  await h.idle(48);
  const s = await state(h);
  expect([h.crashes, h.gateway.made.length]).toEqual([1, 1]);
  expect([s.refunds[0]?.status, openKinds(s)]).toEqual(['unknown', ['refund_stuck']]);
});

it('Crossbill retries a refund for about a day while its key is valid, and then opens a refund_stuck item', async () => {
  for (const [tries, end] of [
    [80, 'succeeded'],
    [130, 'unknown'],
  ] as const) {
    const h = await paid();
    h.gateway.trouble.push(...Array.from({ length: tries }, () => 'retry' as const));
    await ask(h, 300n);
    await h.idle(48);
    const s = await state(h);
    const isDone = end === 'succeeded';
    expect([s.refunds[0]?.status, h.gateway.made.length]).toEqual([end, isDone ? 1 : 0]);
    expect(openKinds(s)).toEqual(isDone ? [] : ['refund_stuck']);
    await shows(h, isDone ? 300n : 0n, isDone ? 1 : 0);
  }
});

it('if the database fails right after a refund, Crossbill does not send the refund again a day later', async () => {
  const h = await paid();
  await ask(h, 300n);
  const transact = h.backend.repository.transact.bind(h.backend.repository);
  let isLost = false;
  h.backend.repository.transact = async (work) => {
    if (h.gateway.made.length === 0 || isLost) return transact(work);
    isLost = true;
    throw new StoreUnavailable('the database is gone');
  };
  await expect(h.drain()).rejects.toThrow(StoreUnavailable);
  const send = h.gateway.createRefund.bind(h.gateway);
  const back = h.clock.now().getTime() + 25 * 3_600_000;
  h.gateway.createRefund = async (...call) => (h.clock.now().getTime() < back ? failed('stopped') : send(...call));
  h.clock.advance(60_000);
  await h.idle(48);
  expect(h.gateway.made).toHaveLength(1);
  expect(openKinds(await state(h))).toEqual(['refund_stuck']);
});

it('Crossbill refuses to resend a refund whose stored request bytes were erased', async () => {
  const h = await paid();
  h.gateway.trouble.push('lost-answer');
  await askLongAgo(h);
  await h.idle(48);
  const purged = (state: LaneState): LaneState => ({
    ...state,
    calls: state.calls.map((m) => ({ ...m, wire: { ...m.wire, body: null } })),
  });
  await h.command(INVOICE_ID, (x) => ({ ok: true, state: purged(x), value: null }));
  expect(await tryChoice(h, 'retry')).toMatchObject({ ok: false, code: 'request_erased' });
  await h.idle(48);
  expect([h.gateway.made.length, openKinds(await state(h))]).toEqual([1, ['refund_stuck']]);
});

it('the command `crossbill verify --repair` does not send a refund again after its idempotency key has expired', async () => {
  const h = await paid();
  h.repository.dieBefore = h.repository.transactions + 2;
  await askLongAgo(h);
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
  const found = finding.otherStatus({ invoiceId: INVOICE_ID }, { shown: 'open', known: 'paid' });
  await verify.repair(none, [found]);
  await h.idle(48);
  expect(h.gateway.made).toHaveLength(1);
  expect(openKinds(await state(h))).toEqual(['refund_stuck']);
});

it("the command `crossbill verify --repair` does not make a refund's idempotency key valid for longer", async () => {
  const h = await paid();
  h.repository.dieBefore = h.repository.transactions + 2; // the transaction after the call
  await ask(h, 300n);
  await h.drain();
  h.clock.advance(20 * 3_600_000);
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
  const send = h.gateway.createRefund.bind(h.gateway);
  const back = h.clock.now().getTime() + 6 * 3_600_000;
  h.gateway.createRefund = async (...call) => (h.clock.now().getTime() < back ? failed('retry') : send(...call));
  await h.idle(48);
  expect(h.gateway.made).toHaveLength(1);
  expect(openKinds(await state(h))).toEqual(['refund_stuck']);
});

it("if the MoR's event confirms a refund with a lost answer, Crossbill does not send the refund again", async () => {
  const h = await paid();
  h.gateway.trouble.push('lost-answer');
  await ask(h, 300n);
  await h.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1', amount: 300 }));
  h.clock.advance(30 * 3_600_000);
  await h.idle(48);
  expect(h.gateway.made).toHaveLength(1);
  expect((await state(h)).calls.filter((m) => m.status === 'pending')).toEqual([]);
});

it("an operator's retry sends a withdrawn refund while its new idempotency key is valid", async () => {
  const h = await paid();
  h.gateway.trouble.push('lost-request');
  await askLongAgo(h);
  h.gateway.trouble.push(...Array.from({ length: 60 }, () => 'retry' as const));
  await h.idle(1);
  expect(h.gateway.asked).toHaveLength(1);
  await chooseItem(h, 'retry', { kind: 'refund_stuck' });
  await h.idle(22);
  expect(h.gateway.made).toHaveLength(1);
  expect(openKinds(await state(h))).toEqual([]);
  await shows(h, 300n, 1);
});

it('a refund that the MoR refuses at the eighth try opens a review item; a refusal at the second try opens none', async () => {
  const refused = async (tries: number): Promise<readonly [string | undefined, readonly string[]]> => {
    const h = await paid();
    h.gateway.trouble.push(...Array.from({ length: tries }, () => 'retry' as const), 'refused');
    await ask(h, 300n);
    await h.idle(1);
    const s = await state(h);
    return [s.refunds[0]?.status, openKinds(s)];
  };
  expect(await refused(7)).toEqual(['failed', ['refund_stuck']]);
  expect(await refused(1)).toEqual(['failed', []]); // who asked waits for that
});

const portal = aRefund({ refundId: 'rfnd_portal', processorRefundId: 're_portal' });

it('if an event reports an equal refund before the MoR refuses the request, a refund_gap item names the refused request', async () => {
  const h = await paid();
  const { id } = await ask(h, 300n);
  h.gateway.trouble.push('refused');
  await h.take(portal);
  await h.idle(48);
  const s = await state(h);
  expect(s.refunds).toMatchObject([{ id, status: 'succeeded', morRefundId: 'rfnd_portal', failure: { status: 422 } }]);
  expect(s.reviews.filter((r) => r.status === 'open')).toMatchObject([
    { kind: 'refund_gap', refundId: id, fact: { code: 'request-refused', other: 'rfnd_portal', nothingMade: true } },
  ]);
  expect(h.gateway.made).toEqual([]);
  await shows(h, 300n, 1);
});

it('if an event reports an equal refund before the MoR refuses the repeated request, a refund_gap item opens', async () => {
  for (const before of ['retry', 'lost-request'] as const) {
    const h = await paid();
    h.gateway.trouble.push(before);
    await ask(h, 300n);
    await h.drain();
    h.gateway.trouble.push('refused');
    await h.take(portal);
    await h.idle(48);
    const s = await state(h);
    expect(s.refunds).toMatchObject([{ status: 'succeeded', failure: null }]);
    expect(s.reviews.filter((r) => r.status === 'open')).toMatchObject([
      { kind: 'refund_gap', fact: { code: 'request-refused', other: 'rfnd_portal', nothingMade: false } },
    ]);
  }
});

it('a refund of a partial payment waits for the rest of the invoice before Stripe gets its credit note', async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  await h.take(aPaymentSucceeded({ amount: 600 }));
  await chooseItem(h, 'apply', { kind: 'amount_mismatch' });
  await h.take(aRefund({ amount: 200, total: 200 }));
  await h.idle();
  expect([h.platform.notes, openKinds(await h.state(INVOICE_ID))]).toEqual([[], []]);
  await h.take(aPaymentSucceeded({ eventId: 'evt_rest', paymentId: 'pay_rest', chargeId: 'ch_rest', amount: 400 }));
  await h.idle();
  expect(h.platform.invoices.get(INVOICE_ID)?.status).toBe('paid');
  expect(h.platform.notes.map((n) => n.minor)).toEqual([200n]);
});

it("if the MoR answers `failed` to the operator's retry of a refund unanswered for a day, the refund becomes `failed`", async () => {
  const h = await paid();
  h.gateway.trouble.push(...Array.from({ length: 400 }, () => 'retry' as const));
  await ask(h, 400n);
  const waiting = (state: LaneState): string[] =>
    state.reviews.filter((r) => r.status === 'open' && r.topic === 'refund-waits').map((r) => r.id);
  const retry = async (item: string | undefined): Promise<void> => {
    const choice = { resolution: 'retry', note: null, by: 'ops' } as const;
    await h.command(INVOICE_ID, (x, ctx) => resolveReview(x, item ?? never(), choice, ctx));
    await h.idle(1);
  };
  await h.idle(25);
  expect((await state(h)).refunds[0]?.status).toBe('unknown');
  expect(waiting(await state(h))).toHaveLength(1);
  h.gateway.trouble.length = 0;
  h.gateway.nextStatus = 'failed';
  await retry(waiting(await state(h))[0]);
  const s = await state(h);
  expect(s.refunds[0]?.status).toBe('failed');
  expect(waiting(s)).toEqual([]);
  const open = s.reviews.filter((r) => r.status === 'open');
  expect(open).toMatchObject([{ kind: 'refund_stuck', refundId: s.refunds[0]?.id, fact: { code: 'refund-failed' } }]);
  const asked = h.gateway.asked.length;
  await retry(open[0]?.id);
  expect(h.gateway.asked).toHaveLength(asked); // its amount may be on its way back with another refund
});

describe('a refund that failed at the MoR without a report', () => {
  const stuck = (state: LaneState): string =>
    state.reviews.find((r) => r.kind === 'refund_stuck' && r.status === 'open')?.id ?? never();

  async function end(harness: LaneHarness, note: string | null): Promise<string> {
    const done = await tryChoice(harness, 'apply', { kind: 'refund_stuck', note, by: 'ops' });
    await harness.idle(1);
    return done.ok ? 'ok' : done.code;
  }
  const left = async (harness: LaneHarness): Promise<bigint> => {
    const s = await state(harness);
    return refundable(s.payments[0] ?? never(), s.refunds, 0n);
  };

  it('an operator ends a stuck refund once, with a note of the source, and the amount can be refunded again', async () => {
    const h = await paid();
    h.gateway.nextStatus = 'pending';
    await ask(h, 300n);
    await h.idle(11 * 24);
    expect(await left(h)).toBe(700n);
    expect([await end(h, null), await end(h, '  ')]).toEqual(['note_required', 'note_required']);
    expect(await left(h)).toBe(700n);
    const item = stuck(await state(h));
    expect(await end(h, 'Ada of the MoR, ticket 7')).toBe('ok');
    const s = await state(h);
    expect([s.refunds[0]?.status, await left(h), openKinds(s)]).toEqual(['failed', 1000n, []]);
    expect(s.refunds[0]?.failure?.message).toBe('ops says that it failed: Ada of the MoR, ticket 7');
    // What a person wrote can be erased, and the journal cannot.
    expect(
      s.journal.map((j) => j.text).filter((x) => x.includes('Ada') || x.endsWith('closed: apply, by ops')),
    ).toEqual(['review item refund_stuck closed: apply, by ops']);
    // Somebody else at the same time, or the same button twice.
    const choice = { resolution: 'apply', note: null, by: 'other' } as const;
    expect((await h.command(INVOICE_ID, (x, ctx) => resolveReview(x, item, choice, ctx))).ok).toBe(true);
    expect(await left(h)).toBe(1000n);
    await shows(h, 0n, 0);
    // The person was wrong, and its event comes after all.
    await h.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1', amount: 300 }));
    await h.idle(1);
    expect([(await state(h)).refunds.map((r) => r.status), await left(h)]).toEqual([['succeeded'], 700n]);
    await shows(h, 300n, 1);
  });

  it('a dismissed refund_stuck item opens again every ten days, until the operator ends the refund', async () => {
    const h = await paid();
    h.gateway.trouble.push(...Array.from({ length: 400 }, () => 'lost-request' as const));
    await ask(h, 300n);
    await h.idle(48);
    for (const round of [1, 2]) {
      const items = (await state(h)).reviews.length;
      await chooseItem(h, 'dismiss', { kind: 'refund_stuck' });
      h.clock.advance((10 * 24 - 1) * 3_600_000);
      await h.idle(0);
      expect([round, openKinds(await state(h))]).toEqual([round, []]);
      await h.idle(1);
      expect([openKinds(await state(h)), (await state(h)).reviews.length]).toEqual([['refund_stuck'], items + 1]);
    }
    expect([await end(h, 'Ada of the MoR'), await left(h), openKinds(await state(h))]).toEqual(['ok', 1000n, []]);
    await h.idle(30 * 24);
    expect(openKinds(await state(h))).toEqual([]);
  });
});
