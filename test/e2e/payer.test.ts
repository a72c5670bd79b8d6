// Whose card it is: a setup intent names its customer, and a renewal is charged on its own customer's method.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Daemon } from '../../src/daemon.js';
import { type Json, type Reply, SIGNUP_KEY, startWorld, type World } from '../support/world.js';
import { requestsOf } from './support/story.js';

const SETUP = '/api/payments/cardpsp/setup-intents';

let world: World;
let sending: Daemon;
let omitting: Daemon;
beforeAll(async () => {
  world = await startWorld();
  sending = await world.startDaemon();
  omitting = await world.startDaemon({ MOR_SETUP_CUSTOMER: 'omit' });
});
afterAll(() => world.close());

async function signUp(daemon: Daemon, body: Json, key: string = randomUUID()): Promise<Reply> {
  const headers = { authorization: `Bearer ${SIGNUP_KEY}`, 'idempotency-key': key, 'content-type': 'application/json' };
  const answer = await fetch(`${daemon.url}/v1/signups`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, body: (await answer.json()) as Json, headers: answer.headers };
}
const setupCalls = (): Promise<Json[]> => requestsOf(world, `side=mor&path=${SETUP}`);
/** What the newest setup intent was asked with. */
const lastSetup = async (): Promise<unknown> => (await setupCalls()).at(-1)?.['body'];

describe('a setup intent', () => {
  it('names its customer with everything that the signup gave', async () => {
    const customer = {
      id: 'cus_named',
      email: 'ada@example.com',
      name: 'Ada Example',
      country: 'de',
      address: { line1: 'Am Markt 1', city: 'Bonn', postal_code: '53111' },
    };
    expect((await signUp(sending, { kind: 'trial', customer })).status).toBe(201);
    const { id, ...known } = customer;
    expect(await lastSetup()).toEqual({ merchant_customer: { ...known, cardpsp_id: id, country: 'DE' } });
  });

  it('names the id alone when nothing else was given', async () => {
    expect((await signUp(sending, { kind: 'trial', customer: { id: 'cus_bare' } })).status).toBe(201);
    expect(await lastSetup()).toEqual({ merchant_customer: { cardpsp_id: 'cus_bare' } });
  });

  it('names nobody with MOR_SETUP_CUSTOMER=omit', async () => {
    const customer = { id: 'cus_omitted', email: 'ada@example.com' };
    expect((await signUp(omitting, { kind: 'trial', customer })).status).toBe(201);
    expect(await lastSetup()).toEqual({});
  });

  it('is repeated with its stored bytes under its key after MOR_SETUP_CUSTOMER changed', async () => {
    const key = randomUUID();
    const body = { kind: 'trial', customer: { id: 'cus_repeated', email: 'ada@example.com' } };
    const first = await signUp(sending, body, key);
    const before = (await setupCalls()).length;
    const again = await signUp(omitting, body, key);
    expect([again.status, again.body]).toEqual([201, first.body]);
    const calls = (await setupCalls()).slice(before - 1);
    expect(calls).toHaveLength(2);
    expect(calls[1]?.['body']).toEqual({ merchant_customer: { cardpsp_id: 'cus_repeated', email: 'ada@example.com' } });
    expect(calls[1]?.['idempotency_key']).toBe(calls[0]?.['idempotency_key']);
  });
});
