// Registering the address to which the MoR delivers its events (Document 2), end to end.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type Json, SIGNUP_KEY, startWorld, type World } from '../support/world.js';

type List = { data: { id: string; url: string; secret?: string }[] };

describe('webhook endpoints at the MoR', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.startDaemon();
  });
  afterEach(async () => {
    await world.control('DELETE', '/faults');
  });
  afterAll(() => world.close());

  const register = (body: Json) => world.api('POST', '/v1/mor/webhooks', body);
  const list = async () => (await world.api<List>('GET', '/v1/mor/webhooks')).body.data;

  it('registers an endpoint and shows its secret once, nowhere else', async () => {
    const url = 'https://hooks.larch.example/mor';
    const made = await register({ url, events: ['proforma_invoice.settled'], description: 'bank transfers' });
    expect(made).toMatchObject({ status: 201, body: { url, events: ['proforma_invoice.settled'], status: 'ACTIVE' } });
    const secret = String(made.body['secret']);
    expect(secret.length).toBeGreaterThan(10);
    expect(made.body['next']).toContain('MOR_EVENT_WEBHOOK_SECRETS');
    const id = String(made.body['id']);
    expect((await list()).find((e) => e.id === id)).toEqual(expect.not.objectContaining({ secret: expect.anything() }));
    expect(world.logLines.join('')).not.toContain(secret);
    const db = new pg.Client({ connectionString: world.databaseUrl });
    await db.connect();
    try {
      const audit = await db.query<Json>(`select * from audit where action = 'mor_webhook.create' order by id`);
      expect(audit.rows.map((r) => r['outcome'])).toEqual(['begun', 'done']);
      expect(JSON.stringify(audit.rows)).not.toContain(secret);
      expect(JSON.stringify(audit.rows)).toContain(id);
    } finally {
      await db.end();
    }
    expect((await world.api('DELETE', `/v1/mor/webhooks/${id}`)).status).toBe(204);
    expect((await world.api('DELETE', `/v1/mor/webhooks/${id}`)).status).toBe(204);
    expect((await list()).some((e) => e.id === id)).toBe(false);
  });

  it('passes each refusal on with its code', async () => {
    const url = 'https://hooks.larch.example/x';
    expect(await register({ url, events: [] })).toMatchObject({ status: 400, body: { code: 'unknown_event' } });
    expect(await register({ url, events: ['no.such'] })).toMatchObject({
      status: 400,
      body: { code: 'unknown_event' },
    });
    const plain = await register({ url: 'http://hooks.larch.example/x', events: ['dispute.outcome'] });
    expect(plain).toMatchObject({ status: 400, body: { code: 'invalid_url', errors: [{ field: 'url' }] } });
    expect(await register({ events: ['dispute.outcome'] })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'url' }] },
    });
    const gone = await world.api('DELETE', '/v1/mor/webhooks/wh_nobody');
    expect(gone).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const made: string[] = [];
    for (let n = 0; n < 12; n++) {
      const answer = await register({ url: `https://hooks.larch.example/${n}`, events: ['dispute.outcome'] });
      if (answer.status === 201) made.push(String(answer.body['id']));
      else expect(answer).toMatchObject({ status: 409, body: { code: 'webhook_endpoint_limit_exceeded' } });
    }
    expect(made.length).toBeLessThanOrEqual(10);
    for (const id of made) await world.api('DELETE', `/v1/mor/webhooks/${id}`);
    const headers = { authorization: `Bearer ${SIGNUP_KEY}` };
    expect((await world.api('GET', '/v1/mor/webhooks', undefined, headers)).status).toBe(403);
  });

  it('says whether an unanswered registration was made', async () => {
    const body = { url: 'https://hooks.larch.example/lost', events: ['dispute.outcome'] };
    await world.control('POST', '/faults', {
      side: 'mor',
      method: 'POST',
      path: '/api/webhooks',
      action: 'drop_after',
    });
    const lost = await register(body);
    expect(lost).toMatchObject({ status: 502, body: { code: 'mor_unavailable' } });
    const made = (await list()).find((e) => e.url === body.url);
    expect(lost.body['message']).toContain(made?.id);
    expect(lost.body['message']).toContain('register once more');
    await world.api('DELETE', `/v1/mor/webhooks/${made?.id ?? ''}`);
    await world.control('POST', '/faults', {
      side: 'mor',
      method: 'POST',
      path: '/api/webhooks',
      action: 'drop_before',
    });
    const never = await register(body);
    expect(never.body['message']).toContain('does not name this address');
    expect((await list()).some((e) => e.url === body.url)).toBe(false);
  });
});
