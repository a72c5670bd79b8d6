// What the merchant's backend hears of a returned debit.
import { expect, it } from '@jest/globals';
import { type LaneState } from '../../../../../../src/shared/domain/model.js';
import { type MorObjectRow } from '../../../../../../src/shared/domain/mor-object.js';
import { tellStep } from '../../../../../support/builders/tell-step.js';
import { aDispute, paid, lossOf } from '../../../../../support/builders/disputed-lane.js';

it('a returned debit sends debit.returned, and the end of a mistaken record sends it again as undone', () => {
  const row = (status: string, minor = 2990n): MorObjectRow =>
    aDispute({
      id: 'ret_1',
      kind: 'debit_return',
      morId: null,
      status,
      amount: 1990n,
      currency: 'EUR',
      detail: { loss: lossOf(minor) },
    });
  const lane = (...objects: MorObjectRow[]): LaneState => ({ ...paid(), objects });
  const data = {
    ...{ return_id: 'ret_1', invoice_id: 'in_1', customer_id: 'cus_1', subscription_id: 'sub_1', payment_id: 'pay_1' },
    ...{ processor_charge_id: 'ch_1', amount: 1990, currency: 'eur', console: '/console/invoices/in_1' },
  };
  const returned = { ...data, status: 'returned', amount_left: 0 };
  expect(tellStep(paid(), lane(row('returned')))).toEqual([
    { type: 'debit.returned', subject: 'ret_1:returned', data: returned },
  ]);
  expect(tellStep(lane(row('returned')), lane(row('undone', 0n)))).toEqual([
    { type: 'debit.returned', subject: 'ret_1:undone', data: { ...data, status: 'undone', amount_left: 2990 } },
  ]);
  expect(tellStep(lane(row('returned')), lane(row('returned')))).toEqual([]);
  expect(tellStep(paid({ amount: null }), { ...lane(row('returned')), payments: [] })).toEqual([]);
});
