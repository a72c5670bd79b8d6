// The MoR's files of payments and refunds: fresh links, and the answer while they are being made.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Json, startWorld, type World } from '../support/world.js';

let world: World;

beforeAll(async () => {
  world = await startWorld();
  await world.startDaemon();
});
afterAll(() => world.close());

it('a payment and a refund have a file each; while it is being made the caller is told when to ask again', async () => {
  const s = await world.subscriber();
  await world.invoice(s.firstInvoiceId, 'paid');
  const id = await world.renew(s.subscriptionId);
  await world.invoice(id, 'held');
  await world.advance(3_700);
  const paid = await world.invoice(id, 'paid');
  const payment = String((paid['payments'] as Json[])[0]?.['id']);
  const refund = await world.api(
    'POST',
    `/v1/payments/${payment}/refunds`,
    { amount: 100 },
    { 'idempotency-key': `${payment}-1` },
  );
  const early = await world.api('GET', `/v1/refunds/${String(refund.body['id'])}/document`);
  expect(early).toMatchObject({ status: 202, body: { status: 'pending' } });
  expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0);
  await world.advance(60);
  for (const path of [`/v1/payments/${payment}/document`, `/v1/refunds/${String(refund.body['id'])}/document`]) {
    const ready = await world.api('GET', path);
    expect(ready).toMatchObject({ status: 200, body: { fileName: expect.stringMatching(/\.pdf$/) } });
    const file = await fetch(String(ready.body['url']));
    expect(file.status).toBe(200);
  }
  expect((await world.api('GET', '/v1/refunds/ref_none/document')).status).toBe(404);
  expect((await world.api('GET', '/v1/payments/pay_none/document')).status).toBe(404);
});
