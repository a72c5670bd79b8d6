// Whether an invoice is expected to be paid through the MoR, on plain values: what says so, when it is looked up, and when a person is told.
import { FACTS } from '../support/item-facts.js';
import { describe, expect, it } from '@jest/globals';
import { type Ctx, emptyLane, openReview } from '../../src/engine/change.js';
import { takeRead } from '../../src/engine/facts.js';
import { type InvoiceRow, type LaneState, type OutboxRow } from '../../src/domain/model.js';
import { newMorObject } from '../../src/domain/mor-object.js';
import { type CallFailure } from '../../src/domain/ports/call.js';
import { type Enrolment, type FlowSettings } from '../../src/domain/settings.js';
import {
  applyEnrolment,
  enrolmentErrand,
  fromBooks,
  settleEnrolment,
  standingOf,
  takeMetadata,
} from '../../src/enrolment/rules/enrolment.js';
import { LINK_REACHES_BACK_MS } from '../../src/policy.js';
import { refusal } from '../support/asked-refund.js';
import { aCtx, facts, NOW, open, paidByCard } from '../support/channel-lane.js';
import { never } from '../support/never.js';
import { ordered } from '../support/refused-renewal.js';

const HOUR_MS = 3_600_000;
const LINKED: Enrolment = { by: 'linked' };
const METADATA: Enrolment = { by: 'metadata', key: 'billed_by', value: 'mor' };
const later = (ms: number, over: Partial<FlowSettings> = {}): Ctx =>
  aCtx(new Date(NOW.getTime() + ms), { enrolment: LINKED, relay: true, ...over });
const found = { ok: true, value: { enrolled: true }, status: 200, requestId: null } as const;

