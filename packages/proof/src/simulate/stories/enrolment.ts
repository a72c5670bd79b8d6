// Scripted stories about enrolment: customers already moved to the MoR, next to customers whom Stripe still bills.
import { People, type Subscriber } from '../acts/people.js';
import { type Story } from './scenes.js';
import { Twice } from '../acts/twice.js';
import { type World } from '../machine/world.js';

const METADATA = { by: 'metadata', key: 'billed_by', value: 'mor' } as const;

/** From now on the MoR receives `invoice.created` only by the relay. */
async function relayOnly(people: People): Promise<void> {
  await people.control('/mor/hearing', { direct: false });
}

/** Renews a subscription. The MoR gets this `invoice.created` directly from Stripe. */
async function renewHeard(people: People, who: Subscriber): Promise<void> {
  await people.control('/mor/hearing', { direct: true });
  await people.renew(who);
  await relayOnly(people);
}

/** Makes three customers. The MoR charges Ada. Stripe still charges Eve's own card, and Bob has no card at Stripe. */
async function cast(world: World): Promise<{ people: People; ada: Subscriber; bob: Subscriber; eve: Subscriber }> {
  const people = new People(world);
  await relayOnly(people);
  const [ada, bob, eve] = [
    await people.subscriber('ada', 2_990, 'eur', true),
    await people.subscriber('bob', 1_000, 'eur', true),
    await people.subscriber('eve', 500, 'eur', true),
  ];
  await new Twice(world, people).ownCard(eve, ['succeed']);
  return { people, ada, bob, eve };
}

export const enrolmentStories: readonly Story[] = [
  {
    name: 'a card at Stripe is foreseen and taken away in time',
    plan: async (world) => {
      const people = new People(world);
      const ada = await people.subscriber('ada', 2_990, 'eur', true);
      const twice = new Twice(world, people);
      await twice.ownCard(ada, ['succeed']);
      world.scheduler.plan(world.at(1), 'a renewal', async () => void (await people.renew(ada)));
      world.scheduler.plan(world.at(20), 'the merchant mends it', () => twice.mendCard(ada));
      world.scheduler.plan(world.at(600), 'the next renewal', async () => void (await people.renew(ada)));
    },
  },
  {
    name: 'a card at Stripe is foreseen and nobody acts',
    plan: async (world) => {
      const people = new People(world);
      const ada = await people.subscriber('ada', 2_990, 'eur', true);
      await new Twice(world, people).ownCard(ada, ['decline', 'succeed']);
      world.scheduler.plan(world.at(1), 'a renewal', async () => void (await people.renew(ada)));
    },
  },
  {
    name: 'only linked customers are ours',
    settings: { enrolment: { by: 'linked' }, relay: 'created', draftPolicy: 'finalize' },
    plan: async (world) => {
      const { people, ada, bob, eve } = await cast(world);
      world.scheduler.plan(world.at(1), 'nobody has moved', async () => {
        for (const who of [ada, bob, eve]) await people.renew(who);
      });
      world.scheduler.plan(world.at(5), 'Ada moves', () => void people.link(ada));
      world.scheduler.plan(world.at(600), 'the next renewals', async () => {
        for (const who of [ada, bob, eve]) await people.renew(who);
      });
    },
  },
  {
    name: 'customers are moved by a file while they are renewed',
    settings: { enrolment: { by: 'linked' }, relay: 'created', draftPolicy: 'finalize' },
    plan: async (world) => {
      const { people, ada, bob, eve } = await cast(world);
      world.scheduler.plan(world.at(1), 'the file is taken, twice at once', () => {
        void people.importLinks([ada, bob]);
        void people.importLinks([ada, bob]);
      });
      world.scheduler.plan(world.at(1.01), 'renewals meanwhile', () => people.renew(eve).then(() => undefined));
      world.scheduler.plan(world.at(600), 'the next renewals', async () => {
        for (const who of [ada, bob, eve]) await people.renew(who);
      });
    },
  },
  {
    name: 'a payment of the MoR enrols its customer',
    settings: { enrolment: { by: 'linked' }, relay: 'created' },
    plan: async (world) => {
      const { people, bob, eve } = await cast(world);
      world.scheduler.plan(world.at(1), 'the MoR charges Bob, whom nobody linked', () => renewHeard(people, bob));
      world.scheduler.plan(world.at(900), 'the next renewals', async () => {
        for (const who of [bob, eve]) await people.renew(who);
      });
    },
  },
  {
    name: 'only customers with our metadata are ours',
    settings: { enrolment: METADATA, relay: 'created', draftPolicy: 'finalize' },
    plan: async (world) => {
      const { people, ada, bob, eve } = await cast(world);
      await people.stripe('POST', `/v1/customers/${ada.customerId}`, { 'metadata[billed_by]': 'mor' });
      await people.stripe('POST', `/v1/subscriptions/${bob.subscriptionId}`, { 'metadata[billed_by]': 'mor' });
      world.scheduler.plan(world.at(1), 'renewals', async () => {
        for (const who of [ada, bob, eve]) await people.renew(who);
      });
    },
  },
];
