// The idempotency store and each fault open to tests, seen by the real `stripe` package and by plain requests.
import { expect, it } from '@jest/globals';
import { type Rig, call, report, rigForEach } from '../rig.js';

const DAY = 86_400;

let rig: Rig;
rigForEach((started) => (rig = started));

const records = async (): Promise<number> => (await rig.stripe.paymentRecords.list()).data.length;
const fault = (body: object) =>
  rig.control('POST', '/faults', { side: 'stripe', path: '/v1/payment_records', method: 'POST', ...body });

it("the sandbox's Stripe answers a repeat under the same key with the stored answer, marked as replayed", async () => {
  const first = await report(rig, 100, 'ch_1', 'key-1');
  const second = await report(rig, 100, 'ch_1', 'key-1');
  expect(second.id).toBe(first.id);
  expect(
    (second as unknown as { lastResponse: { headers: Record<string, string> } }).lastResponse.headers,
  ).toMatchObject({ 'idempotent-replayed': 'true' });
  expect(await records()).toBe(1);
});

it("the sandbox's Stripe refuses other parameters under a used idempotency key", async () => {
  await report(rig, 100, 'ch_1', 'key-1');
  await expect(report(rig, 101, 'ch_1', 'key-1')).rejects.toMatchObject({
    rawType: 'idempotency_error',
    statusCode: 400,
  });
});

it("the sandbox's Stripe forgets an idempotency key after 24 hours", async () => {
  const first = await report(rig, 100, 'ch_1', 'key-1');
  await rig.advance(DAY + 1);
  expect((await report(rig, 100, 'ch_1', 'key-1')).id).not.toBe(first.id);
});

it("the sandbox's Stripe accepts an idempotency key again after a request with invalid parameters", async () => {
  const bad = rig.stripe.paymentRecords.retrieve('pr_none');
  await expect(bad).rejects.toMatchObject({ statusCode: 404, code: 'resource_missing' });
  await expect(report(rig, 0, 'ch_1', 'key-1')).rejects.toMatchObject({ statusCode: 400 });
  expect((await report(rig, 100, 'ch_1', 'key-1')).object).toBe('payment_record');
});

it("the sandbox's Stripe refuses a second request while the first request under the same key is running", async () => {
  await fault({ action: 'delay_ms', delay_ms: 300 });
  const slow = report(rig, 100, 'ch_1', 'key-1');
  await new Promise((resolve) => setTimeout(resolve, 100));
  await expect(report(rig, 100, 'ch_1', 'key-1')).rejects.toMatchObject({
    statusCode: 409,
    code: 'idempotency_key_in_use',
  });
  await slow;
  expect(await records()).toBe(1);
});

it("the sandbox's fault `drop_before` closes the connection before the request takes effect", async () => {
  await fault({ action: 'drop_before', times: 2 }); // the client repeats a request once after a reset connection
  await expect(report(rig, 100, 'ch_1', 'a')).rejects.toMatchObject({ type: 'StripeConnectionError' });
  expect(await records()).toBe(0);
});

it("the sandbox's fault `drop_after` carries a request out without an answer, and a repeat has no second effect", async () => {
  await fault({ action: 'drop_after', times: 2 });
  await expect(report(rig, 100, 'ch_1', 'b')).rejects.toMatchObject({ type: 'StripeConnectionError' });
  expect(await records()).toBe(1);
  await report(rig, 100, 'ch_1', 'b');
  expect(await records()).toBe(1);
});

it("the sandbox's fault `status` answers an error and does nothing; the fault `status_after` carries the request out, then answers an error", async () => {
  await fault({ action: 'status', status: 503 });
  await expect(report(rig, 100, 'ch_1', 'a')).rejects.toMatchObject({ statusCode: 503 });
  expect(await records()).toBe(0);
  await fault({ action: { status_after: 502 } });
  await expect(report(rig, 100, 'ch_1', 'a')).rejects.toMatchObject({ statusCode: 502 });
  expect(await records()).toBe(1);
});

