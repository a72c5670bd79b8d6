// Events of Stripe as people reported them: two renderings of one event, the key's own account, numbers that look like cards, old shapes.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { reported } from '../support/reported.js';
import { type Json, startWorld, type World } from '../support/world.js';
import { deliver, eventStatus } from './support/door.js';

describe('reported events of Stripe', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.startDaemon();
  });
  afterAll(() => world.close());

  const send = async (name: string, run: string, account = ''): Promise<void> => {
    const body = reported(name, run, Math.floor(Date.now() / 1000), account);
    expect((await deliver(world, 'stripe', body)).status).toBe(200);
  };
  const expected = (id: string): Promise<Json> => world.invoice(id, 'expected');

  it('in two API versions are one event and open no item', async () => {
    await send('01-rendering-new', '1');
    await send('01-rendering-old', '1');
    await expected('in_two1');
    const events = await world.api<{ data: Json[] }>('GET', '/v1/events?event_id=evt_two1');
    expect(events.body.data).toMatchObject([{ status: 'done' }]);
    expect((await world.api<{ data: Json[] }>('GET', '/v1/reviews?status=open')).body.data).toEqual([]);
  });

  it('that name the account of the key are the merchant’s own, and those of another account are not', async () => {
    const { id } = await world.stripe.accounts.retrieveCurrent();
    await send('02-own-account', '1', id);
    await expected('in_own1');
    await send('02-own-account', '2', 'acct_another');
    expect(await eventStatus(world, 'stripe', 'evt_own2')).toBe('ignored');
  });

  it('keep the number of their invoice, also where it passes the check of card numbers', async () => {
    for (const [n, number] of [
      ['1', '2026-1125-00007'],
      ['2', 'INV-20261125-00007'],
      ['3', '4111-2026-0001-1118'],
    ] as const) {
      await send(`03-number-${n}`, 'x');
      expect(await expected(`in_num${n}x`)).toMatchObject({ number });
    }
  });

  it('of a version before 2018-11-08 are parked, and a newer rendering decides them', async () => {
    for (const [name, n] of [
      ['14-1-updated', '1'],
      ['14-2-closed', '2'],
      ['14-3-paid', '3'],
    ] as const) {
      await send(name, 'x');
      expect(await eventStatus(world, 'stripe', `evt_anc${n}x`)).toBe('parked');
    }
    const old = JSON.parse(reported('01-rendering-new', '2')) as Json;
    expect((await deliver(world, 'stripe', JSON.stringify({ ...old, api_version: '2017-06-05' }))).status).toBe(200);
    expect(await eventStatus(world, 'stripe', 'evt_two2')).toBe('parked');
    await send('01-rendering-new', '2');
    await expected('in_two2');
  });
});
