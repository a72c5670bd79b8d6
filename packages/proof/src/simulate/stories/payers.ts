// Scripted stories about the payment method to charge: trials whose customers have setup intents.
import { Payers } from '../acts/payers.js';
import { People } from '../acts/people.js';
import { type Story } from './scenes.js';

export const payerStories: readonly Story[] = [
  {
    name: 'two trials are confirmed in the other order, and each renewal is paid by its own customer',
    settings: { draftPolicy: 'finalize' },
    plan: async (world) => {
      const people = new People(world);
      const payers = new Payers(world, people);
      const ada = await people.subscriber('ada', 2_990, 'eur', true, false);
      const bob = await people.subscriber('bob', 1_000, 'eur', true, false);
      const trials = async (): Promise<void> => {
        const [first, second] = [await payers.setUp(ada), await payers.setUp(bob)];
        await payers.confirm(second, bob);
        await payers.confirm(first, ada);
        await people.renew(ada);
        await people.renew(bob);
      };
      world.scheduler.plan(world.at(1), 'two trials', () => void trials());
    },
  },
  {
    name: 'another card is confirmed between two renewals, and pays the second',
    settings: { draftPolicy: 'finalize' },
    plan: async (world) => {
      const people = new People(world);
      const payers = new Payers(world, people);
      const ada = await people.subscriber('ada', 2_990, 'eur', true, false);
      const cards = async (): Promise<void> => {
        await payers.confirm(await payers.setUp(ada), ada);
        await people.renew(ada);
        await world.sleep(3_600_000);
        await payers.confirm(await payers.setUp(ada), ada);
        await people.renew(ada);
      };
      world.scheduler.plan(world.at(1), 'two cards', () => void cards());
    },
  },
];
