// What the merchant's backend hears of a payment link.
import { expect, it } from '@jest/globals';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type MorObjectRow, newMorObject } from '../../../../../src/shared/domain/mor-object.js';
import { tellStep, open, NEXT_TRY } from '../../../../support/builders/tell-step.js';
import { NOW } from '../../../../support/builders/channel-lane.js';

const link = (over: Partial<MorObjectRow> = {}): LaneState => {
  const made = { status: 'PAYABLE', morId: 'pl_1', url: 'https://pay.example/pl_1', amount: 2990n, currency: 'EUR' };
  const row = newMorObject(NOW, { id: 'lnk_1', kind: 'payment_link', invoiceId: 'in_1', ...made, ...over });
  return { ...open, objects: [row] };
};

it('a payment_link.created notification carries the URL, the amount and the expiry', () => {
  expect(tellStep(open, link({ deadline: NEXT_TRY, detail: { automatic: true } }))).toEqual([
    {
      type: 'payment_link.created',
      subject: 'pl_1',
      data: {
        ...{
          payment_link_id: 'pl_1',
          invoice_id: 'in_1',
          customer_id: 'cus_1',
          subscription_id: 'sub_1',
          url: 'https://pay.example/pl_1',
        },
        ...{ amount: 2990, currency: 'eur', expires_at: '2026-11-23T12:00:00.000Z', automatic: true },
        console: '/console/invoices/in_1',
      },
    },
  ]);
  const bare = { ...link({ amount: null, currency: null }), invoice: null };
  expect(tellStep(open, bare)).toMatchObject([
    {
      data: {
        amount: null,
        currency: null,
        expires_at: null,
        automatic: false,
        customer_id: null,
        subscription_id: null,
      },
    },
  ]);
});

it('a payment_link.created notification goes out once, after the MoR gives the link an id and a URL', () => {
  for (const missing of [{ morId: null }, { url: null }]) {
    expect(tellStep(open, link(missing))).toEqual([]);
    expect(tellStep(link(missing), link())).toHaveLength(1);
  }
  expect(tellStep(link(), link({ status: 'EXPIRED' }))).toEqual([]);
  expect(tellStep(link({ id: 'lnk_0' }), link())).toHaveLength(1);
  for (const kind of ['proforma', 'dispute'] as const) expect(tellStep(open, link({ kind }))).toEqual([]);
});
