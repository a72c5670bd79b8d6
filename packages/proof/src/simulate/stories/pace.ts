// Scripted stories with a request budget: several renewals at once, while Stripe allows only few requests a second.
import { People } from '../acts/people.js';
import { type Story } from './scenes.js';
import { type World } from '../machine/world.js';

const PACE = 4;

/** Three renewals at one moment. Both replicas together have more requests than the pace allows. */
async function rush(world: World): Promise<void> {
  const people = new People(world);
  for (const name of ['ada', 'bob', 'eve']) {
    const who = await people.subscriber(name, 2_990, 'eur', true);
    world.scheduler.plan(world.at(1), `a renewal of ${name}`, async () => void (await people.renew(who)));
  }
}

export const paceStories: readonly Story[] = [
  {
    name: 'three renewals at once within the request budget',
    settings: { draftPolicy: 'finalize', pace: PACE },
    plan: rush,
  },
  {
    name: 'a replica dies with its slice of the request budget',
    settings: { draftPolicy: 'finalize', pace: PACE },
    plan: async (world) => {
      await rush(world);
      let asked = 0;
      world.scheduler.plan(world.at(0.5), 'the second to ask for a slice dies with it', () => {
        world.scheduler.alsoFails(({ label }) => (label === 'budget' && ++asked === 2 ? 'crash_after' : null));
      });
    },
  },
];
