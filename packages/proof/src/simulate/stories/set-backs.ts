// Scripted stories about a database in an older state: a restored backup, or a standby without the last commits.
import { Channels } from '../acts/channels.js';
import { paymentOf, renewal, type Story } from './scenes.js';
import { SetBack } from '../acts/set-back.js';

const finalize = { draftPolicy: 'finalize' } as const;
const modes = ['payment_record', 'out_of_band'] as const;

/** A renewal with a partial refund. At minute `minutes` an operator restores a backup from before the renewal. */
function renewalForgotten(minutes: number): Story['plan'] {
  return async (world) => {
    const { people, invoice } = await renewal(world, 'succeed');
    const setBack = new SetBack(world, people);
    world.scheduler.plan(world.at(0.5), 'a backup', () => setBack.backUp());
    world.scheduler.plan(world.at(60), 'a part is given back', () => {
      void people.refund(paymentOf(people, invoice()), 1_000);
    });
    world.scheduler.plan(world.at(minutes), 'the backup is restored', () => setBack.restore());
  };
}

export const setBackStories: readonly Story[] = [
  ...modes.map((markMode): Story => ({
    name: `a backup from before a renewal is restored after its refund ${markMode}`,
    settings: { ...finalize, markMode },
    plan: renewalForgotten(240),
  })),
  ...modes.map((markMode): Story => ({
    name: `a backup from before a refund is restored, and the refund is asked for again after its event ${markMode}`,
    settings: { ...finalize, markMode, notify: true },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      const setBack = new SetBack(world, people, 40);
      world.scheduler.plan(world.at(50), 'a backup', () => setBack.backUp());
      world.scheduler.plan(world.at(60), 'a part is given back', () => {
        void people.refund(paymentOf(people, invoice()), 1_000);
      });
      world.scheduler.plan(world.at(240), 'the backup is restored', () => setBack.restore());
    },
  })),
  {
    name: 'a backup from the middle of a refund is restored',
    settings: finalize,
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      const setBack = new SetBack(world, people);
      let left = 1;
      world.onEffect = (path) => {
        if (!path.endsWith('/refund') || left-- < 1) return;
        world.scheduler.plan(world.now, 'a backup', () => setBack.backUp());
      };
      world.scheduler.plan(world.at(60), 'all is given back', () => {
        void people.refund(paymentOf(people, invoice()), null, 2);
      });
      world.scheduler.plan(world.at(240), 'the backup is restored', () => setBack.restore());
    },
  },
  {
    // A day later Stripe has forgotten every key, so the daemon must look for the effects of its old calls.
    name: 'a backup from before a renewal is restored a day later, after its refund',
    settings: finalize,
    plan: renewalForgotten(1_800),
  },
  {
    name: 'a backup from before a lost dispute is restored',
    settings: { ...finalize, notify: true },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      const channels = new Channels(world, people);
      const setBack = new SetBack(world, people);
      world.scheduler.plan(world.at(60), 'a backup', () => setBack.backUp());
      world.scheduler.plan(world.at(70), 'a dispute', () =>
        channels.dispute(paymentOf(people, invoice()), { outcome: 'lost', decidedAfterMs: 3_600_000 }),
      );
      world.scheduler.plan(world.at(240), 'the backup is restored', () => setBack.restore());
    },
  },
  ...modes.map((markMode): Story => ({
    name: `a renewal and its refund, with a standby ${markMode}`,
    settings: { ...finalize, markMode, standby: true },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, ['decline', 'succeed']);
      const setBack = new SetBack(world, people);
      world.onFailover = (steps) => setBack.failOver(steps);
      world.scheduler.plan(world.at(10), 'the MoR tries again', async () => {
        await people.control('/mor/retry', { invoice_id: invoice() });
      });
      world.scheduler.plan(world.at(40), 'a part is given back', () => {
        void people.refund(paymentOf(people, invoice()), 1_000);
      });
    },
  })),
];
