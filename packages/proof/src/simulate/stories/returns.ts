// Scripted stories about returned debits: a bank takes a settled debit back, no event reports it, and a person records
// it.
import { createHash } from 'node:crypto';
import { type People } from '../acts/people.js';
import { paymentOf, renewal, type Story } from './scenes.js';
import { type World } from '../machine/world.js';

/** The bank settles the debit at this minute, while faults still happen. */
const SETTLES_MIN = 180;
/** By this minute Crossbill has marked the debit's invoice, even after faults. */
const SETTLED_MIN = SETTLES_MIN + 60;
/** By this minute the refund of a debit has arrived. It takes three days. */
const REFUNDED_MIN = 3 * 1440 + 120;

type Act = 'returned' | 'undone';

type DebitScene = { readonly world: World; readonly people: People; readonly invoice: () => string };

async function settledDebit(world: World): Promise<DebitScene> {
  const { people, ada, invoice } = await renewal(world, 'bank_debit');
  world.scheduler.plan(world.at(SETTLES_MIN), 'the bank is quick', () => people.settleDebit(ada.customerId));
  return { world, people, invoice };
}

/**
 * An operator records the return of a debit, or undoes the record. The same `key` repeats the same request. `code`: the
 * expected refusal; null: Crossbill must accept. The world remembers an accepted record for the rules.
 */
async function say({ world, people, invoice }: DebitScene, act: Act, key: string, code: string | null): Promise<void> {
  const paymentId = paymentOf(people, invoice());
  const bodySha256 = createHash('sha256').update(key).digest();
  const name = { apiKey: 'ops', idempotencyKey: key, bodySha256 };
  const done = await world.ask(`a debit is ${act}`, (r) =>
    act === 'returned'
      ? r.returns.record(paymentId, { by: 'ops', reference: 'line 12' }, name)
      : r.returns.undo(paymentId, 'ops', name),
  );
  if (done?.ok === true) world.planted.returns.set(paymentId, act);
  const answered = done === null ? 'nobody answered' : done.ok ? null : done.code;
  if (answered !== code)
    world.scheduler.broken.push(`V12: ${paymentId} is ${act} (${key}): ${answered ?? 'taken'}, not ${code ?? 'taken'}`);
}

/** Plans this act of the operator, `after` minutes after the debit has settled. */
function plan(scene: DebitScene, after: number, act: Act, key: string, code: string | null = null): void {
  const { world } = scene;
  world.scheduler.plan(world.at(SETTLED_MIN + after), `${act} ${key}`, () => void say(scene, act, key, code));
}

export const returnStories: readonly Story[] = [
  {
    name: 'a bank takes a settled debit back, recorded twice under one key',
    settings: { notify: true },
    plan: async (world) => {
      const scene = await settledDebit(world);
      for (const after of [0, 1, 90]) plan(scene, after, 'returned', 'K');
    },
  },
  {
    name: 'a returned debit that was a mistake, undone and recorded again',
    plan: async (world) => {
      const scene = await settledDebit(world);
      plan(scene, 0, 'returned', 'K1');
      plan(scene, 60, 'undone', 'K2');
      plan(scene, 120, 'returned', 'K3');
    },
  },
  {
    name: 'a bank takes back what a refund of the debit has left of it',
    plan: async (world) => {
      const scene = await settledDebit(world);
      const { people, invoice } = scene;
      world.scheduler.plan(world.at(SETTLED_MIN), 'a refund of a part', () => {
        void people.refund(paymentOf(people, invoice()), 500);
      });
      // While the refund is pending, the returned amount is unknown, so Crossbill refuses. Key `K` stays usable.
      plan(scene, 60, 'returned', 'K', 'refund_under_way');
      plan(scene, REFUNDED_MIN, 'returned', 'K');
    },
  },
  {
    name: 'a refund in the portal comes to light after its debit was recorded as returned',
    plan: async (world) => {
      const scene = await settledDebit(world);
      const { people, invoice } = scene;
      world.scheduler.plan(world.at(SETTLED_MIN), 'a refund in the portal', () =>
        people.control('/mor/refunds', { payment_id: paymentOf(people, invoice()), amount: 500 }).then(() => undefined),
      );
      plan(scene, 60, 'returned', 'K');
    },
  },
];
