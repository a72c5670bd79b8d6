// What the merchant's backend hears of a dispute.
import { describe, expect, it } from '@jest/globals';
import { newRefund } from '../../../../../../src/core/refunds/rules/refund.js';
import { type LaneState } from '../../../../../../src/shared/domain/model.js';
import { type MorObjectDetail, type MorObjectRow } from '../../../../../../src/shared/domain/mor-object.js';
import { tellStep, invoiceIs, open, NEXT_TRY } from '../../../../../support/builders/tell-step.js';
import { aCtx } from '../../../../../support/builders/channel-lane.js';
import { aDispute, paid, lossOf } from '../../../../../support/builders/disputed-lane.js';
import { never } from '../../../../../support/never.js';

describe('a dispute', () => {
  const at = (day: number): string => `2026-11-${day}T00:00:00.000Z`;
  const said = (day: number): MorObjectDetail => ({ stage: 'action_needed', saidAt: at(day) });
  const wanted = (day: number): Partial<MorObjectRow> => ({ status: 'action_needed', detail: said(day) });
  const over = (outcome: string, day: number, detail: MorObjectDetail = said(1)): Partial<MorObjectRow> => ({
    status: outcome,
    detail: { ...detail, outcome, outcomeAt: at(day) },
  });
  const lane = (of: Partial<MorObjectRow>, state = paid()): LaneState => ({ ...state, objects: [aDispute(of)] });
  const types = (before: LaneState, after: LaneState): string[] => tellStep(before, after).map((t) => t.type);
  const data = {
    ...{ dispute_id: 'dp_1', payment_id: 'pay_1', processor_charge_id: 'ch_1', invoice_id: 'in_1' },
    ...{ customer_id: 'cus_1', subscription_id: 'sub_1', amount: 2990, currency: 'eur' },
    console: '/console/disputes/dsp_1',
  };

  it('a new dispute sends one dispute.opened with customer, subscription and deadline', () => {
    const opened = tellStep(paid(), lane({ ...wanted(1), deadline: NEXT_TRY }));
    const subject = `in_1:dp_1:open:${at(1)}`;
    expect(opened).toEqual([{ type: 'dispute.opened', subject, data: { ...data, due_at: NEXT_TRY.toISOString() } }]);
    expect(types(paid(), lane({ status: 'revision_requested' }))).toEqual(['dispute.opened']);
    expect(types(lane(wanted(1)), lane({ ...wanted(2), deadline: NEXT_TRY }))).toEqual([]);
    expect(types(paid(), lane({ kind: 'alert', status: 'received' }))).toEqual([]);
  });

  it('an outcome sends one dispute.closed with the outcome, also where no dispute.opened came before', () => {
    const lost = { ...over('lost', 2), detail: { ...over('lost', 2).detail, loss: lossOf(2990n) } };
    for (const before of [paid(), lane(wanted(1))])
      expect(tellStep(before, lane(lost))).toEqual([
        {
          type: 'dispute.closed',
          subject: `in_1:dp_1:lost:${at(2)}`,
          data: { ...data, outcome: 'lost', amount_left: 0 },
        },
      ]);
    expect(tellStep(lane(lost), lane(over('won', 3)))).toMatchObject([
      { type: 'dispute.closed', subject: `in_1:dp_1:won:${at(3)}`, data: { outcome: 'won', amount_left: 2990 } },
    ]);
  });

  it('the same outcome under another event, a late request for evidence and an unclear outcome send nothing', () => {
    expect(types(lane(over('lost', 2)), lane(over('lost', 3)))).toEqual([]);
    expect(types(lane(over('lost', 2, {})), lane(over('lost', 2, said(1))))).toEqual([]);
    expect(types(lane(wanted(1)), lane(over('decided', 2)))).toEqual([]);
    expect(types(paid(), lane(over('decided', 2, {})))).toEqual([]);
  });

  it('a request for evidence after an outcome sends dispute.opened again, under another id', () => {
    const [first] = tellStep(paid(), lane(wanted(1)));
    const again = tellStep(lane(over('lost', 2)), lane(over('lost', 2, said(3))));
    expect(again).toMatchObject([{ type: 'dispute.opened' }]);
    expect(again[0]?.subject).not.toBe(first?.subject);
  });

  it('a dispute of an unknown payment sends customer and subscription of its invoice', () => {
    expect(tellStep(open, lane({ ...wanted(1), paymentRowId: null }, open))).toMatchObject([
      { data: { payment_id: null, amount: null, currency: null, customer_id: 'cus_1', subscription_id: 'sub_1' } },
    ]);
  });

  it('news that ends or gives access waits for the customer and the subscription on Stripe', () => {
    const s = invoiceIs(lane(over('lost', 2)), { platformStatus: 'unknown', customerId: null, subscriptionId: null });
    const [p = never()] = s.payments;
    const row = {
      ...newRefund(aCtx(), p, { amount: 500n, reason: null, origin: 'event' }),
      status: 'succeeded',
    } as const;
    const unread: LaneState = { ...s, payments: [{ ...p, signupId: 'sup_1' }], refunds: [row] };
    const named = (platformStatus: 'open' | 'deleted'): LaneState => invoiceIs(unread, { platformStatus });
    const waiting = ['dispute.closed', 'refund.succeeded', 'signup.completed'];
    expect(types({ ...paid(), invoice: null, payments: [] }, unread)).not.toEqual(expect.arrayContaining(waiting));
    expect(types(unread, named('open'))).toEqual(waiting);
    expect(types(unread, named('deleted'))).toEqual(waiting);
    expect(types(named('open'), named('open'))).toEqual([]);
    // The MoR's events name the customer, so an invoice unknown to Stripe still has one.
    expect(tellStep(unread, named('deleted')).map((t) => 'customer_id' in t.data && t.data.customer_id)).toEqual(
      waiting.map(() => 'cus_1'),
    );
  });
});
