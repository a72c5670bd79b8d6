// Records the MoR's events about an e-invoice: issued, failed, or cancelled.
import { idsIn, type ServiceEvent } from '../../../shared/domain/events/mor-service-event.js';
import { idNamed, textNamed } from '../../../shared/domain/events/payload-fields.js';
import { has } from '../../../shared/domain/mor-object.js';
import { type Lane } from '../../../engine/lane.js';
import { done, type EventOutcome } from '../../../engine/event.js';
import { findOrAddObject } from '../../../core/mor-objects/rules/mor-object.js';

const STATUS = {
  'e_invoice.issued': 'ISSUED',
  'e_invoice.issuance_failed': 'FAILED',
  'e_invoice.cancelled': 'CANCELLED',
} as const;

export function applyEInvoice(lane: Lane, event: ServiceEvent<keyof typeof STATUS>): EventOutcome {
  const ids = new Set(idsIn(event.data));
  const morId = event.eInvoiceId ?? idNamed(event.data, 'eInvoiceId', 'e_invoice_id');
  if (morId === null) return done('names no e-invoice');
  const o = findOrAddObject(lane, 'e_invoice', morId);
  const of = lane.objects.find((x) => x.id !== o.id && has(ids, x.morId));
  const reason = event.kind === 'e_invoice.issuance_failed' ? textNamed(event.data, 'reason', 'message') : null;
  // "Issued" never replaces "failed" or "cancelled", in any order of arrival.
  if (o.status !== 'FAILED' && o.status !== 'CANCELLED') o.status = STATUS[event.kind];
  o.paymentRowId ??= of?.paymentRowId ?? null;
  o.detail = {
    ...o.detail,
    madeFor: o.detail.madeFor ?? of?.morId ?? null,
    ...(reason === null ? {} : { failure: { code: null, message: reason, failedAt: null } }),
  };
  o.updatedAt = lane.now;
  return done(`e-invoice ${morId} is ${o.status}`);
}
