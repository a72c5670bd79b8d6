// The requests of a move on a real database, with a Stripe that answers by a script: what is stored is what is sent, also after a kill.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  BillingMoves,
  type MovableSubscription,
  type MoveCall,
  type StoredMoveCall,
} from '../../src/domain/ports/billing-moves.js';
import { type CallFailure, type CallOutcome, type WireRequest } from '../../src/domain/ports/call.js';
import { SystemClock, SystemIds } from '../../src/engine/system-ports.js';
import { MoveSteps, MoveStopped } from '../../src/moves/move-steps.js';
import { MovesStore } from '../../src/moves/moves.store.js';
import { Database } from '../../src/store/database.js';
import { ServerTime } from '../../src/store/database-time.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';

const RUN = { by: 'ada', signal: AbortSignal.abort() }; // ended: nothing is tried again
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

/** Does nothing, and answers what it is told to. */
class Scripted extends BillingMoves {
  readonly way = 'send_invoice';
  readonly sent: StoredMoveCall[] = [];
  answers: CallOutcome<string>[] = [];
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
    return Promise.resolve(this.answers.shift() ?? ok('sub'));
  };
}

describe('the requests of a move', () => {
  let fresh: TestDatabase;
  let db: Database;
  let moves: MovesStore;
  beforeAll(async () => {
    fresh = await freshDatabase();
    db = await Database.open({ url: fresh.url, poolSize: 3, onError: () => undefined });
    moves = new MovesStore(db, new ServerTime());
  });
  afterAll(async () => {
    await db.close();
    await fresh.drop();
  });
  const stepsOn = (stripe: Scripted) => new MoveSteps(moves, stripe, new SystemClock(), new SystemIds());

  it('are stored before they are sent, and go out with the same key and bytes in the next run', async () => {
    const stripe = new Scripted();
    stripe.answers = [SILENCE];
    const steps = stepsOn(stripe);
    await expect(steps.move(stripe.subscription('sub_1'), null, RUN)).rejects.toThrow(MoveStopped);
    const row = await moves.find('sub_1');
    expect(row).toMatchObject({ status: 'moving', atStripe: true, before: { methodId: null } });
    expect(row?.request).toEqual(stripe.sent[0]);
    const moved = await steps.move(stripe.subscription('sub_1'), row, RUN);
    expect(moved).toMatchObject({ status: 'moved', atStripe: false, request: null });
    expect(stripe.sent[1]).toEqual(stripe.sent[0]);
  });

  it('are not sent again when Stripe shows their effect', async () => {
    const stripe = new Scripted();
    stripe.answers = [SILENCE];
    const steps = stepsOn(stripe);
    const before = stripe.subscription('sub_2');
    await expect(steps.move(before, null, RUN)).rejects.toThrow(MoveStopped);
    stripe.collected = 'send_invoice';
    expect(await steps.move(before, await moves.find('sub_2'), RUN)).toMatchObject({ status: 'moved' });
    expect(stripe.sent).toHaveLength(1);
  });

  it('fail their subscription when Stripe refuses them, and it counts as charged by Stripe', async () => {
    const stripe = new Scripted();
    stripe.answers = [{ ...SILENCE, kind: 'refused', status: 400, code: 'parameter_invalid', message: 'No.' }];
    const failed = await stepsOn(stripe).move(stripe.subscription('sub_3'), null, RUN);
    expect(failed).toMatchObject({
      status: 'failed',
      atStripe: true,
      request: null,
      fact: { code: 'refused', status: 400, error_code: 'parameter_invalid' },
    });
  });

  it('that give a subscription back count it as charged by Stripe before they are sent', async () => {
    const stripe = new Scripted();
    const steps = stepsOn(stripe);
    const moved = await steps.move(stripe.subscription('sub_4'), null, RUN);
    stripe.answers = [SILENCE];
    stripe.collected = 'send_invoice';
    await expect(steps.back(moved, RUN)).rejects.toThrow(MoveStopped);
    const row = await moves.find('sub_4');
    expect(row).toMatchObject({ status: 'returning', atStripe: true });
    if (row === null) throw new Error('no row');
    expect(await steps.back(row, RUN)).toMatchObject({ status: 'returned', atStripe: true, request: null });
    expect(stripe.sent.at(-1)).toEqual(stripe.sent.at(-2));
  });
});
