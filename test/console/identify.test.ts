// A payment that no event of the MoR has named gets its name by the console's form.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { begun, complete, confirmed, paidOnce } from '../e2e/support/signups.js';
import { refund } from '../e2e/support/story.js';
import { type Json, OPS_KEY, READ_KEY, startWorld, type World } from '../support/world.js';
import { fieldsOf, Visitor } from './visitor.js';

let world: World;
let url: string;

beforeAll(async () => {
  world = await startWorld();
  url = (await world.startDaemon()).url;
});
afterAll(() => world.close());

/** A paid signup whose payment has an id of ours alone. */
async function nameless(): Promise<{ ours: string; paymentId: string }> {
  const b = await begun(world);
  const { chargeId, paymentId } = await confirmed(world, b);
  const done = await complete(world, b, chargeId);
  await paidOnce(world, b.invoiceId);
  return { ours: String((done.body['payment'] as Json)['id']), paymentId };
}

const formOf = (ours: string): string => `/console/payments/${ours}/identify`;
const named = async (ours: string): Promise<unknown> => (await world.api('GET', `/v1/payments/${ours}`)).body['id'];

it('the form names a payment for good; it is refundable then, its page asks no more, and the trail says who named it', async () => {
  const { ours, paymentId } = await nameless();
  const v = await new Visitor(url).login(OPS_KEY);
  const page = await v.get(`/console/payments/${ours}`);
  expect(page.text).toContain('No event of the MoR has named it yet');
  const fields = fieldsOf(page.text, formOf(ours));
  expect((await v.post(formOf(ours), { ...fields, payment_id: 'two words' })).status).toBe(400);
  expect(await named(ours)).toBe(ours);
  const answer = await v.post(formOf(ours), { ...fields, payment_id: ` ${paymentId} ` });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, `/console/payments/${paymentId}`]);
  expect(await named(ours)).toBe(paymentId);
  const after = await v.get(`/console/payments/${paymentId}`);
  expect([after.text.includes(formOf(ours)), after.text.includes('Refund…')]).toEqual([false, true]);
  const trail = (await world.api<{ data: Json[] }>('GET', '/v1/audit?action=payment.identify')).body.data;
  expect(trail.map((a) => a['outcome'])).toEqual(['done', 'begun', 'refused', 'begun']);
  expect(trail[0]).toMatchObject({ actor: 'ops', role: 'ops', target: ours, detail: { via: 'console' } });
  expect(await refund(world, paymentId, { amount: 990 })).toMatchObject({ status: 201 });

  // Another one may not have that name, and the answer says whose it is.
  const other = await nameless();
  const clash = await v.post(formOf(other.ours), {
    ...fieldsOf((await v.get(`/console/payments/${other.ours}`)).text, formOf(other.ours)),
    payment_id: paymentId,
  });
  expect([clash.status, clash.text.includes(ours)]).toEqual([409, true]);
  expect(await named(other.ours)).toBe(other.ours);
});

it('who may only read is shown no form, and may not send one', async () => {
  const { ours, paymentId } = await nameless();
  const reader = await new Visitor(url).login(READ_KEY);
  const page = await reader.get(`/console/payments/${ours}`);
  expect(page.text).not.toContain(formOf(ours));
  const token = fieldsOf(page.text, '/console/logout');
  expect((await reader.post(formOf(ours), { ...token, payment_id: paymentId })).status).toBe(403);
  expect((await new Visitor(url).post(formOf(ours), { payment_id: paymentId })).status).toBe(303);
  expect(await named(ours)).toBe(ours);
});
