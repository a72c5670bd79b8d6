// What is looked for before tax is calculated, what the MoR answers about it, and how a refund's share of it is made.
import { describe, expect, it } from '@jest/globals';
import { type LaneState, type RefundRow } from '../../src/domain/model.js';
import { type CallFailure } from '../../src/domain/ports/call.js';
import { type TaxBasis } from '../../src/domain/ports/tax.js';
import { settleTax } from '../../src/tax/rules/settle-tax.js';
import {
  applyTaxAnswer,
  applyTaxFound,
  applyTaxRefused,
  dismissTax,
  retryTax,
  taxCall,
  taxErrand,
} from '../../src/tax/rules/tax-answer.js';
import {
  NOW,
  ctx,
  paid,
  found,
  last,
  answered,
  refunded,
  bodyOf,
  refusal,
  BASIS,
  calculated,
} from '../support/tax-lane.js';

describe('a refund’s share of the tax', () => {
  const committed = (): LaneState => answered(found(settleTax(paid(), ctx)), [500n, 333n, 167n]);

  it('is of what earlier refunds left of the lines, those that are being sent among them', () => {
    const first = settleTax(refunded(committed(), 100n), ctx);
    const done = applyTaxAnswer(first, last(first), { kind: 'refund_tax', taxRefundId: 'rf_1' }, ctx);
    for (const s of [first, done]) {
      const over = settleTax(refunded(s, 901n), ctx);
      expect(over.taxes.at(-1)).toMatchObject({ kind: 'refund', stage: 'parked', lines: [] });
      expect(over.reviews.at(-1)).toMatchObject({ refundId: over.refunds.at(-1)?.id });
      expect(over.reviews.at(-1)?.summary).toContain('its lines have 9.00 EUR left and 9.01 EUR was refunded');
    }
    const whole = settleTax(refunded(done, 900n), ctx);
    const none = applyTaxAnswer(whole, last(whole), { kind: 'refund_tax', taxRefundId: 'rf_2' }, ctx);
    expect(settleTax(refunded(none, 1n), ctx).taxes.at(-1)?.stage).toBe('parked');
  });

  it('waits until what of it lowers the sale is known, and money beyond the amount due had none', () => {
    const s = committed();
    expect(settleTax(refunded(s, 100n, { mirror: 'waiting' }), ctx).taxes).toHaveLength(1);
    expect(settleTax(refunded(s, 100n, { surplus: 100n }), ctx).taxes).toHaveLength(1);
    const part = settleTax(refunded(s, 200n, { surplus: 100n }), ctx);
    expect(bodyOf(last(part)).refundLineItems.map((l) => l.amount)).toEqual(['0.50', '0.33', '0.17']);
  });

  it('is dated no later than now, says why the money went back, and names only lines that it takes of', () => {
    const body = (over: Partial<RefundRow>, amount = 100n): Record<string, unknown> =>
      JSON.parse(last(settleTax(refunded(committed(), amount, over), ctx)).wire.body ?? '{}') as Record<
        string,
        unknown
      >;
    const text = (over: Partial<RefundRow>): string => JSON.stringify(body(over));
    expect(text({ succeededAt: new Date(NOW.getTime() + 86_400_000) })).not.toContain('2026-11-21');
    expect(text({ succeededAt: new Date(NOW.getTime() - 86_400_000) })).toContain('2026-11-19');
    expect(text({ succeededAt: null })).toContain('2026-11-20');
    expect([text({ reason: null }), text({ reason: 'duplicate' })]).toEqual([
      expect.stringContaining('requested_by_customer'),
      expect.stringContaining('duplicate'),
    ]);
    expect((body({}, 1n)['refundLineItems'] as unknown[]).length).toBe(1);
  });
});

