// What the MoR says of an e-invoice: issued, not issued, or cancelled.
import { type LaneState } from '../../domain/model.js';
import { idsIn, type ServiceEvent } from '../../domain/events/mor-service-event.js';
import { type Ctx, putObject } from '../../engine/change.js';
import { type Applied, done } from '../../engine/event.js';
import { idNamed, textNamed } from '../../domain/events/payload-fields.js';
import { objectOf } from '../../mor-objects/rules/mor-object.js';
import { type MorObjectRow } from '../../domain/mor-object.js';

const E_INVOICE_STATUS = {
  'e_invoice.issued': 'ISSUED',
  'e_invoice.issuance_failed': 'FAILED',
  'e_invoice.cancelled': 'CANCELLED',
} as const;

export function applyEInvoice(s: LaneState, e: ServiceEvent<keyof typeof E_INVOICE_STATUS>, ctx: Ctx): Applied {
  const ids = idsIn(e.data);
  const morId = e.eInvoiceId ?? idNamed(e.data, 'eInvoiceId', 'e_invoice_id');
  if (morId === null) return { state: s, verdict: done('names no e-invoice') };
  const o = objectOf(s, 'e_invoice', morId, ctx);
  // Issued comes before failed or cancelled, whatever the order of arrival.
  const status = o.status === 'FAILED' || o.status === 'CANCELLED' ? o.status : E_INVOICE_STATUS[e.kind];
  const of = s.objects.find((x) => x.morId !== null && x.id !== o.id && ids.includes(x.morId));
  const reason = e.kind === 'e_invoice.issuance_failed' ? textNamed(e.data, 'reason', 'message') : null;
  const row: MorObjectRow = {
    ...o,
    status,
    paymentRowId: o.paymentRowId ?? of?.paymentRowId ?? null,
    detail: {
      ...o.detail,
      madeFor: o.detail.madeFor ?? of?.morId ?? null,
      ...(reason === null ? {} : { failure: { code: null, message: reason, failedAt: null } }),
    },
    updatedAt: ctx.now,
  };
  const why = reason === null ? '' : `: ${reason}`;
  return { state: putObject(s, row), verdict: done(`e-invoice ${morId} is ${status}${why}`) };
}
