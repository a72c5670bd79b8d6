// A transfer that came, and no event said how much.
import { TRANSFERRED, onObject } from '../../domain/mor-object.js';
import { itemRule } from '../../engine/items.js';
import { TRANSFER_PATIENCE_MS } from '../../policy.js';

/** A read says that the transfer came; how much of it, only the event says. Document 2 tries to deliver it for some hours. */
export const unheardTransfers = itemRule({ 'transfer-unheard': 'the transfer is recorded' }, function* (lane) {
  for (const o of lane.objects) {
    if (o.kind !== 'proforma' || o.paymentRowId !== null || !TRANSFERRED.has(o.status)) continue;
    if (!lane.isPast(new Date(o.updatedAt.getTime() + TRANSFER_PATIENCE_MS))) continue;
    yield { kind: 'conflicting_event', about: o, fact: { code: 'transfer-unheard', ...onObject(o) } };
  }
});
