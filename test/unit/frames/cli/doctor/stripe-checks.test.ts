// What `crossbill doctor` says of Stripe's key, endpoint and events.
import { expect, it } from '@jest/globals';
import { endpointChecks, keyChecks, markModeChecks } from '../../../../../src/frames/cli/doctor/stripe-checks.js';
import { type StripeClient } from '../../../../../src/frames/stripe/stripe-client.js';
import { type Config } from '../../../../../src/shared/config/index.js';
import { stripeInvoiceTypes } from '../../../../../src/shared/domain/events/stripe-event.js';
import { type BillingReader } from '../../../../../src/shared/domain/ports/billing-reader.js';
import { reply, FAILURES, failing } from '../../../../support/builders/stripe-answers.js';

const checked = async (apiVersion: string | null) => {
  const endpoint = {
    endpointId: 'we_1',
    url: 'https://cb.example/webhooks/stripe',
    enabled: true,
    events: stripeInvoiceTypes,
  };
  const reader = { listWebhookEndpoints: () => reply([{ ...endpoint, apiVersion }]) } as Partial<BillingReader>;
  return (await endpointChecks(reader as BillingReader)).map((c) => c.state);
};

it('the command `crossbill doctor` fails on a webhook endpoint with a Stripe API version before 2018-11-08', async () => {
  expect(await checked('2017-06-05')).toEqual(['fail']);
  expect(await checked('2018-11-08')).toEqual(['ok']);
  expect(await checked(null)).toEqual(['ok']);
});

it('the command `crossbill doctor` warns of a Stripe key without the right to read its account', async () => {
  const failure = { code: null, message: '', errors: [], retryAfterMs: null, requestId: null, replayed: false };
  const readAccount = () => Promise.resolve({ ok: false as const, kind: 'stopped' as const, status: 403, ...failure });
  const config = { stripeApiKey: { reveal: () => 'rk_test_1' } } as unknown as Config;
  const [check] = await keyChecks(config, { readAccount } as Partial<BillingReader> as BillingReader);
  expect(check?.state).toBe('warn');
});

it.each(FAILURES)('%s, each check of Stripe by `crossbill doctor` names a step that fits', async (_, status, step) => {
  const failed = failing(status);
  const all = { readAccount: failed, listWebhookEndpoints: failed };
  const reader = all as Partial<BillingReader> as BillingReader;
  const config = {
    stripeApiKey: { reveal: () => 'sk_test_1' },
    billingMarkMode: 'payment_record',
  } as unknown as Config;
  const client = { read: failed } as unknown as StripeClient;
  const checks = [
    (await keyChecks(config, reader))[0],
    ...(await endpointChecks(reader)),
    ...(await markModeChecks(config, client)),
  ];
  expect(checks).toHaveLength(3);
  for (const check of checks) expect(check?.todo).toContain(step);
});
