// What `crossbill doctor` says of Stripe's key, endpoint and events.
import { expect, it } from '@jest/globals';
import {
  arrivalChecks,
  endpointChecks,
  keyChecks,
  markModeChecks,
  ownCardChecks,
} from '../../../../../src/frames/cli/doctor/stripe-checks.js';
import { type EnrolmentFlow } from '../../../../../src/features/enrolment/enrolment.flow.js';
import { type StripeClient } from '../../../../../src/frames/stripe/stripe-client.js';
import { type Config } from '../../../../../src/shared/config/index.js';
import { stripeInvoiceTypes } from '../../../../../src/shared/domain/events/stripe-event.js';
import { type BillingEventFacts, type BillingReader } from '../../../../../src/shared/domain/ports/billing-reader.js';
import { type VerifyStore } from '../../../../../src/features/verify/verify.store.js';
import { reported } from '../../../../support/reported.js';

const answer = <T>(value: T) => Promise.resolve({ ok: true as const, value, status: 200, requestId: null });

const checked = async (apiVersion: string | null) => {
  const endpoint = {
    endpointId: 'we_1',
    url: 'https://cb.example/webhooks/stripe',
    enabled: true,
    events: stripeInvoiceTypes,
  };
  const reader = { listWebhookEndpoints: () => answer([{ ...endpoint, apiVersion }]) } as Partial<BillingReader>;
  return (await endpointChecks(reader as BillingReader)).map((c) => c.state);
};

it('the command `crossbill doctor` fails on a webhook endpoint with a Stripe API version before 2018-11-08', async () => {
  expect(await checked('2017-06-05')).toEqual(['fail']);
  expect(await checked('2018-11-08')).toEqual(['ok']);
  expect(await checked(null)).toEqual(['ok']);
});

it('the command `crossbill doctor` fails on a Stripe account with a too old default API version', async () => {
  const event = (name: string): BillingEventFacts => ({
    eventId: name,
    type: 'invoice.created',
    createdAt: new Date(),
    about: { id: null, createdAt: null },
    movesBalance: false,
    body: Buffer.from(reported(name)),
  });
  const books = {
    installedAt: () => Promise.resolve(new Date(0)),
    unknownEvents: () => Promise.resolve(new Set<string>()),
  } as Partial<VerifyStore>;
  const level = async (name: string) => {
    const reader = { listEvents: () => answer({ items: [event(name)], unreadable: [], next: null }) };
    return (await arrivalChecks(reader as Partial<BillingReader> as BillingReader, books as VerifyStore)).map(
      (c) => c.state,
    );
  };
  expect(await level('14-1-updated')).toEqual(['fail']);
  expect(await level('01-rendering-new')).toEqual(['ok']);
});

it('the command `crossbill doctor` warns of a Stripe key without the right to read its account', async () => {
  const failure = { code: null, message: '', errors: [], retryAfterMs: null, requestId: null, replayed: false };
  const readAccount = () => Promise.resolve({ ok: false as const, kind: 'stopped' as const, status: 403, ...failure });
  const config = { stripeApiKey: { reveal: () => 'rk_test_1' } } as unknown as Config;
  const [check] = await keyChecks(config, { readAccount } as Partial<BillingReader> as BillingReader);
  expect(check?.state).toBe('warn');
});

it.each([
  ['without a reply', null, 'clock against Stripe'],
  ['after a refusal', 401, 'key'],
  ['after a failure at Stripe', 502, 'Try again later'],
  ['after a page of a proxy', 200, 'check the address'],
])('%s, each check of Stripe by `crossbill doctor` names a step that fits', async (_, status, step) => {
  const failure = { code: null, message: '', errors: [], retryAfterMs: null, requestId: null, replayed: false };
  const failed = () => Promise.resolve({ ok: false as const, kind: 'unknown' as const, status, ...failure });
  const all = { readAccount: failed, listWebhookEndpoints: failed, listEvents: failed, readCustomer: failed };
  const reader = all as Partial<BillingReader> as BillingReader;
  const config = {
    stripeApiKey: { reveal: () => 'sk_test_1' },
    billingMarkMode: 'payment_record',
  } as unknown as Config;
  const books = { installedAt: () => Promise.resolve(new Date(0)) } as Partial<VerifyStore> as VerifyStore;
  const client = { read: failed } as unknown as StripeClient;
  const checks = [
    (await keyChecks(config, reader))[0],
    ...(await endpointChecks(reader)),
    ...(await arrivalChecks(reader, books)),
    ...(await markModeChecks(config, client)),
    ...(await ownCardChecks(['cus_1'], {} as EnrolmentFlow, reader, client)),
  ];
  expect(checks).toHaveLength(5);
  for (const check of checks) expect(check?.todo).toContain(step);
});
