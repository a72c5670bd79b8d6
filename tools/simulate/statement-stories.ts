// Golden stories of what only the MoR's statement tells: a bank took a settled debit back, and a person records it.
import { createHash } from 'node:crypto';
import { type People } from './people.js';
import { paymentOf, renewal, type Story } from './scenes.js';
import { type World } from './world.js';

/** A debit has settled by then. */
const SETTLED_MIN = 4 * 1440 + 120;

type Act = 'returned' | 'undone';

/** `key`: the same again is the same request. What was answered is remembered for the rules. */
async function say(world: World, people: People, invoiceId: string, act: Act, key: string): Promise<void> {
  const paymentId = paymentOf(people, invoiceId);
  const bodySha256 = createHash('sha256').update(key).digest();
  const name = { apiKey: 'ops', idempotencyKey: key, bodySha256 };
  const done = await world.ask(`a debit is ${act}`, (r) =>
    act === 'returned'
      ? r.returns.record(paymentId, { by: 'ops', reference: 'stm_1 line 12' }, name)
      : r.returns.undo(paymentId, 'ops', name),
  );
  if (done?.ok === true) world.planted.returns.set(paymentId, act);
}

export const statementStories: readonly Story[] = [
  {
    name: 'a bank takes a settled debit back, recorded twice under one key',
    settings: { notify: true },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'bank_debit');
      for (const [n, min] of [SETTLED_MIN, SETTLED_MIN + 1, SETTLED_MIN + 90].entries())
        world.scheduler.plan(
          world.at(min),
          `recorded, try ${n}`,
          () => void say(world, people, invoice(), 'returned', 'K'),
        );
    },
  },
  {
    name: 'a returned debit that was a mistake, undone and recorded again',
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'bank_debit');
      const acts: readonly [number, Act, string][] = [
        [0, 'returned', 'K1'],
        [60, 'undone', 'K2'],
        [120, 'returned', 'K3'],
      ];
      for (const [after, act, key] of acts)
        world.scheduler.plan(
          world.at(SETTLED_MIN + after),
          `${act} ${key}`,
          () => void say(world, people, invoice(), act, key),
        );
    },
  },
];
