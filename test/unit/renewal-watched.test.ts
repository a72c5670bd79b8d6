// A renewal that somebody must look at: refused after it was taken, stuck as a draft, or decided in shadow mode and only watched.
import { aKind } from '../support/item-facts.js';
import { withWords, wordsOf } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { addMessage, type Ctx, emptyLane, openReview, putMessage, putPayment } from '../../src/engine/change.js';
import {
  type InvoiceRow,
  type LaneState,
  type OutboxRow,
  type PaymentRow,
  type ReviewKind,
} from '../../src/domain/model.js';
import { type InvoiceFacts } from '../../src/domain/ports/billing-platform.js';
import { type FlowSettings } from '../../src/domain/settings.js';
import { refusedSince } from '../../src/payments/rules/late-failure.js';
import { beforeTheMark, decideShadowedAnew, isShadowed, settleShadowed } from '../../src/payments/rules/shadow.js';
import { NOW, open } from '../support/channel-lane.js';
import { eur } from '../support/channel-object.js';
import { never } from '../support/never.js';
import * as waiting from '../support/waiting-payment.js';

const { at, payment } = waiting;
const HOUR_MS = 3_600_000;
const ctx = (over: Partial<FlowSettings> = {}, ms = 0): Ctx => waiting.ctx(over, ms);
const lane = (over: Partial<InvoiceFacts> = {}, row: Partial<InvoiceRow> = {}, ...payments: PaymentRow[]): LaneState =>
  waiting.withInvoice(waiting.lane(over, ...payments), row);
const texts = (s: LaneState) => s.journal.map((l) => l.text);
const item = (s: LaneState, kind: ReviewKind, subject: string) => openReview(s, ctx(), { ...aKind(kind), subject });

describe('a payment that was refused after it was taken', () => {
  const told = (p: PaymentRow | undefined, verdictAt: Date | null, declineCode: string | null = 'no_account') =>
    refusedSince(lane(), p, { verdictAt, declineCode }, ctx());

  it('is for a person, and nothing is undone', () => {
    const s = told(payment(), at(60_000));
    expect(withWords(open(s))).toMatchObject([
      {
        ...{ kind: 'conflicting_event', subject: 'pmt_1', paymentRowId: 'pmt_1' },
        summary:
          'payment pay_1 was taken at 2026-11-20 12:00 UTC, but the MoR refused it after that, at 2026-11-20 12:01 UTC: no_account',
        proposal: expect.stringContaining('If a bank debit was returned, record that'),
      },
    ]);
    const signup = told(payment({ origin: 'signup', paymentId: null }), at(60_000), null);
    expect(wordsOf(open(signup)[0]).summary).toMatch(/^charge ch_1 of a signup was taken .* no reason given$/);
  });

  it('is no news where an earlier try was refused, or it was never taken, or is not here', () => {
    const s = lane();
    const none: readonly (readonly [PaymentRow | undefined, Date | null])[] = [
      [payment(), NOW],
      [payment(), at(-1)],
      [payment(), null],
      [payment({ succeededAt: null }), at(1)],
      [undefined, at(1)],
    ];
    for (const [p, verdictAt] of none) expect(refusedSince(s, p, { verdictAt, declineCode: null }, ctx())).toBe(s);
    expect(open(told(payment(), at(1)))).toHaveLength(1);
  });
});

describe('a mark that was decided in shadow mode', () => {
  const shadow = { status: 'cancelled', lastCode: 'shadow_mode' } as const;
  const reporting = payment({ mark: 'reporting' });
  const wish = { peer: 'stripe', kind: 'report_payment', wire: { method: 'POST', path: '/x', body: null } } as const;
  const decided = (
    over: Partial<OutboxRow> = shadow,
    p: PaymentRow = reporting,
    status: InvoiceFacts['status'] = 'open',
  ) => {
    const s = addMessage(putPayment(lane({ status }), p), ctx(), { ...wish, subject: p.paymentId ?? p.id });
    return putMessage(s, { ...(s.messages[0] ?? never()), ...over });
  };

  it('is one whose newest call was written down and not sent', () => {
    expect(isShadowed(decided(), reporting)).toBe(true);
    expect(isShadowed(decided({ ...shadow, subject: 'pmt_1' }), reporting)).toBe(true);
    for (const over of [
      { ...shadow, status: 'done' },
      { status: 'cancelled', lastCode: null },
      { ...shadow, subject: 'pay_9' },
      { ...shadow, kind: 'attach_payment' },
    ] as const)
      expect(isShadowed(decided(over), reporting)).toBe(false);
    expect(isShadowed(lane(), reporting)).toBe(false);
    const s = decided();
    const later = putMessage(s, { ...(s.messages[0] ?? never()), id: 'out_9', status: 'done', lastCode: null });
    expect(isShadowed(later, reporting)).toBe(false);
  });

  it('is compared with the invoice as it stood before somebody marked it', () => {
    const of = (row: Partial<InvoiceRow>) =>
      beforeTheMark({ ...(lane().invoice ?? never()), amountRemaining: 0n, ...row });
    expect(of({ platformStatus: 'paid' })).toMatchObject({ platformStatus: 'open', amountRemaining: 2990n });
    expect(of({ platformStatus: 'void' })).toMatchObject({ platformStatus: 'void', amountRemaining: 0n });
  });

  it('is booked as marked once somebody has marked it, and not before', () => {
    const s = settleShadowed(decided(shadow, reporting, 'paid'), reporting, ctx());
    expect(s.payments).toMatchObject([{ mark: 'confirmed' }]);
    expect(s.entries).toMatchObject([{ reason: 'payment_marked', amount: eur(2990n) }]);
    expect(texts(s)).toEqual(['payment pay_1 is marked as shadow mode decided; somebody else did it']);
    for (const before of [decided(), { ...decided(), invoice: null }])
      expect(settleShadowed(before, reporting, ctx())).toBe(before);
    const paid = decided(shadow, reporting, 'paid');
    expect(settleShadowed(paid, { ...reporting, amount: null }, ctx())).toBe(paid);
  });

  it('and that nobody carried out is decided again when a person asks, after shadow mode', () => {
    const other = payment({ id: 'pmt_2', paymentId: 'pay_2', mark: 'reporting' });
    const s = putPayment(decided(), other);
    const anew = decideShadowedAnew(s, ctx());
    expect(anew.payments.map((p) => p.mark)).toEqual(['waiting', 'reporting']);
    expect(texts(anew)).toEqual(['payment pay_1 was decided in shadow mode and nobody marked it: decided again']);
    expect(decideShadowedAnew(s, ctx({ shadow: true }))).toBe(s);
    const paid = decided(shadow, reporting, 'paid');
    expect(decideShadowedAnew(paid, ctx())).toBe(paid);
    expect(decideShadowedAnew({ ...s, invoice: null }, ctx()).payments[0]?.mark).toBe('waiting');
  });
});
