// A person's name in every free text next to the facts.
import { CALL } from '../../src/shared/domain/call-row.js';
import { type LaneState } from '../../src/shared/domain/model.js';
import { ATTEMPT } from '../../src/shared/domain/payment-row.js';
import { REFUND } from '../../src/shared/domain/refund-row.js';
import { REVIEW } from '../../src/shared/domain/review-row.js';
import { MOR_OBJECT } from '../../src/shared/domain/mor-object.js';
import { newRow } from '../../src/shared/domain/row.js';
import { FACTS } from '../support/builders/item-facts.js';

export function writtenBesideTheFacts(state: LaneState): LaneState {
  const [payment] = state.payments;
  if (payment === undefined) throw new Error('there is no payment');
  const createdAt = new Date();
  const { id: paymentRowId, invoiceId, currency } = payment;
  const refund = newRow(REFUND, {
    ...{ id: 'ref_named', paymentRowId, invoiceId, currency, amount: 100n, createdAt },
    ...{ status: 'failed', counted: false, mirror: 'none', origin: 'api' },
    reason: 'ada.lovelace asked for it',
    failure: { status: null, code: 'told_by_person', message: 'ada.lovelace said so' },
  });
  const review = newRow(REVIEW, {
    ...{ id: 'rev_noted', kind: 'dispute', status: 'resolved', subject: 'noted', invoiceId, createdAt },
    ...{ topic: FACTS.dispute.code, fact: FACTS.dispute, actions: ['dismiss'], proposed: 'dismiss' },
    ...{ resolvedAt: createdAt, resolvedBy: 'ops', resolution: 'dismiss' },
    note: 'ada.lovelace called',
  });
  const call = newRow(CALL, {
    ...{
      id: 'out_refused',
      lane: state.lane,
      peer: 'mor',
      kind: 'create_proforma',
      subject: 'pfm_refused',
      generation: 1,
    },
    ...{ key: 'refused', status: 'refused', attempts: 1, lastStatus: 400, lastCode: 'x' },
    ...{ firstTriedAt: createdAt, nextTryAt: createdAt, createdAt, answeredAt: createdAt },
    lastMessage: 'ada.lovelace is no name',
    wire: { method: 'POST', path: '/api/proforma-invoices', body: '{"legalName":"ada.lovelace"}' },
  });
  const object = newRow(MOR_OBJECT, {
    ...{ id: 'pfm_refused', kind: 'proforma', invoiceId, status: 'REFUSED', createdAt, updatedAt: createdAt },
    detail: {
      failure: { code: null, message: 'no tax number for ada.lovelace', failedAt: null },
      refusal: {
        ...{ status: 400, code: 'invalid_argument', message: 'm' },
        errors: [{ field: 'recipient', message: 'ada.lovelace' }],
      },
    },
  });
  const attempt = newRow(ATTEMPT, {
    ...{ eventId: 'evt_named', invoiceId, paymentId: payment.paymentId ?? '', outcome: 'failed' },
    ...{ amount: 100n, currency, at: createdAt },
    failureMessage: 'ada.lovelace',
  });
  return {
    ...state,
    payments: state.payments.map((p) => ({ ...p, failureMessage: 'the card of ada.lovelace was declined' })),
    refunds: [...state.refunds, refund],
    reviews: [...state.reviews, review],
    calls: [...state.calls, call],
    objects: [...state.objects, object],
    attempts: [attempt],
  };
}