describe('whether an invoice is ours', () => {
  const i: InvoiceRow = takeRead(emptyLane('in_1'), later(0), facts()).invoice ?? never();
  const standing = (s: LaneState, ctx = later(0)): string => standingOf(s, ctx);
  const bare: LaneState = { ...emptyLane('in_1'), invoice: { ...i, enrolled: null, expectedBy: null } };

  it('is said by its customer’s enrolment, by a verdict that is awaited, by a payment and by what the MoR keeps of it', () => {
    expect([standing(emptyLane('in_1')), standing(bare)]).toEqual(['unknown', 'unknown']);
    expect(standing({ ...bare, invoice: { ...i, expectedBy: NOW } })).toBe('enrolled');
    expect(standing({ ...bare, invoice: { ...i, enrolled: true } })).toBe('enrolled');
    expect(standing({ ...bare, invoice: { ...i, enrolled: false } })).toBe('outside');
    expect(standing({ ...bare, payments: [paidByCard().payments[0] ?? never()] })).toBe('enrolled');
    const link = newMorObject(NOW, { id: 'lnk_1', kind: 'payment_link', invoiceId: 'in_1', status: 'PAYABLE' });
    expect(standing({ ...bare, objects: [link] })).toBe('enrolled');
    expect(standing(bare, later(0, { enrolment: { by: 'all' } }))).toBe('enrolled');
  });

  it('is enrolled by what the invoice carries, and by nothing that it carries where another rule holds', () => {
    const ctx = later(0, { enrolment: METADATA });
    const carried = facts({ metadata: { billed_by: 'mor' } });
    expect(takeMetadata(bare, carried, ctx).invoice?.enrolled).toBe(true);
    expect(takeMetadata(bare, carried, later(0))).toBe(bare);
    expect(takeMetadata(emptyLane('in_1'), carried, ctx).invoice).toBeNull();
    const known: LaneState = { ...bare, invoice: { ...i, enrolled: true } };
    expect(takeMetadata(known, carried, ctx)).toBe(known);
  });

  it('is told by our books alone where all are enrolled', () => {
    const nobody = { linkedAt: null, paid: false };
    expect(fromBooks({ customerId: 'cus_1', createdAt: NOW }, nobody, { by: 'all' })).toEqual({ enrolled: true });
    const week = { linkedAt: new Date(NOW.getTime() + LINK_REACHES_BACK_MS), paid: false };
    expect(fromBooks({ customerId: 'cus_1', createdAt: NOW }, week, LINKED)).toEqual({ enrolled: true });
    expect(fromBooks({ customerId: 'cus_1', createdAt: null }, week, LINKED)).toEqual({ enrolled: true });
  });

  it('is not looked up for a signup’s invoice, of an invoice that Stripe has not shown, or without a customer', () => {
    const look = (over: Partial<InvoiceRow>) =>
      enrolmentErrand({ ...bare, invoice: { ...i, ...over } }, later(0), () => true);
    expect(look({})).toMatchObject({ do: 'look-up-enrolment', invoice: { customerId: 'cus_1', invoiceId: 'in_1' } });
    expect(look({ platformStatus: 'unknown' })).toBeNull();
    expect(look({ billingReason: 'subscription_create' })).toBeNull();
    expect(look({ customerId: null })).toBeNull();
  });

  it('is decided once: a look that comes after that changes nothing', () => {
    const known: LaneState = { ...bare, invoice: { ...i, enrolled: true } };
    expect(applyEnrolment(known, found, later(0))).toBe(known);
    const nothing = emptyLane('in_1');
    expect(applyEnrolment(nothing, found, later(0))).toBe(nothing);
  });

  it('is asked for again and again; the timeline shows the first three tries, and who is refused is asked once a minute', () => {
    const again = (n: number, kind: CallFailure['kind']) => {
      const s: LaneState = { ...bare, invoice: { ...i, lookAttempts: n } };
      const tried = applyEnrolment(s, refusal({ kind }), later(0));
      return { tried, ms: (tried.invoice?.lookDueAt?.getTime() ?? 0) - NOW.getTime() };
    };
    expect([0, 1, 2, 3, 4].map((n) => again(n, 'retry').tried.journal.length)).toEqual([1, 1, 1, 0, 0]);
    expect(again(2, 'retry').tried.invoice?.lookAttempts).toBe(3);
    expect([again(0, 'stopped').ms, again(0, 'refused').ms]).toEqual([60_000, 60_000]);
    expect(again(0, 'retry').ms).toBeLessThan(2_000);
  });

  it('that cannot be read is a person’s after an hour, not before, and withdraws nothing but what waits to be relayed', () => {
    const looks: (Date | null)[] = [];
    const settled = (s: LaneState, ctx: Ctx) => settleEnrolment(s, ctx, (when) => void looks.push(when));
    const waits: LaneState = { ...bare, invoice: { ...i, enrolled: null, expectedBy: null, lookDueAt: NOW } };
    expect(settled(waits, later(HOUR_MS - 1))).toBe(waits);
    expect(looks).toEqual([new Date(NOW.getTime() + HOUR_MS)]);
    const item = settled(waits, later(HOUR_MS));
    expect(open(item)).toMatchObject([{ kind: 'effect_failed', subject: 'enrolment:in_1' }]);
    const other = openReview(item, later(0), { kind: 'effect_failed', subject: 'x', fact: FACTS.effect_failed });
    const cleared = settled({ ...other, invoice: { ...i, enrolled: true, lookDueAt: NOW } }, later(HOUR_MS));
    expect(open(cleared).map((r) => r.subject)).toEqual(['x']);
    const relay: OutboxRow = { ...(ordered().messages[0] ?? never()), kind: 'relay_event' };
    const messages = [
      relay,
      { ...relay, id: 'out_2', status: 'done' as const },
      { ...relay, id: 'out_3', kind: 'retry_charge' as const },
    ];
    const out = settled({ ...bare, messages, invoice: { ...i, enrolled: false } }, later(0));
    expect(out.messages.map((m) => m.status)).toEqual(['cancelled', 'done', 'pending']);
  });
});