describe('what is looked for before tax is calculated', () => {
  const gathering = (): LaneState => settleTax(paid(), ctx);
  const read = (s: LaneState, outcome: CallFailure | { readonly value: null }): LaneState =>
    applyTaxFound(
      s,
      s.taxes[0]?.id ?? '',
      {
        from: 'platform',
        outcome: 'ok' in outcome ? outcome : { ok: true, value: null, status: 404, requestId: null },
      },
      ctx,
    );

  it('and cannot be read is looked for again, three times in the timeline, and once a minute where the key lacks a right', () => {
    const tried = (attempts: number, kind: CallFailure['kind']) => {
      const s = gathering();
      const before = { ...s, taxes: s.taxes.map((t) => ({ ...t, attempts })) };
      const after = read(before, refusal({ kind }));
      const due = (after.taxes[0]?.dueAt?.getTime() ?? 0) - NOW.getTime();
      return [after.taxes[0]?.attempts, after.journal.length - s.journal.length, due >= 60_000];
    };
    expect([tried(0, 'retry'), tried(2, 'unknown'), tried(3, 'retry')]).toEqual([
      [1, 1, false],
      [3, 1, false],
      [4, 0, false],
    ]);
    expect([tried(0, 'stopped'), tried(0, 'refused')]).toEqual([
      [1, 1, true],
      [1, 1, true],
    ]);
  });

  it('is a person’s where Stripe no longer knows the invoice, or where an address is missing', () => {
    expect(read(gathering(), { value: null }).reviews).toMatchObject([
      { subject: 'calculate_tax:in_1', summary: 'Stripe no longer knows the invoice' },
    ]);
    const s = gathering();
    const nowhere = { ...BASIS, customer: { ...BASIS.customer, address: null } } as TaxBasis;
    const outcome = { ok: true, value: nowhere, status: 200, requestId: null } as const;
    const parked = applyTaxFound(s, s.taxes[0]?.id ?? '', { from: 'platform', outcome }, ctx);
    expect(parked.reviews[0]?.summary).toContain('its tax cannot be calculated without');
    expect(parked.messages).toEqual([]);
  });

  it('comes too late for a record that has gone on, and is nothing of another record', () => {
    const s = found(gathering());
    expect(found(s)).toBe(s);
    expect(applyTaxFound(s, 'tax_9', { from: 'signup', taxCalculationId: 'calc_2' }, ctx)).toBe(s);
  });

  it('is what the signup was bound to only for the first calculation of its own payment, and nothing in shadow mode', () => {
    const s = settleTax(paid({ signupId: 'sig_1', processorPaymentIntentId: 'pi_1' }), ctx);
    const errand = (state: LaneState, at = ctx, due = true) => taxErrand(state, at, () => due);
    expect(errand(s)).toMatchObject({ do: 'gather-tax', signupId: 'sig_1', intentId: 'pi_1' });
    const again = { ...s, taxes: s.taxes.map((t) => ({ ...t, calculations: 1 })) };
    expect(errand(again)).toMatchObject({ signupId: null, intentId: null });
    const shadow = { ...ctx, settings: { ...ctx.settings, shadow: true } };
    expect([errand(s, shadow), errand(s, ctx, false), errand(found(s))]).toEqual([null, null, null]);
    expect(settleTax(paid(), shadow).taxes).toMatchObject([{ kind: 'transaction', stage: 'closed' }]);
  });
});

