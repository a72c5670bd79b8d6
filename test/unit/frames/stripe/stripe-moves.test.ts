// The exact requests of a move, and what a subscription shows of how it is collected.
import { expect, it } from '@jest/globals';
import { parseMovable, StripeMoves } from '../../../../src/frames/stripe/stripe-moves.js';
import { adapterFor } from '../../../support/fakes/stripe-stub.js';

const { client } = adapterFor('http://127.0.0.1:9', { apiKey: 'sk_test_1' });
const custom = new StripeMoves(client, 'cpmt_mor');

const SUBSCRIPTION = {
  id: 'sub_1',
  object: 'subscription',
  status: 'active',
  customer: { id: 'cus_1', object: 'customer', invoice_settings: { default_payment_method: null }, metadata: {} },
  collection_method: 'charge_automatically',
  default_payment_method: { id: 'pm_1', object: 'payment_method', type: 'card' },
  items: { data: [{ current_period_end: 1_800_000_500 }, { current_period_end: 1_800_000_000 }] },
  latest_invoice: { id: 'in_1', object: 'invoice', status: 'paid' },
  schedule: null,
  metadata: {},
};

it('when a subscription moves to the MoR, each request to Stripe carries only its own change', () => {
  expect(custom.encode({ kind: 'make_method' })).toEqual({
    method: 'POST',
    path: '/v1/payment_methods',
    body: 'type=custom&custom[type]=cpmt_mor',
  });
  expect(custom.encode({ kind: 'attach_method', methodId: 'pm_1', customerId: 'cus_1' })).toMatchObject({
    path: '/v1/payment_methods/pm_1/attach',
    body: 'customer=cus_1',
  });
  const set = { kind: 'set_method', subscriptionId: 'sub_1' } as const;
  expect(custom.encode({ ...set, methodId: 'pm_1' })).toMatchObject({
    path: '/v1/subscriptions/sub_1',
    body: 'default_payment_method=pm_1',
  });
  expect(custom.encode({ ...set, methodId: null }).body).toBe('default_payment_method=');
  const collect = { kind: 'set_collection', subscriptionId: 'sub_1' } as const;
  expect(custom.encode({ ...collect, collectionMethod: 'send_invoice' }).body).toBe(
    'collection_method=send_invoice&days_until_due=30',
  );
  expect(custom.encode({ ...collect, collectionMethod: 'charge_automatically' }).body).toBe(
    'collection_method=charge_automatically',
  );
});

it('the settings choose between a custom payment method and send_invoice for moved subscriptions', () => {
  expect([custom.way, new StripeMoves(client, null).way]).toEqual(['custom_method', 'send_invoice']);
});

it('Crossbill reads a subscription’s renewal date from its earliest item, or from an older API shape', () => {
  const renewsAt = new Date(1_800_000_000_000);
  expect(parseMovable(SUBSCRIPTION)).toMatchObject({ renewsAt, ownMethodId: 'pm_1', unpaid: null, scheduleId: null });
  const older = { ...SUBSCRIPTION, items: undefined, current_period_end: 1_800_000_000 };
  expect(parseMovable(older)?.renewsAt).toEqual(renewsAt);
  expect(parseMovable({ ...SUBSCRIPTION, items: {} })?.renewsAt).toBeNull();
});

it('Crossbill reads the newest draft or open invoice of a subscription, and its schedule', () => {
  for (const status of ['draft', 'open'])
    expect(parseMovable({ ...SUBSCRIPTION, latest_invoice: { id: 'in_1', status } })?.unpaid).toEqual({
      invoiceId: 'in_1',
      status,
    });
  expect(parseMovable({ ...SUBSCRIPTION, schedule: 'sub_sched_1' })?.scheduleId).toBe('sub_sched_1');
});

it('Crossbill reads no subscription from an object without a status or of another kind', () => {
  expect(parseMovable({ ...SUBSCRIPTION, status: 7 })).toBeNull();
  expect(parseMovable({ ...SUBSCRIPTION, object: 'customer' })).toBeNull();
});
