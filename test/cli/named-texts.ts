// Texts with a person's name, in every place for such texts next to the facts.
import { FACTS } from '../support/item-facts.js';
import {
  type AttemptRow,
  type LaneState,
  type OutboxRow,
  type RefundRow,
  type ReviewRow,
} from '../../src/domain/model.js';
import { type MorObjectRow } from '../../src/domain/mor-object.js';

/** The texts of people, a processor and the MoR next to the facts, in every place for such texts. */
export function writtenBesideTheFacts(s: LaneState): LaneState {
  const [payment] = s.payments;
  if (payment === undefined) throw new Error('there is no payment');
  const now = new Date();
  const { id: paymentRowId, invoiceId, currency } = payment;
  const refund: RefundRow = {
    ...{
      id: 'ref_named',
      paymentRowId,
      invoiceId,
      currency,
      amount: 100n,
      status: 'failed',
      counted: false,
      mirror: 'none',
    },
    ...{
      origin: 'api',
      askedOf: null,
      askedAs: null,
      morStatus: null,
      morRefundId: null,
      processorRefundId: null,
      totalAfter: null,
      surplus: 0n,
      creditNoteId: null,
      succeededAt: null,
    },
    ...{ reason: 'ada.lovelace asked for it', createdAt: now },
    failure: { status: null, code: 'told_by_person', message: 'ada.lovelace said so' },
  };
  const review: ReviewRow = {
    ...{
      id: 'rev_noted',
      kind: 'dispute',
      status: 'resolved',
      subject: 'noted',
      invoiceId,
      paymentRowId: null,
      refundId: null,
    },
    ...{
      topic: FACTS.dispute.code,
      fact: FACTS.dispute,
      actions: ['dismiss'],
      proposed: 'dismiss',
      dueAt: null,
      createdAt: now,
      resolvedAt: now,
      resolvedBy: 'ops',
      resolution: 'dismiss',
    },
    note: 'ada.lovelace called',
  };
  const call: OutboxRow = {
    ...{
      id: 'out_refused',
      lane: s.lane,
      peer: 'mor',
      kind: 'create_proforma',
      subject: 'pfm_refused',
      generation: 1,
      key: 'refused',
    },
    ...{
      status: 'refused',
      attempts: 1,
      firstTriedAt: now,
      nextTryAt: now,
      lastStatus: 400,
      lastCode: 'x',
      lastRequestId: null,
    },
    ...{ replaying: false, createdAt: now, answeredAt: now, lastMessage: 'ada.lovelace is no name' },
    asked: null,
    paymentRowId: null,
    wire: { method: 'POST', path: '/api/proforma-invoices', body: '{"legalName":"ada.lovelace"}' },
  };
  const object: MorObjectRow = {
    ...{
      id: 'pfm_refused',
      kind: 'proforma',
      morId: null,
      invoiceId,
      paymentRowId: null,
      status: 'REFUSED',
      amount: null,
    },
    ...{
      currency: null,
      number: null,
      url: null,
      deadline: null,
      readDueAt: null,
      readAttempts: 0,
      createdAt: now,
      updatedAt: now,
    },
    detail: {
      failure: { code: null, message: 'no tax number for ada.lovelace', failedAt: null },
      refusal: {
        status: 400,
        code: 'invalid_argument',
        message: 'm',
        errors: [{ field: 'recipient', message: 'ada.lovelace' }],
      },
    },
  };
  const attempt: AttemptRow = {
    ...{
      eventId: 'evt_named',
      invoiceId,
      paymentId: payment.paymentId ?? '',
      outcome: 'failed',
      amount: 100n,
      currency,
      at: now,
    },
    ...{ declineCode: null, processorPaymentIntentId: null, failureMessage: 'ada.lovelace' },
  };
  return {
    ...s,
    payments: s.payments.map((p) => ({ ...p, failureMessage: 'the card of ada.lovelace was declined' })),
    refunds: [...s.refunds, refund],
    reviews: [...s.reviews, review],
    messages: [...s.messages, call],
    objects: [...s.objects, object],
    attempts: [attempt],
  };
}
