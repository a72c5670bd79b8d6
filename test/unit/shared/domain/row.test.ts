// The declaration of a row: the first values of a new row, its JSON in the log, and what an erasure leaves of it.
import { expect, it } from '@jest/globals';
import { PAYMENT } from '../../../../src/shared/domain/payment-row.js';
import { REFUND } from '../../../../src/shared/domain/refund-row.js';
import { MOR_OBJECT } from '../../../../src/shared/domain/mor-object.js';
import { newRow } from '../../../../src/shared/domain/row.js';
import { changedFields, withFields, withoutPersonal } from '../../../../src/frames/store/codec.js';

const NOW = new Date('2026-11-26T04:00:00Z');
const payment = newRow(PAYMENT, {
  id: 'pmt_1',
  invoiceId: 'in_1',
  customerId: 'cus_1',
  currency: 'EUR',
  recordedAt: NOW,
});

it('a new database row has its declared defaults and the given values', () => {
  expect(payment).toMatchObject({
    id: 'pmt_1',
    mark: 'none',
    amount: null,
    amountRefunded: 0n,
    waived: [],
    recordedAt: NOW,
  });
  expect(Object.keys(payment).sort()).toEqual(Object.keys(PAYMENT.columns).sort());
});

it('the log of a lane stores only the changed columns of a row, and Crossbill rebuilds the row from these columns', () => {
  const after = { ...payment, amount: 2990n, succeededAt: NOW };
  const fields = changedFields(PAYMENT, payment, after);
  expect(fields).toEqual({ id: 'pmt_1', amount: '2990', succeeded_at: NOW });
  expect(withFields(PAYMENT, payment, JSON.parse(JSON.stringify(fields)) as Record<string, unknown>)).toEqual(after);
});

it('the command `crossbill erase` removes the free texts of a row and keeps its codes', () => {
  const failed = { id: 'pmt_1', failure_message: 'Ada has no money', decline_code: 'insufficient_funds' };
  expect(withoutPersonal(PAYMENT, failed)).toEqual({ ...failed, failure_message: null });
  expect(withoutPersonal(PAYMENT, { id: 'pmt_1' })).toEqual({ id: 'pmt_1' });
  const refused = {
    status: 422,
    code: 'invalid',
    message: 'no such street',
    errors: [{ field: 'city', message: 'x' }],
  };
  expect(withoutPersonal(MOR_OBJECT, { id: 'obj_1', detail: { refusal: refused, priced: '29.90' } })).toEqual({
    id: 'obj_1',
    detail: { refusal: { ...refused, message: 'erased', errors: [] }, priced: '29.90' },
  });
});

it('the command `crossbill erase` removes the words of the operator and of the MoR about a refund, and keeps the codes', () => {
  const notified = { status: null, code: 'told_by_person', message: 'Ada rang up' };
  expect(withoutPersonal(REFUND, { failure: notified })).toEqual({ failure: { ...notified, message: 'erased' } });
  const refused = { status: 409, code: 'refund_declined', message: 'declined' };
  expect(withoutPersonal(REFUND, { failure: refused })).toEqual({ failure: { ...refused, message: 'erased' } });
});
