// The items for an object that a customer can still pay, although its invoice is settled.
import { type Holds, itemRule } from '../../../engine/items.js';
import {
  type MorObjectRow,
  isOpenLink,
  isPayableLink,
  isLiveProforma,
  TRANSFERRED,
  heardAt,
} from '../../../shared/domain/mor-object.js';
import { type Lane } from '../../../engine/lane.js';

type OpenObjectFact = Holds<'may-stand' | 'still-payable'>['fact'];

const OPEN_OBJECT_CLEARS = {
  'may-stand': 'the MoR has made it after all',
  'still-payable': 'nobody can pay it any more, or the invoice can be paid',
};

/**
 * Items about a possible second payment: the customer can still pay a proforma invoice or a link of a paid or void
 * invoice, or the MoR may have made an object after Crossbill withdrew the request.
 */
export const openObjectItems = itemRule(OPEN_OBJECT_CLEARS, function* (lane) {
  for (const o of lane.objects) {
    if (o.kind !== 'proforma' && o.kind !== 'payment_link') continue;
    const fact = dangerOf(lane, o);
    if (fact !== null)
      yield { kind: 'double_payment', about: o, paymentRowId: null, fact, actions: ['retry', 'dismiss'] };
  }
});

function canBePaid(object: MorObjectRow, now: Date): boolean {
  if (object.kind === 'payment_link') return isOpenLink(object) && isPayableLink(object, now);
  return (
    object.morId !== null && isLiveProforma(object) && object.status !== 'REQUESTED' && !TRANSFERRED.has(object.status)
  );
}

function dangerOf({ invoice, now }: Lane, row: MorObjectRow): OpenObjectFact | null {
  const what = row.kind === 'payment_link' ? 'payment_link' : 'proforma';
  const object = row.number ?? row.morId ?? row.id;
  if (row.detail.mayStand === true) return { code: 'may-stand', what, object, invoice: row.invoiceId };
  const status = invoice?.platformStatus;
  if ((status !== 'paid' && status !== 'void') || !canBePaid(row, now) || heardAt(row) !== null) return null;
  return { code: 'still-payable', what, object, status, until: row.deadline?.toISOString() ?? null };
}
