// The documents' open questions: the sandbox plays either answer.
import { expect, it } from '@jest/globals';
import { type Rig, rigForEach, subscribe } from '../rig.js';

const INTENTS = '/api/payments/cardpsp/payment-intents';
const SETUPS = '/api/payments/cardpsp/setup-intents';

let rig: Rig;
rigForEach((started) => (rig = started));

const choose = (facts: Record<string, string>) => rig.control('POST', '/mor/open-facts', facts);

async function charged(): Promise<{ readonly chargeId: string; readonly subscription: string }> {
  const made = await subscribe(rig, 'ada@example.com');
  const customer = { cardpsp_id: made.customer.id };
  const intent = await rig.mor('POST', INTENTS, { amount: 2990, currency: 'EUR', merchant_customer: customer });
  const result = await rig.control('POST', `/intents/${String(intent.body['payment_intent_id'])}/confirm`, {});
  await rig.stripe.invoices.pay(made.invoiceId, { paid_out_of_band: true });
  return { chargeId: String(result.body['charge_id']), subscription: made.subscription.id };
}

const renew = (subscription: string) => rig.control('POST', '/stripe/renew', { subscription });
const verdicts = () => rig.events('payment.succeeded').length;

it("the sandbox lists the choices the MoR's documents leave open, and refuses an unknown choice", async () => {
  expect((await choose({})).body).toMatchObject({ charges_at: 'created', signature: 'documented', keys: 'kept' });
  expect((await choose({ keys: 'sometimes' })).status).toBe(400);
});

it("the sandbox's MoR charges a draft immediately or at its finalization, as a test chooses", async () => {
  const { subscription } = await charged();
  await renew(subscription);
  await rig.advance(10);
  expect(verdicts()).toBe(1);
  await choose({ charges_at: 'finalized' });
  await renew(subscription);
  await rig.advance(600);
  expect(verdicts()).toBe(1);
  await rig.advance(3600);
  expect(verdicts()).toBe(2);
});

it("the sandbox's MoR answers 202, 200 or 404 to the lookup of a new charge, as a test chooses", async () => {
  const find = async (id: string) => (await rig.mor('GET', `/api/payments/invoice?psp_reference=${id}`)).status;
  const { chargeId } = await charged();
  expect(await find(chargeId)).toBe(202);
  await choose({ charge_lookup: 'at_once' });
  expect(await find(chargeId)).toBe(200);
  await choose({ charge_lookup: 'never' });
  expect(await find(chargeId)).toBe(404);
});

it("the sandbox's MoR saves a setup intent's method for its customer or for nobody, as a test chooses", async () => {
  for (const [word, saved] of [
    ['ignore', 0],
    ['take', 1],
  ] as const) {
    await rig.control('POST', '/mor/account', { setup_customer: word });
    const setup = await rig.mor('POST', SETUPS, { merchant_customer: { cardpsp_id: 'cus_trial' } });
    await rig.control('POST', `/intents/${String(setup.body['setup_intent_id'])}/confirm`, {});
    const all = (await rig.control('GET', '/mor/customers')).body['data'] as Record<string, unknown>[];
    const own = all.filter((c) => c['merchant_customer_id'] === 'cus_trial');
    expect(own.flatMap((c) => c['payment_methods'] as unknown[])).toHaveLength(saved);
  }
});

it("the sandbox's MoR writes its signatures as documented, in capital letters, or with a prefix, as a test chooses", async () => {
  const { subscription } = await charged();
  const forms: string[] = [];
  for (const signature of ['documented', 'upper_case', 'prefixed']) {
    await choose({ signature });
    await renew(subscription);
    await rig.advance(10);
    const last = rig.received.filter((r) => r.headers['mor-signature'] !== undefined).at(-1);
    forms.push(String(last?.headers['mor-signature']));
  }
  expect(forms[0]).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  expect(forms[1]).toMatch(/^t=\d+, v1=[0-9A-F]{64}$/);
  expect(forms[2]).toMatch(/^t=\d+,v1=sha256=[0-9a-f]{64}$/);
});

it("as a test chooses, the sandbox's MoR nests its errors, leaves out error codes, and forgets idempotency keys", async () => {
  const wrong = { payment_method_types: ['cheque'] };
  expect((await rig.mor('POST', SETUPS, wrong)).body).toMatchObject({ code: 'invalid_request' });
  await choose({ errors: 'nested', not_found: 'bare', keys: 'forgotten' });
  expect((await rig.mor('POST', SETUPS, wrong)).body).toMatchObject({ error: { code: 'invalid_request' } });
  const unknown = await rig.mor('GET', '/api/payments/invoice?psp_reference=ch_none');
  expect([unknown.status, unknown.body]).toEqual([404, { message: 'Not Found' }]);
  const key = { 'idempotency-key': 'one' };
  const ids = [await rig.mor('POST', SETUPS, {}, key), await rig.mor('POST', SETUPS, {}, key)];
  expect(new Set(ids.map((a) => a.body['setup_intent_id'])).size).toBe(2);
});