describe('the MoR’s answer about tax', () => {
  const CALCULATED = {
    kind: 'calculate_tax',
    calculation: { taxCalculationId: 'calc_1', total: 1000n, currency: 'EUR' },
  } as const;
  const body = (s: LaneState, kind: string) => s.messages.find((m) => m.kind === kind)?.wire.body;

  it('or refusal of a calculation ends the copy of where the customer lives; other requests keep theirs', () => {
    const asked = calculated(settleTax(paid(), ctx));
    expect(body(asked, 'calculate_tax')).toContain('Albany');
    const m = last(asked);
    const told = applyTaxAnswer(asked, m, CALCULATED, ctx);
    expect([body(told, 'calculate_tax'), typeof body(told, 'commit_tax')]).toEqual([null, 'string']);
    const refused = applyTaxRefused(asked, m, refusal({}), ctx);
    expect([body(refused, 'calculate_tax'), refused.taxes[0]?.stage]).toEqual([null, 'parked']);
    expect(refused.reviews[0]?.summary).toBe('calculate_tax was refused: 400 invalid_state no');
    const kept = applyTaxRefused(told, last(told), refusal({ code: 'other' }), ctx);
    expect(typeof body(kept, 'commit_tax')).toBe('string');
  });

  it('that a tax refund is there under its reference with other amounts tells a person to compare it, not to record it again', () => {
    const s = answered(found(settleTax(paid(), ctx)), [1000n]);
    const asked = settleTax(refunded(s, 300n, { morRefundId: 'rfnd_1', mirror: 'done' }), ctx);
    const used = { errors: [{ field: 'merchantRefundReference', message: 'was used for another refund' }] };
    const told = (over: Parameters<typeof refusal>[0]) =>
      applyTaxRefused(asked, last(asked), refusal(over), ctx).reviews[0];
    expect(last(asked).kind).toBe('refund_tax');
    expect(told(used)?.proposal).toMatch(/do not record it a second time, and dismiss this\.$/);
    for (const over of [{}, { ...used, code: 'other' }, { errors: [{ field: 'refundDate', message: 'no' }] }])
      expect(told(over)?.proposal).toMatch(/^Supply or fix what is named, then retry; or record it/);
  });

  it('that comes for a record in another stage, or for none, changes nothing', () => {
    const asked = calculated(settleTax(paid(), ctx));
    const m = last(asked);
    const committing = found(settleTax(paid(), ctx));
    const transaction = { transactionId: 'tx_1', lines: [] };
    expect(applyTaxAnswer(committing, { ...m, kind: 'calculate_tax' }, CALCULATED, ctx)).toBe(committing);
    expect(applyTaxAnswer(asked, m, { kind: 'commit_tax', transaction }, ctx)).toBe(asked);
    expect(applyTaxAnswer(asked, { ...m, subject: 'in_9' }, CALCULATED, ctx)).toBe(asked);
    const refund = settleTax(refunded(committing, 100n), ctx);
    const waiting = { ...m, kind: 'refund_tax' as const, subject: refund.taxes[1]?.reference ?? '' };
    expect(applyTaxAnswer(refund, waiting, { kind: 'refund_tax', taxRefundId: 'rf_1' }, ctx)).toBe(refund);
    for (const s of [answered(committing, [1000n]), settleTax(paid(), ctx)])
      expect(applyTaxRefused(s, { ...m, kind: 'commit_tax' }, refusal({}), ctx)).toBe(s);
    expect(applyTaxRefused(asked, { ...m, subject: 'in_9' }, refusal({}), ctx)).toBe(asked);
  });

  it('that a calculation is not known has it made again; another refusal is a person’s', () => {
    const stage = (over: Partial<CallFailure>) => {
      const s = found(settleTax(paid(), ctx));
      return applyTaxRefused(s, last(s), refusal(over), ctx).taxes[0]?.stage;
    };
    const field = [{ field: 'taxCalculationId', message: 'x' }];
    expect([
      stage({ status: 404 }),
      stage({ errors: field }),
      stage({ code: 'other', errors: field }),
      stage({}),
    ]).toEqual(['gathering', 'gathering', 'parked', 'parked']);
  });

  it('that a person waited for closes its item, and no other', () => {
    const s = found(settleTax(paid(), ctx));
    const parked = applyTaxRefused(s, last(s), refusal({}), ctx);
    const [r] = parked.reviews;
    if (r === undefined) throw new Error('no item');
    const other = { ...r, id: 'rev_other', subject: 'commit_tax:in_9' };
    const both = { ...parked, reviews: [r, other] };
    const chosen = (resolution: 'retry' | 'dismiss') => {
      const done = taxCall.resolve?.(both, r, { resolution, note: null, by: 'ops' }, ctx);
      return done?.ok === true ? done.state : both;
    };
    expect([chosen('retry').taxes[0]?.stage, chosen('dismiss').taxes[0]?.stage]).toEqual(['gathering', 'closed']);
    // Also of a refund whose request was erased: its tax is made of the refund.
    const wire = { method: 'POST', path: '/', body: null } as const;
    const erased = { ...last(s), id: 'out_r', kind: 'create_refund', subject: 'ref_1', wire } as const;
    const gone = { ...both, messages: [...both.messages, erased] };
    const again = taxCall.resolve?.(
      gone,
      { ...r, refundId: 'ref_1' },
      { resolution: 'retry', note: null, by: 'ops' },
      ctx,
    );
    expect(again).toMatchObject({ ok: true });
    const done = answered(found(chosen('retry')), [1000n]);
    expect(done.reviews.map((x) => x.status)).toEqual(['resolved', 'open']);
    expect(done.reviews[0]).toMatchObject({ resolution: 'cleared', note: 'tax transaction tx_1 is committed' });
    for (const about of [other, { ...r, kind: 'refund_gap' as const }]) {
      expect([retryTax(parked, about, ctx), dismissTax(parked, about, ctx)]).toEqual([parked, parked]);
    }
  });
});
