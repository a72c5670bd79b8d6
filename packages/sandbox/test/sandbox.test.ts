// The sandbox without sockets: an owner of time and network gets the same run from the same seed.
import { expect, it } from '@jest/globals';
import { type SandboxCore, makeSandbox } from '../src/sandbox.js';

const START = Date.UTC(2026, 10, 20);

async function ask(core: SandboxCore, side: 'mor' | 'stripe', method: string, target: string, body = '', json = false) {
  const token = core.mor.issueToken('merchant').access_token;
  const headers: Record<string, string> = {
    authorization: `Bearer ${side === 'stripe' ? core.secrets.stripeApiKey : token}`,
    'content-type': json ? 'application/json' : 'application/x-www-form-urlencoded',
  };
  const reply = await core.kernel.handle(side, { method, target, headers, body: Buffer.from(body) });
  if (reply.dropped) throw new Error('dropped');
  return { status: reply.status, body: JSON.parse(reply.body.toString('utf8')) as Record<string, unknown> };
}

/** A trial signup with a saved card, and the renewal at its end; returns all deliveries. */
async function run(seed: string): Promise<string[]> {
  let now = START;
  const delivered: string[] = [];
  const core = makeSandbox({
    seed,
    clock: { source: () => now, manual: true },
    transport: (url, headers, body) => {
      delivered.push(`${now - START} ${url} ${JSON.stringify(headers)} ${body.toString('utf8')}`);
      return Promise.resolve(200);
    },
    stripeWebhookUrl: 'http://daemon/stripe',
    paymentWebhookUrl: 'http://daemon/payments',
  });
  const price = 'currency=eur&unit_amount=2990&recurring[interval]=month&product_data[name]=Larch';
  const { id: priceId } = (await ask(core, 'stripe', 'POST', '/v1/prices', price)).body;
  const { id: customer } = (await ask(core, 'stripe', 'POST', '/v1/customers', 'email=ada@example.com')).body;
  const { id: method } = (await ask(core, 'stripe', 'POST', '/v1/payment_methods', 'type=custom&custom[type]=cpmt_mor'))
    .body;
  const items = `customer=${String(customer)}&items[0][price]=${String(priceId)}&trial_period_days=7&default_payment_method=${String(method)}`;
  await ask(core, 'stripe', 'POST', '/v1/subscriptions', items);
  const owner = JSON.stringify({ merchant_customer: { cardpsp_id: customer } });
  const setup = await ask(core, 'mor', 'POST', '/api/payments/cardpsp/setup-intents', owner, true);
  await ask(core, 'mor', 'POST', `/_sandbox/intents/${String(setup.body['setup_intent_id'])}/confirm`, '{}', true);
  const end = START + 8 * 86_400_000;
  for (let due = core.kernel.clock.nextDue(); due !== null && due <= end; due = core.kernel.clock.nextDue()) {
    now = Math.max(now, due);
    await core.kernel.clock.runDue();
    await Promise.resolve();
  }
  core.kernel.clock.close();
  return delivered;
}

it("the sandbox's Stripe charges the saved card at the end of a trial, before it finalizes the invoice", async () => {
  const delivered = await run('one');
  const notified = delivered.map((d) => d.slice(d.indexOf('{"id"'))).map((d) => JSON.parse(d) as { type: string });
  const types = notified.map((e) => e.type);
  const renewal = types.lastIndexOf('invoice.created');
  expect(types.slice(renewal)).toEqual([
    'invoice.created',
    'customer.subscription.updated',
    'payment.succeeded',
    'invoice.finalized',
    'invoice.payment_attempt_required',
  ]);
});

it('the sandbox repeats the same events for the same seed, and makes other events for another seed', async () => {
  const first = await run('one');
  expect(await run('one')).toEqual(first);
  expect(await run('two')).not.toEqual(first);
});
