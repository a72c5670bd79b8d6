// A move killed at each of its steps: its subscription is charged once whether or not anybody goes on, and the next run
// ends it.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadConfig } from '../../src/shared/config/index.js';
import { openAppContext, type AppContext as Opened } from '../../src/frames/cli/app-context.js';
import { BillingMoves } from '../../src/shared/domain/ports/billing-moves.js';
import { Clock, Ids } from '../../src/shared/domain/ports/clock.js';
import { PaymentMethodsRepository } from '../../src/core/customers/payment-methods.repository.js';
import { EnrolmentService } from '../../src/features/enrolment/enrolment.service.js';
import { MoveSteps } from '../../src/features/moves/move-steps.js';
import { type MoveOptions, MovesService } from '../../src/features/moves/moves.service.js';
import { MovesRepository } from '../../src/features/moves/moves.repository.js';
import { startWorld, type Subscriber, type World } from '../support/rigs/world.js';
import { collection, mover, relayTo, takenFor } from './support/movers.js';
import { deafMor } from './support/story.js';
import { silentIo } from '../support/fakes/silent-io.js';

class Killed extends Error {}

/** Dies at the given step: before and after each write to the database and to Stripe. */
class Death {
  steps = 0;
  constructor(readonly at: number) {}

  async around<T>(write: () => Promise<T>): Promise<T> {
    this.step();
    const done = await write();
    this.step();
    return done;
  }

  private step(): void {
    if (++this.steps === this.at) throw new Killed(`killed at step ${this.at}`);
  }
}

/** The real one, with death around its `writes`. */
function mortal<T extends object>(real: T, writes: ReadonlySet<string>, death: Death): T {
  return new Proxy(real, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const call = (...args: readonly unknown[]): unknown => Reflect.apply(value, target, args);
      if (!writes.has(String(name))) return call;
      return (...args: readonly unknown[]) => death.around(() => Promise.resolve(call(...args)));
    },
  });
}

type Case = { readonly s: Subscriber & { cardId: string }; readonly step: number; readonly resumed: boolean };

describe.each(['cpmt_mor', ''])('a killed move, with the custom payment method type "%s"', (customType) => {
  let world: World;
  let opened: Opened;
  const moved: Case[] = [];
  const returned: Case[] = [];

  beforeAll(async () => {
    world = await startWorld({ ENROLMENT: 'linked' });
    await world.startDaemon(relayTo(world));
    await deafMor(world);
    const env = { ...world.env, ...relayTo(world), STRIPE_CUSTOM_PAYMENT_METHOD_TYPE: customType };
    opened = await openAppContext(loadConfig(env), silentIo(env));
  });
  afterAll(async () => {
    await opened.close();
    await world.close();
  });

  /** One run; the number of its steps when it lived through. */
  async function run(subscriber: Subscriber, direction: MoveOptions['direction'], dieAt: number): Promise<number> {
    const death = new Death(dieAt);
    const repository = mortal(opened.get(MovesRepository), new Set(['write']), death);
    const billing = mortal(opened.get(BillingMoves), new Set(['send']), death);
    const clock = opened.get(Clock);
    const enrolment = opened.get(EnrolmentService);
    const steps = new MoveSteps(repository, billing, clock, opened.get(Ids));
    const methods = opened.get(PaymentMethodsRepository);
    const service = new MovesService(repository, billing, steps, methods, clock, enrolment.settings, enrolment);
    await service.run({
      direction,
      dryRun: false,
      customerIds: [subscriber.customerId],
      morStopped: false,
      by: 'ada',
      signal: new AbortController().signal,
      onDone: () => undefined,
    });
    return death.steps;
  }

  const statusOf = async (subscriber: Subscriber): Promise<string | undefined> =>
    (await opened.get(MovesRepository).find(subscriber.subscriptionId))?.status;

  it("if `crossbill move` or `crossbill move --back` is killed at any step, the next run finishes the subscription's move", async () => {
    const never = 1_000;
    const first = await mover(world);
    const forward = await run(first, 'move', never);
    const back = await run(first, 'back', never);
    expect([forward, back]).toEqual(customType === '' ? [6, 6] : [14, 6]);
    for (let step = 1; step <= forward; step++) {
      // Before its first row a move has not begun: the guard against a double charge reports a linked customer.
      for (const resumed of step === 1 ? [true] : [true, false]) {
        const s = await mover(world);
        await expect(run(s, 'move', step)).rejects.toThrow(Killed);
        if (resumed) {
          await run(s, 'move', never);
          expect(await statusOf(s)).toBe('moved');
          const [method, collected] = await collection(world, s.subscriptionId);
          expect([method === s.cardId, collected]).toEqual(
            customType === '' ? [true, 'send_invoice'] : [false, 'charge_automatically'],
          );
        }
        moved.push({ s, step, resumed });
      }
    }
    for (let step = 1; step <= back; step++) {
      for (const resumed of [true, false]) {
        const s = await mover(world);
        await run(s, 'move', never);
        await expect(run(s, 'back', step)).rejects.toThrow(Killed);
        if (resumed) {
          await run(s, 'back', never);
          expect(await statusOf(s)).toBe('returned');
          expect(await collection(world, s.subscriptionId)).toEqual([s.cardId, 'charge_automatically']);
        }
        returned.push({ s, step, resumed });
      }
    }
  }, 600_000);

  it('after a kill of `crossbill move` at any step, either Stripe or the MoR charges each renewal, and never both', async () => {
    await world.advance(32 * 24 * 3_600);
    const all = Object.entries({ moved, returned }).flatMap(([way, cases]) => cases.map((c) => ({ way, ...c })));
    const invoices = new Map<string, string>();
    for (const { s } of all) {
      const { latest_invoice: latest } = await world.stripe.subscriptions.retrieve(s.subscriptionId);
      invoices.set(s.subscriptionId, typeof latest === 'string' ? latest : (latest?.id ?? ''));
    }
    const taken = (subscriber: Subscriber) => takenFor(world, invoices.get(subscriber.subscriptionId) ?? '');
    for (const { s } of all) {
      await world.until(
        `${s.subscriptionId} is charged`,
        () => taken(s),
        (t) => t.stripe + t.mor > 0,
      );
    }
    await world.advance(4 * 24 * 3_600); // Stripe charges at the end of the draft hour; a draft lasts three days at most
    const seen: Record<string, unknown> = {};
    const wanted: Record<string, unknown> = {};
    for (const { way, s, step, resumed } of all) {
      const { stripe, mor } = taken(s);
      const name = `${way}, killed at ${step}${resumed ? ', resumed' : ''}`;
      seen[name] = resumed ? { stripe, mor } : stripe + mor;
      wanted[name] = resumed ? { stripe: way === 'moved' ? 0 : 1, mor: way === 'moved' ? 1 : 0 } : 1;
    }
    expect(seen).toEqual(wanted);
  }, 600_000);
});
