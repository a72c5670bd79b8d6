// The rows of moves: one writer at a time for each, what was there is known before a request is stored, and the lock of a run.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type MoveEntity } from '../../src/moves/move.entity.js';
import { MoveRunning, MovesStore } from '../../src/moves/moves.store.js';
import { Database } from '../../src/store/database.js';
import { ServerTime } from '../../src/store/database-time.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';

type NewMove = Parameters<MovesStore['write']>[0];

describe('moves in PostgreSQL', () => {
  let fresh: TestDatabase;
  let db: Database;
  let moves: MovesStore;
  beforeAll(async () => {
    fresh = await freshDatabase();
    db = await Database.open({ url: fresh.url, poolSize: 4, onError: () => undefined });
    moves = new MovesStore(db, new ServerTime());
  });
  afterAll(async () => {
    await db.close();
    await fresh.drop();
  });

  const aMove = (subscriptionId: string, over: Partial<NewMove> = {}): NewMove => ({
    subscriptionId,
    customerId: 'cus_1',
    status: 'skipped',
    fact: { code: 'method_missing' },
    way: 'custom_method',
    before: null,
    methodId: null,
    atStripe: true,
    request: null,
    renewsAt: null,
    movedAt: null,
    changedBy: 'ada',
    ...over,
  });
  const REQUEST: MoveEntity['request'] = {
    asked: { kind: 'set_method', subscriptionId: 'sub_2', methodId: 'pm_1' },
    key: 'move_1',
    wire: { method: 'POST', path: '/v1/subscriptions/sub_2', body: 'default_payment_method=pm_1' },
  };

  it('keep facts, request and what stood there as they were written', async () => {
    const before = { methodId: 'pm_card', collectionMethod: 'charge_automatically' };
    const row = aMove('sub_2', { status: 'moving', fact: null, before, request: REQUEST });
    await moves.write(row, null);
    expect(await moves.find('sub_2')).toMatchObject({ ...row, version: 0 });
  });

  it('refuse a request without what stood there before', async () => {
    await expect(moves.write(aMove('sub_3', { request: REQUEST }), null)).rejects.toThrow();
    expect(await moves.find('sub_3')).toBeNull();
  });

  it('are written by one at a time: the second writer of the same version loses its turn', async () => {
    const first = await moves.write(aMove('sub_4'), null);
    await expect(moves.write(aMove('sub_4'), null)).rejects.toThrow(MoveRunning);
    const second = await moves.write(aMove('sub_4', { status: 'failed' }), first);
    expect(second.version).toBe(1);
    await expect(moves.write(aMove('sub_4', { status: 'moved' }), first)).rejects.toThrow(MoveRunning);
    expect((await moves.find('sub_4'))?.status).toBe('failed');
  });

  it('are listed newest first by status and customer, and counted', async () => {
    await moves.write(aMove('sub_5', { customerId: 'cus_5', status: 'moved', fact: null }), null);
    await moves.write(aMove('sub_6', { customerId: 'cus_5' }), null);
    const page = { limit: 10, cursor: null };
    const of = async (filter: Parameters<MovesStore['list']>[0]) =>
      (await moves.list(filter, page)).data.map((m) => m.subscriptionId);
    expect(await of({ customerId: 'cus_5' })).toEqual(['sub_6', 'sub_5']);
    expect(await of({ customerId: 'cus_5', status: 'moved' })).toEqual(['sub_5']);
    expect(await of({ status: 'skipped' })).toEqual(['sub_6']);
    expect(await moves.counts()).toMatchObject({ moved: 1, skipped: 1, failed: 1, moving: 1, returned: 0 });
  });

  it('that nothing was written for on Stripe are none to give back', async () => {
    expect((await moves.toReturn(null, '0', 10)).map((m) => m.subscriptionId)).toEqual(['sub_2']);
    expect(await moves.toReturn(['cus_5'], '0', 10)).toEqual([]);
  });

  it('are worked on by one run at a time, and its end lets the next one in', async () => {
    await moves.exclusively(async () => {
      await expect(moves.exclusively(() => Promise.resolve())).rejects.toThrow(MoveRunning);
    });
    expect(await moves.exclusively(() => Promise.resolve('next'))).toBe('next');
    await expect(moves.exclusively(() => Promise.reject(new Error('died')))).rejects.toThrow('died');
    expect(await moves.exclusively(() => Promise.resolve('again'))).toBe('again');
  });
});
