// Scripted stories about a lost dispute, credited on Stripe by a person. Later the bank decides for the merchant after
// all, or somebody refunds the payment.
import { Channels } from '../acts/channels.js';
import { paymentOf, renewal, type Story } from './scenes.js';
import { type World } from '../machine/world.js';

/** An operator chooses `credit` for each open review item that offers it. */
async function creditLosses(world: World): Promise<void> {
  await world.ask('credit the losses', async (r) => {
    const open = await r.reviewRows.list({ status: 'open' }, { limit: 50, cursor: null });
    for (const review of open.data)
      if (review.actions.includes('credit'))
        await r.reviews.resolve(review.id, { resolution: 'credit', note: 'written off', by: 'ops' });
  });
}

const LOST_MIN = 30 + 120;

export const lossStories: readonly Story[] = (['payment_record', 'out_of_band'] as const).flatMap((markMode) => [
  ...(['lost', 'lost_then_won'] as const).map((outcome): Story => ({
    name: `a loss is credited, and the dispute is ${outcome.replaceAll('_', ' ')} ${markMode}`,
    settings: { draftPolicy: 'finalize', markMode, notify: true },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      const channels = new Channels(world, people);
      world.scheduler.plan(world.at(30), 'a dispute', () =>
        channels.dispute(paymentOf(people, invoice()), { outcome, decidedAfterMs: 7_200_000 }),
      );
      // The operator tries twice: faults may hide the item at first. With `lost_then_won` the win comes between them.
      for (const after of [5, 300])
        world.scheduler.plan(world.at(LOST_MIN + after), 'the loss is credited', () => {
          void creditLosses(world); // not awaited: the plan goes on while the operator works
        });
    },
  })),
  {
    name: `a loss is credited, and a part is given back in the portal ${markMode}`,
    settings: { draftPolicy: 'finalize', markMode },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      const channels = new Channels(world, people);
      world.scheduler.plan(world.at(30), 'a dispute', () =>
        channels.dispute(paymentOf(people, invoice()), { outcome: 'lost', decidedAfterMs: 7_200_000 }),
      );
      world.scheduler.plan(world.at(LOST_MIN + 20), 'the loss is credited', () => {
        void creditLosses(world); // not awaited: the plan goes on while the operator works
      });
      world.scheduler.plan(world.at(LOST_MIN + 90), 'a part is given back in the portal', async () => {
        await people.control('/mor/refunds', { payment_id: paymentOf(people, invoice()), amount: 500 });
      });
    },
  },
]);
