// What the MoR says of an e-invoice, in whatever order it arrives, and which payment it is for.
import { expect, it } from '@jest/globals';
import { applyEInvoice } from '../../../../../src/features/documents/rules/e-invoice.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type MorObjectRow, newMorObject } from '../../../../../src/shared/domain/mor-object.js';
import { NOW, PROFORMA } from '../../../../support/builders/channel-lane.js';
import { aProforma, channelEvent, withObjects } from '../../../../support/builders/channel-object.js';
import { at, ctx, lane } from '../../../../support/builders/waiting-payment.js';
import { asEventRule } from '../../../../support/rigs/decide.js';

type Type = 'e_invoice.issued' | 'e_invoice.issuance_failed' | 'e_invoice.cancelled';
function tell(state: LaneState, type: Type, data: object = { eInvoiceId: 'ei_1' }) {
  const e = channelEvent(type, data);
  if (e.kind !== 'e_invoice.issued' && e.kind !== 'e_invoice.issuance_failed' && e.kind !== 'e_invoice.cancelled')
    throw new Error(e.kind);
  return asEventRule(applyEInvoice)(state, e, ctx({}, 5_000));
}
const eInvoice = (over: Partial<MorObjectRow> = {}) =>
  newMorObject(NOW, { id: 'obj_1', kind: 'e_invoice', morId: 'ei_1', invoiceId: 'in_1', status: 'ISSUED', ...over });
const last = (state: LaneState) => state.objects.at(-1);

it.each([
  ['e_invoice.issued', 'ISSUED'],
  ['e_invoice.issuance_failed', 'FAILED'],
  ['e_invoice.cancelled', 'CANCELLED'],
] as const)('after the event %s, an e-invoice has the status %s', (type, status) => {
  const { state, verdict: outcome } = tell(lane(), type);
  expect(last(state)).toMatchObject({
    kind: 'e_invoice',
    morId: 'ei_1',
    status,
    updatedAt: at(5_000),
    paymentRowId: null,
  });
  expect(last(state)?.detail).toEqual({ madeFor: null });
  expect(outcome).toEqual({ status: 'done', reason: `e-invoice ei_1 is ${status}` });
});

it('a failed or cancelled e-invoice keeps its status after a late e_invoice.issued event', () => {
  for (const status of ['FAILED', 'CANCELLED'])
    expect(last(tell(withObjects(lane(), eInvoice({ status })), 'e_invoice.issued').state)?.status).toBe(status);
  expect(last(tell(withObjects(lane(), eInvoice()), 'e_invoice.cancelled').state)?.status).toBe('CANCELLED');
});

it('a failed e-invoice shows the MoR’s reason if the event has a reason', () => {
  const { state, verdict: outcome } = tell(lane(), 'e_invoice.issuance_failed', {
    eInvoiceId: 'ei_1',
    reason: 'no VAT number',
  });
  expect(last(state)?.detail.failure).toEqual({ code: null, message: 'no VAT number', failedAt: null });
  expect(outcome.reason).toBe('e-invoice ei_1 is FAILED');
  const issued = tell(lane(), 'e_invoice.issued', { eInvoiceId: 'ei_1', reason: 'ok' });
  expect([last(issued.state)?.detail.failure, issued.verdict.reason]).toEqual([undefined, 'e-invoice ei_1 is ISSUED']);
});

it('an e-invoice belongs to the proforma invoice or payment named by its first event', () => {
  const data = { e_invoice_id: 'ei_1', service: { id: PROFORMA } };
  const other = aProforma({ id: 'pfm_0', morId: 'pf_0', paymentRowId: 'pmt_0' });
  const requested = aProforma({ id: 'pfm_2', morId: null, paymentRowId: 'pmt_2' });
  const s = withObjects(lane(), other, requested, aProforma({ paymentRowId: 'pmt_1' }));
  const first = tell(s, 'e_invoice.issued', data).state;
  expect(last(first)).toMatchObject({ paymentRowId: 'pmt_1', detail: { madeFor: PROFORMA } });
  const again = tell(first, 'e_invoice.cancelled', { eInvoiceId: 'ei_1', service: { id: 'pf_0' } }).state;
  expect(last(again)).toMatchObject({ paymentRowId: 'pmt_1', detail: { madeFor: PROFORMA } });
  expect(
    tell(withObjects(s, eInvoice()), 'e_invoice.issued', { eInvoiceId: 'ei_1' }).state.objects.at(-1),
  ).toMatchObject({ ...{ paymentRowId: null, detail: { madeFor: null } } });
});

it('an e-invoice event without an e-invoice id changes nothing', () => {
  const s = lane();
  const { state, verdict: outcome } = tell(s, 'e_invoice.issued', { about: 'x' });
  expect(state).toBe(s);
  expect(outcome.reason).toBe('names no e-invoice');
});
