// A renewal refused just now, as a plain value, for tests of decisions about its retries.
import { type Ctx, emptyLane } from '../../../src/engine/context.js';
import { newPayment } from '../../../src/core/books/rules/payment-rows.js';
import { type InvoiceRow } from '../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { newMorObject } from '../../../src/shared/domain/mor-object.js';
import { type InvoiceFacts, type ShownToRetry } from '../../../src/shared/domain/ports/billing-platform.js';
import { type Retry, type RetryHistory } from '../../../src/shared/domain/retry.js';
import { type DecisionSettings } from '../../../src/shared/domain/settings.js';
import { makeRetry } from '../../../src/features/retries/rules/retry.js';
import { aCtx, facts, NOW } from './channel-lane.js';
import { never } from '../never.js';
import { DAY_MS, SCHEDULE } from '../rigs/retry-rig.js';
import { recordRead, decide } from '../rigs/decide.js';

const LINKS = { jurisdiction: 'GB', returnUrl: 'https://shop.example/thanks', expiresSec: 86_400 };
export const at = (ms: number): Date => new Date(NOW.getTime() + ms);
export const ctx = (ms = 0, over: Partial<DecisionSettings> = {}): Ctx =>
  aCtx(at(ms), { relay: 'created', recoveryLinks: LINKS, retrySchedule: SCHEDULE, ...over });
export const HISTORY: RetryHistory = {
  refusal: {
    at: NOW.toISOString(),
    heardAt: NOW.toISOString(),
    eventId: 'evt_1',
    outcome: 'failed',
    kind: 'soft',
    code: null,
  },
  ...{ retries: [], waitingSince: null, askedAt: null, ended: null },
};
export const retried = (over: Partial<Retry> = {}): Retry => ({
  ...{
    number: 1,
    at: at(3 * DAY_MS).toISOString(),
    kind: 'soft',
    means: 'charge',
    by: null,
    ref: 'evt_r1',
    minor: '2990',
    method: null,
  },
  ...{ withdrawn: false, ...over },
});

/** A renewal of 29.90 EUR, refused just now. */
export function lane(
  history: Partial<RetryHistory> = {},
  over: Partial<InvoiceFacts> = {},
  row: Partial<InvoiceRow> = {},
): LaneState {
  const s = recordRead(emptyLane('in_1'), ctx(), facts({ collectionMethod: 'charge_automatically', ...over }));
  return { ...s, invoice: { ...(s.invoice ?? never()), ...row, retries: { ...HISTORY, ...history } } };
}
export const hard = { ...HISTORY.refusal, kind: 'hard' } as const;
export const payment = (over = {}) =>
  newPayment(ctx(), {
    id: 'pmt_1',
    invoiceId: 'in_1',
    customerId: 'cus_1',
    currency: 'EUR',
    paymentId: 'pay_1',
    ...over,
  });
export const object = (kind: 'payment_link' | 'proforma', over = {}) =>
  newMorObject(NOW, { id: 'lnk_1', kind, invoiceId: 'in_1', status: 'PAYABLE', ...over });
export const shown = (over: Partial<ShownToRetry> = {}): ShownToRetry => ({
  ...{
    invoice: facts(),
    object: '{"id":"in_1"}',
    apiVersion: '2026-10-28',
    livemode: false,
    subscriptionStatus: 'past_due',
  },
  ...over,
});

/** The lane with a planned charge that is not sent yet. */
export function ordered(history: Partial<RetryHistory> = {}): LaneState {
  return decide(lane(history), ctx(), (l) => void makeRetry(l, { means: 'charge', shown: shown() }, null));
}
