// The browser's side of the sandbox: the confirm script, its origins, and the answer to a wrong secret.
import { beforeAll, expect, it } from '@jest/globals';
import { Script } from 'node:vm';
import { makeSandbox, type SandboxCore } from '../../src/sandbox.js';

type Reply = { readonly status: number; readonly headers: Record<string, string>; readonly text: string };

let core: SandboxCore;
let secret: string;
let confirm: string;

async function ask(
  method: string,
  target: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body));
  const reply = await core.kernel.handle('mor', { method, target, headers, body: bytes });
  if (reply.dropped) throw new Error('dropped');
  return { status: reply.status, headers: reply.headers, text: reply.body.toString() };
}

beforeAll(async () => {
  core = makeSandbox({ clock: { manual: true } });
  const bearer = core.mor.issueToken('merchant').access_token;
  const made = await ask(
    'POST',
    '/api/payments/cardpsp/payment-intents',
    { amount: 2990, currency: 'eur', merchant_customer: { cardpsp_id: 'cus_1' } },
    { authorization: `Bearer ${bearer}`, 'idempotency-key': 'k1' },
  );
  const intent = JSON.parse(made.text) as { client_secret: string; payment_intent_id: string };
  secret = intent.client_secret;
  confirm = `/_sandbox/intents/${intent.payment_intent_id}/confirm`;
});

it("the sandbox's confirm script for browsers is valid JavaScript", async () => {
  const reply = await ask('GET', '/_sandbox/confirm.js');
  expect(reply.headers['content-type']).toMatch(/^text\/javascript/);
  expect(() => new Script(reply.text)).not.toThrow();
});

it('a page of another origin may confirm an intent at the sandbox and call nothing else', async () => {
  expect((await ask('OPTIONS', confirm)).headers['access-control-allow-origin']).toBe('*');
  for (const path of ['/_sandbox/clock', '/_sandbox/accounts', '/_sandbox/cards']) {
    expect((await ask('OPTIONS', path)).status).toBe(404);
    expect((await ask('GET', path)).headers['access-control-allow-origin']).toBeUndefined();
  }
});

it("the sandbox's confirm script refuses a wrong client secret or publishable key with an explanation", async () => {
  const wrong = await ask('POST', confirm, { outcome: 'succeed', client_secret: `${secret}x` });
  expect([wrong.status, wrong.headers['access-control-allow-origin']]).toEqual([400, '*']);
  expect(wrong.text).toContain('is not the one of this intent');
  const foreign = await ask('POST', confirm, { client_secret: secret, publishable_key: 'pk_other' });
  expect(foreign.text).toContain('is not the one of this account');
  const right = await ask('POST', confirm, { client_secret: secret, publishable_key: core.publishableKey });
  expect(JSON.parse(right.text)).toMatchObject({ status: 'succeeded', amount: 2990 });
  expect(right.headers['access-control-allow-origin']).toBe('*');
});
