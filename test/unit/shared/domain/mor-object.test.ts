// Payment links and proforma invoices as another way to pay.
import { expect, it } from '@jest/globals';
import { isLiveProforma, isPayableLink, newMorObject } from '../../../../src/shared/domain/mor-object.js';
import { NOW } from '../../../support/builders/channel-lane.js';

const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);

const o = (kind: 'payment_link' | 'proforma', status: string, deadline: Date | null = null) =>
  newMorObject(NOW, { id: 'o', kind, invoiceId: 'in_1', status, deadline });

it('a payment link counts as payable from Crossbill’s request for the link until the link’s deadline', () => {
  expect(isPayableLink(o('payment_link', 'REQUESTED'), NOW)).toBe(true);
  expect(isPayableLink(o('payment_link', 'PAYABLE'), NOW)).toBe(true);
  expect(isPayableLink(o('payment_link', 'PAYABLE', at(1)), NOW)).toBe(true);
  expect(isPayableLink(o('payment_link', 'PAYABLE', NOW), NOW)).toBe(false);
  expect(isPayableLink(o('payment_link', 'EXPIRED', at(1)), NOW)).toBe(false);
  expect(isPayableLink(o('proforma', 'REQUESTED'), NOW)).toBe(false);
});

it('the customer can pay a proforma invoice only while it is active', () => {
  const dead = ['ISSUANCE_FAILED', 'CANCELLED', 'DELETED', 'REFUSED', 'REPLACED'];
  expect(dead.filter((status) => isLiveProforma(o('proforma', status)))).toEqual([]);
  expect(isLiveProforma(o('proforma', 'ISSUED'))).toBe(true);
  expect(isLiveProforma(o('payment_link', 'PAYABLE'))).toBe(false);
});

it.each(['SETTLED', 'INVOICED', 'BOOKED'])(
  'a proforma invoice with the status %s counts as payable until Crossbill books its payment',
  (of) => {
    expect(isLiveProforma(o('proforma', of))).toBe(true);
    expect(isLiveProforma({ ...o('proforma', of), paymentRowId: 'pmt_1' })).toBe(false);
    expect(isLiveProforma({ ...o('proforma', 'ISSUED'), paymentRowId: 'pmt_1' })).toBe(true);
  },
);
