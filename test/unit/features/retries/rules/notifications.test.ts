// What the merchant's backend hears of a payment method that will not work again.
import { expect, it } from '@jest/globals';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { findRefusalKind } from '../../../../../src/shared/domain/decline-kind.js';
import { type ConfirmedMethod, type RetryHistory } from '../../../../../src/shared/domain/retry.js';
import { tellStep, notified, invoiceIs, open, afterVerdict } from '../../../../support/builders/tell-step.js';
import { NOW } from '../../../../support/builders/channel-lane.js';

const declined = (code: string, over: Partial<RetryHistory['refusal']> = {}): RetryHistory => {
  const kind = findRefusalKind('failed', code);
  const [at, heardAt] = [NOW.toISOString(), NOW.toISOString()];
  const refusal = { at, heardAt, eventId: 'evt_9', outcome: 'failed', kind, code, ...over } as const;
  return { refusal, retries: [], waitingSince: null, askedAt: null, ended: null };
};
const refusedLane = (retries: RetryHistory, method: ConfirmedMethod | null = null): LaneState =>
  invoiceIs(afterVerdict({ declineCode: retries.refusal.code }), { retries, method });

it('a hard decline sends customer.method_needed with code, message, invoice, customer and amount', () => {
  expect(notified('customer.method_needed', open, refusedLane(declined('expired_card')))).toMatchObject([
    {
      subject: 'in_1:attempt:evt_9',
      data: {
        ...{ invoice_id: 'in_1', customer_id: 'cus_1', payment_id: 'pay_9', amount: 2990 },
        ...{ decline_code: 'expired_card', failure_message: 'Ada has no money' },
      },
    },
  ]);
});

it('a soft decline, or a hard decline older than the newest decline, sends no customer.method_needed', () => {
  for (const history of [declined('insufficient_funds'), declined('expired_card', { eventId: 'evt_2' })])
    expect(tellStep(open, refusedLane(history)).map((t) => t.type)).toEqual(['invoice.left_open']);
});

it('a hard decline of the old method sends no customer.method_needed while a newly confirmed method waits for a charge', () => {
  const since = open.invoice?.firstSeenAt ?? NOW;
  const method = { id: 'met_1', at: new Date(since.getTime() + 1).toISOString(), by: 'shop' };
  expect(tellStep(open, refusedLane(declined('expired_card'), method)).map((t) => t.type)).toEqual([
    'invoice.left_open',
  ]);
});