it("the sandbox's 429 for a rate limit has Stripe's header with the reason; the 429 for a locked object has no such header", async () => {
  await fault({ action: 'status', status: 429, headers: { 'retry-after': '2' } });
  const limited = await report(rig, 100, 'ch_1', 'a').catch((e: unknown) => e);
  expect(limited).toMatchObject({
    code: 'rate_limit',
    headers: { 'stripe-rate-limited-reason': 'global-rate', 'retry-after': '2' },
  });
  await fault({ action: 'status', status: 429, code: 'lock_timeout' });
  const locked: unknown = await report(rig, 100, 'ch_1', 'a').catch((e: unknown) => e);
  expect(locked).toMatchObject({ code: 'lock_timeout' });
  expect(locked).not.toHaveProperty(['headers', 'stripe-rate-limited-reason']);
});

it("the sandbox's fault `garble` carries a request out and cuts the answer short", async () => {
  await fault({ action: 'garble' });
  await expect(report(rig, 100, 'ch_1', 'a')).rejects.toThrow();
  expect(await records()).toBe(1);
});

it("the sandbox's fault `store_500` stores a 500 under the key and replays the stored answer", async () => {
  await fault({ action: 'store_500' });
  for (const _ of [1, 2]) await expect(report(rig, 100, 'ch_1', 'a')).rejects.toMatchObject({ statusCode: 500 });
  expect(await records()).toBe(0);
  expect((await report(rig, 100, 'ch_1', 'a-2')).object).toBe('payment_record');
});

it("the sandbox's fault `duplicate` carries a request out twice, and only an idempotency key prevents the second effect", async () => {
  await fault({ action: 'duplicate', times: 2 });
  await report(rig, 100, 'ch_1', 'a');
  expect(await records()).toBe(1);
  await rig.control('POST', '/faults', { side: 'stripe', path: '/v1/customers', action: 'duplicate' });
  const { stripeUrl, secrets } = rig.sandbox;
  const headers = {
    authorization: `Bearer ${secrets.stripeApiKey}`,
    'content-type': 'application/x-www-form-urlencoded',
  };
  await call(stripeUrl, 'POST', '/v1/customers', 'email=a%40example.com', headers);
  expect((await rig.stripe.customers.list()).data).toHaveLength(2);
});

it('the sandbox lists its faults with their hits, clears them, and names the wrong field of a new fault', async () => {
  await fault({ action: 'status', status: 503, times: 3 });
  await expect(report(rig, 100, 'ch_1', 'a')).rejects.toMatchObject({ statusCode: 503 });
  const listed = await rig.control('GET', '/faults');
  expect(listed.body).toMatchObject({ data: [{ hits: 1, timesLeft: 2 }] });
  await rig.control('DELETE', '/faults');
  expect((await report(rig, 100, 'ch_1', 'a')).object).toBe('payment_record');
  const wrong = await fault({ action: 'explode' });
  expect(wrong).toMatchObject({ status: 400, body: { errors: [{ field: 'action' }] } });
});

it("the sandbox's Stripe refuses an unknown API key with 401 and requests over the rate limit with 429", async () => {
  const refused = await call(rig.sandbox.stripeUrl, 'GET', '/v1/customers', undefined, {
    authorization: 'Bearer sk_test_other',
  });
  expect(refused.status).toBe(401);
  await rig.control('POST', '/stripe/rate-limit', { rps: 2 });
  const replies = await Promise.allSettled(Array.from({ length: 8 }, () => rig.stripe.customers.list()));
  const limited = replies.filter((a) => a.status === 'rejected').map((a): unknown => a.reason);
  expect(limited.length).toBeGreaterThanOrEqual(4); // at most two in each of two seconds pass
  expect(limited[0]).toMatchObject({ statusCode: 429 });
  expect((await rig.control('GET', '/stripe/stats')).body).toMatchObject({ rate_limited: limited.length });
});

it('the sandbox logs requests with key and status, but no credential', async () => {
  await report(rig, 100, 'ch_1', 'key-1');
  await rig.mor('GET', '/api/payments/invoice?psp_reference=ch_none');
  const log = await rig.control('GET', '/requests?side=stripe&path=/v1/payment_records');
  expect(log.body).toMatchObject({ data: [{ method: 'POST', idempotency_key: 'key-1', status: 200 }] });
  const all = JSON.stringify((await rig.control('GET', '/requests')).body);
  const { secrets } = rig.sandbox;
  for (const secret of [secrets.stripeApiKey, secrets.merchant.clientSecret]) expect(all).not.toContain(secret);
});
