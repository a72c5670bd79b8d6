// The rows of a move and the requests of a move, in a real PostgreSQL.
import { describe, expect, it } from '@jest/globals';
import {
  BillingMoves,
  type MovableSubscription,
  type MoveCall,
  type StoredMoveCall,
} from '../../src/shared/domain/ports/billing-moves.js';
import { type CallFailure, type CallOutcome, type WireRequest } from '../../src/shared/domain/ports/call.js';
import { SystemClock, SystemIds } from '../../src/engine/system-ports.js';
import { MoveSteps, MoveStopped } from '../../src/features/moves/move-steps.js';
import { type MoveEntity } from '../../src/features/moves/move.entity.js';
import { MoveRunning, MovesRepository } from '../../src/features/moves/moves.repository.js';
import { ServerTime } from '../../src/frames/store/database-time.js';
import { type Database } from '../../src/frames/store/database.js';
import { databaseForAll } from '../support/rigs/use-database.js';

// The rows of moves: one writer at a time for each, the old state stored before a request, and the lock of a run.
type NewMove = Parameters<MovesRepository['write']>[0];

describe('moves in PostgreSQL', () => {
  let db: Database;
  let moves: MovesRepository;
  databaseForAll((opened) => {
    db = opened;
    moves = new MovesRepository(db, new ServerTime());
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

  it("the database returns a subscription's move as written, with its facts, its Stripe request and the subscription's old state", async () => {
    const before = { methodId: 'pm_card', collectionMethod: 'charge_automatically' };
    const row = aMove('sub_2', { status: 'moving', fact: null, before, request: REQUEST });
    await moves.write(row, null);
    expect(await moves.find('sub_2')).toMatchObject({ ...row, version: 0 });
  });

  it("the database refuses a move with a request to Stripe but without the subscription's old state", async () => {
    await expect(moves.write(aMove('sub_3', { request: REQUEST }), null)).rejects.toThrow();
    expect(await moves.find('sub_3')).toBeNull();
  });

  it("the database refuses the second of two writes to the same version of a subscription's move", async () => {
    const first = await moves.write(aMove('sub_4'), null);
    await expect(moves.write(aMove('sub_4'), null)).rejects.toThrow(MoveRunning);
    const second = await moves.write(aMove('sub_4', { status: 'failed' }), first);
    expect(second.version).toBe(1);
    await expect(moves.write(aMove('sub_4', { status: 'moved' }), first)).rejects.toThrow(MoveRunning);
    expect((await moves.find('sub_4'))?.status).toBe('failed');
  });

  it('the list of moved subscriptions shows the newest first and filters by status and customer', async () => {
    await moves.write(aMove('sub_5', { customerId: 'cus_5', status: 'moved', fact: null }), null);
    await moves.write(aMove('sub_6', { customerId: 'cus_5' }), null);
    const page = { limit: 10, cursor: null };
    const of = async (filter: Parameters<MovesRepository['list']>[0]) =>
      (await moves.list(filter, page)).data.map((m) => m.subscriptionId);
    expect(await of({ customerId: 'cus_5' })).toEqual(['sub_6', 'sub_5']);
    expect(await of({ customerId: 'cus_5', status: 'moved' })).toEqual(['sub_5']);
    expect(await of({ status: 'skipped' })).toEqual(['sub_6']);
    expect(await moves.counts()).toMatchObject({ moved: 1, skipped: 1, failed: 1, moving: 1, returned: 0 });
  });

  it('`crossbill move --back` skips a subscription whose move wrote nothing to Stripe', async () => {
    expect((await moves.toReturn(null, '0', 10)).map((m) => m.subscriptionId)).toEqual(['sub_2']);
    expect(await moves.toReturn(['cus_5'], '0', 10)).toEqual([]);
  });

  it('Crossbill refuses a second run of moves while the first run lasts', async () => {
    await moves.exclusively(async () => {
      await expect(moves.exclusively(() => Promise.resolve())).rejects.toThrow(MoveRunning);
    });
    expect(await moves.exclusively(() => Promise.resolve('next'))).toBe('next');
    await expect(moves.exclusively(() => Promise.reject(new Error('died')))).rejects.toThrow('died');
    expect(await moves.exclusively(() => Promise.resolve('again'))).toBe('again');
  });
});

// The requests of a move on a real database, with a Stripe scripted by the test: stored bytes equal sent bytes, also
// after a kill.
const RUN = { by: 'ada', signal: AbortSignal.abort() }; // ended: no more tries
const ok = <T>(value: T): CallOutcome<T> => ({ ok: true, value, status: 200, requestId: null });
const SILENCE: CallFailure = {
  ok: false,
  kind: 'unknown',
  status: null,
  code: 'timeout',
  message: 'no answer in time',
  errors: [],
  retryAfterMs: null,
  requestId: null,
  replayed: false,
};

/** Does nothing, and gives its scripted answers. */
class Scripted extends BillingMoves {
  readonly way = 'send_invoice';
  readonly sent: StoredMoveCall[] = [];
  replies: CallOutcome<string>[] = [];
  collected = 'charge_automatically';

  subscription(subscriptionId: string): MovableSubscription {
    return {
      subscriptionId,
      customerId: 'cus_1',
      createdAt: null,
      collectionMethod: this.collected,
      metadata: {},
      customerMetadata: {},
      charged: { from: 'customer', id: 'pm_1', type: 'card' },
      usageBased: false,
      status: 'active',
      ownMethodId: null,
      renewsAt: new Date('2027-01-01T00:00:00Z'),
      scheduleId: null,
      unpaid: null,
    };
  }
  read = (id: string) => Promise.resolve(ok(this.subscription(id)));
  list = () => Promise.resolve(ok({ items: [], next: null }));
  ofCustomer = () => Promise.resolve(ok([]));
  readOpenInvoice = () => Promise.resolve(ok(null));
  readMethodOwner = () => Promise.resolve(ok(null));
  encode = (call: MoveCall): WireRequest => ({ method: 'POST', path: '/v1/x', body: JSON.stringify(call) });
  send = (call: StoredMoveCall) => {
    this.sent.push(call);
    return Promise.resolve(this.replies.shift() ?? ok('sub'));
  };
}

describe('the requests of a move', () => {
  let db: Database;
  let moves: MovesRepository;
  databaseForAll((opened) => {
    db = opened;
    moves = new MovesRepository(db, new ServerTime());
  }, 3);
  const stepsOn = (stripe: Scripted) => new MoveSteps(moves, stripe, new SystemClock(), new SystemIds());

  it("Crossbill stores a move's request before sending it, and the next run sends the same key and bytes", async () => {
    const stripe = new Scripted();
    stripe.replies = [SILENCE];
    const steps = stepsOn(stripe);
    await expect(steps.move(stripe.subscription('sub_1'), null, RUN)).rejects.toThrow(MoveStopped);
    const row = await moves.find('sub_1');
    expect(row).toMatchObject({ status: 'moving', atStripe: true, before: { methodId: null } });
    expect(row?.request).toEqual(stripe.sent[0]);
    const moved = await steps.move(stripe.subscription('sub_1'), row, RUN);
    expect(moved).toMatchObject({ status: 'moved', atStripe: false, request: null });
    expect(stripe.sent[1]).toEqual(stripe.sent[0]);
  });

  it("Crossbill does not repeat a move's request if Stripe already shows the request's effect", async () => {
    const stripe = new Scripted();
    stripe.replies = [SILENCE];
    const steps = stepsOn(stripe);
    const before = stripe.subscription('sub_2');
    await expect(steps.move(before, null, RUN)).rejects.toThrow(MoveStopped);
    stripe.collected = 'send_invoice';
    expect(await steps.move(before, await moves.find('sub_2'), RUN)).toMatchObject({ status: 'moved' });
    expect(stripe.sent).toHaveLength(1);
  });

  it("a subscription's move fails if Stripe refuses the request, and Crossbill counts Stripe as the charging side", async () => {
    const stripe = new Scripted();
    stripe.replies = [{ ...SILENCE, kind: 'refused', status: 400, code: 'parameter_invalid', message: 'No.' }];
    const failed = await stepsOn(stripe).move(stripe.subscription('sub_3'), null, RUN);
    expect(failed).toMatchObject({
      status: 'failed',
      atStripe: true,
      request: null,
      fact: { code: 'refused', status: 400, error_code: 'parameter_invalid' },
    });
  });

  it('before `crossbill move --back` sends its request to Stripe, Crossbill counts the subscription as charged by Stripe', async () => {
    const stripe = new Scripted();
    const steps = stepsOn(stripe);
    const moved = await steps.move(stripe.subscription('sub_4'), null, RUN);
    stripe.replies = [SILENCE];
    stripe.collected = 'send_invoice';
    await expect(steps.back(moved, RUN)).rejects.toThrow(MoveStopped);
    const row = await moves.find('sub_4');
    expect(row).toMatchObject({ status: 'returning', atStripe: true });
    if (row === null) throw new Error('no row');
    expect(await steps.back(row, RUN)).toMatchObject({ status: 'returned', atStripe: true, request: null });
    expect(stripe.sent.at(-1)).toEqual(stripe.sent.at(-2));
  });
});
