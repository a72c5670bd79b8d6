// Refunds of a payment with an open dispute: the bank may take the same money, so nobody refunds it without a warning.
import { beforeEach, expect, it } from '@jest/globals';
import { cli, cliJson } from '../cli/rig.js';
import { fieldsOf, Visitor } from '../console/visitor.js';
import { reviewsOf } from '../support/rigs/channels.js';
import { type Json, OPS_KEY, type Reply, type Subscriber, refusal, useWorld } from '../support/rigs/world.js';
import { chargeByMor, paidRenewal, resolve, untilReviews } from './support/story.js';

const world = useWorld();
let renewal: Subscriber & { readonly invoiceId: string; readonly paymentId: string };

beforeEach(async () => {
  renewal = await paidRenewal(world);
});

async function dispute(paymentId: string, outcome?: string): Promise<void> {
  const type = outcome === undefined ? 'dispute.action_needed' : 'dispute.outcome';
  const data = { disputeId: `dp_${paymentId}`, paymentId, ...(outcome === undefined ? {} : { outcome }) };
  await world.control('POST', '/events', { type, data });
}

async function disputed(): Promise<string> {
  await dispute(renewal.paymentId);
  await reviewsOf(world, renewal.invoiceId, 'dispute');
  return renewal.paymentId;
}

const refund = (paymentId: string, body: Json, key: string): Promise<Reply> =>
  world.api('POST', `/v1/payments/${paymentId}/refunds`, body, { 'idempotency-key': key });
const refunds = async (paymentId: string): Promise<number[]> =>
  ((await world.api('GET', `/v1/payments/${paymentId}`)).body['refunds'] as Json[]).map((r) => Number(r['amount']));

it('the API refuses a refund next to an open dispute, accepts `despite_dispute`, and accepts any refund after a win', async () => {
  const id = await disputed();
  expect(await refund(id, { amount: 100 }, 'a')).toMatchObject(refusal(409, 'payment_disputed'));
  expect((await refund(id, { amount: 100, despite_dispute: 'yes' }, 'b')).status).toBe(400);
  expect((await refund(id, { amount: 100, despite_dispute: false }, 'c')).status).toBe(409);
  expect(await refunds(id)).toEqual([]);
  const made = await refund(id, { amount: 100, despite_dispute: true }, 'd');
  expect([made.status, await refunds(id)]).toEqual([201, [100]]);
  await dispute(id, 'won');
  const after = await world.until(
    'the dispute is won',
    () => refund(id, { amount: 200 }, 'e'),
    (r) => r.status === 201,
  );
  expect(after.body).toMatchObject({ amount: 200 });
});

it('`crossbill refund --yes` alone refunds no disputed payment; a terminal shows the warning; `--despite-dispute` accepts', async () => {
  const id = await disputed();
  const args = ['refund', id, '--amount', '1'];
  const refused = await cliJson<{ error: Json }>([...args, '--yes'], world.env);
  expect(refused).toMatchObject({ code: 1, body: { error: { code: 'payment_disputed' } } });
  const no = await cli(args, world.env, { reply: 'n' });
  expect(no).toMatchObject({ code: 1, out: '', err: expect.stringMatching(new RegExp(`^Warning: .*dp_${id}`)) });
  expect(await refunds(id)).toEqual([]);
  expect((await cli([...args, '--yes', '--despite-dispute'], world.env)).code).toBe(0);
  expect((await cli(args, world.env, { reply: 'y' })).code).toBe(0);
  expect(await refunds(id)).toEqual([100, 100]);
});

it("the console's form and confirmation of a refund warn of an open dispute, and a form from before the dispute refunds nothing", async () => {
  const ops = await new Visitor(String(world.daemons[0]?.url)).login(OPS_KEY);
  const id = renewal.paymentId;
  const form = `/console/payments/${id}/refund`;
  const confirm = async () => {
    const fields = { ...(await ops.form(form, form)), amount: '1.00', reason: '' };
    const { text } = await ops.post(form, fields);
    return { text, fields: fieldsOf(text, `${form}s`) };
  };
  const before = await confirm();
  expect(before.text).not.toContain('role="alert"');
  await disputed();
  for (const { text } of [await ops.get(form), await confirm()])
    expect(text).toMatch(new RegExp(`class="message bad" role="alert">[^]*dp_${id}`));
  const late = await ops.post(`${form}s`, before.fields);
  expect([late.status, late.text.includes('payment_disputed'), await refunds(id)]).toEqual([409, true, []]);
  expect((await ops.post(`${form}s`, (await confirm()).fields)).status).toBe(303);
  expect(await refunds(id)).toEqual([100]);
});

it('the choice `refund` of an item is refused next to an open dispute, and a refund despite the dispute closes the item', async () => {
  const { invoiceId } = renewal;
  const second = await chargeByMor(world, renewal, invoiceId, 2990);
  const [item] = await untilReviews(world, invoiceId, ['double_payment']);
  await dispute(second.paymentId);
  await reviewsOf(world, invoiceId, 'dispute');
  expect(await resolve(world, item, 'refund')).toMatchObject(refusal(409, 'payment_disputed'));
  const ops = await new Visitor(String(world.daemons[0]?.url)).login(OPS_KEY);
  const page = (await ops.get(`/console/reviews/${String(item?.['id'])}`)).text;
  expect(page).toContain(`href="/console/payments/${second.paymentId}/refund"`);
  expect(page).not.toContain('value="refund"');
  expect((await refund(second.paymentId, { despite_dispute: true }, 'all')).status).toBe(201);
  await untilReviews(world, invoiceId, ['dispute']);
});
