// Scripted stories about failed renewals: a retry succeeds, the schedule gives up, the customer pays by link or another
// way, or a person requests a retry.
import { callKey } from '#src/engine/context.js';
import { retryName } from '#src/features/retries/rules/retry.js';
import { Channels } from '../acts/channels.js';
import { giveAnotherCard } from '../acts/other-card.js';
import { renewal, type Scene, type Story } from './scenes.js';
import { type World } from '../machine/world.js';

const modes = ['payment_record', 'out_of_band'] as const;
const relayed = { draftPolicy: 'finalize', relay: 'created' } as const;
const MOST_RETRIES = 6;

/**
 * A failing renewal. The MoR gets its `invoice.created` only from Crossbill's relay: a retry schedule requires this.
 */
async function failing(world: World, outcomes: readonly string[]): Promise<Scene & { invoice: () => string }> {
  const scene = await renewal(world, outcomes);
  await scene.people.control('/mor/hearing', { direct: false });
  // Crossbill derives the keys of retry links from the invoice id, so the story can compute them in advance.
  world.scheduler.plan(world.at(2), 'links are known', () => {
    for (let n = 1; n <= MOST_RETRIES; n++) {
      const id = retryName('lnk', scene.invoice(), n);
      world.linkOf.set(callKey('create_payment_link', id, 1), scene.invoice());
    }
  });
  return scene;
}

async function retryNow(world: World, invoiceId: string): Promise<void> {
  await world.ask('retry', (r) => r.retries.retry(invoiceId, 'ops', null));
}

export const retryStories: readonly Story[] = [
  ...modes.map((markMode): Story => ({
    name: `a retry wins after two declines ${markMode}`,
    settings: { ...relayed, markMode, retries: 'soft=6h,8h,8h end=cancel', notify: true },
    plan: async (world) => void (await failing(world, ['decline', 'decline', 'succeed'])),
  })),
  ...(['nothing', 'uncollectible', 'cancel'] as const).map((end): Story => ({
    name: `a schedule of retries that ends with ${end}`,
    settings: { ...relayed, retries: `soft=5h,6h end=${end}` },
    plan: async (world) => void (await failing(world, ['decline', 'decline', 'decline'])),
  })),
  {
    name: 'a hard decline, and its link is paid',
    settings: { ...relayed, retries: 'hard=link end=uncollectible' },
    plan: async (world) => {
      const { people, invoice } = await failing(world, ['decline:stolen_card']);
      const channels = new Channels(world, people);
      world.scheduler.plan(world.at(400), 'the customer pays', () => channels.payLink(invoice()));
    },
  },
  {
    name: 'a hard decline, and nobody pays its link',
    settings: { ...relayed, retries: 'hard=link end=uncollectible' },
    plan: async (world) => void (await failing(world, ['decline:stolen_card'])),
  },
  {
    name: 'a customer changes the card after a hard decline',
    settings: { ...relayed, retries: 'hard=none end=nothing', notify: true },
    plan: async (world) => {
      const { people, ada } = await failing(world, ['decline:expired_card', 'succeed']);
      world.scheduler.plan(world.at(120), 'another card', () => void giveAnotherCard(world, people, ada));
    },
  },
  {
    name: 'a customer changes the card twice, and pays by hand in between',
    settings: { ...relayed, retries: 'soft=6h hard=none end=nothing' },
    plan: async (world) => {
      const { people, ada, invoice } = await failing(world, ['decline:expired_card', 'decline', 'succeed']);
      world.scheduler.plan(world.at(120), 'another card', () => void giveAnotherCard(world, people, ada));
      world.scheduler.plan(world.at(240), 'paid by hand', () => people.payByHand(invoice()));
      world.scheduler.plan(world.at(240), 'a third card', () => void giveAnotherCard(world, people, ada, 1));
    },
  },
  {
    name: 'a failed renewal is paid by hand before its retry',
    settings: { ...relayed, retries: 'soft=6h,6h end=cancel' },
    plan: async (world) => {
      const { people, invoice } = await failing(world, ['decline', 'succeed']);
      world.scheduler.plan(world.at(300), 'paid by hand', () => people.payByHand(invoice()));
    },
  },
  {
    name: 'two people ask for a retry at once, beside the schedule',
    settings: { ...relayed, retries: 'soft=6h,6h end=nothing' },
    plan: async (world) => {
      const { invoice } = await failing(world, ['decline', 'decline', 'succeed']);
      world.scheduler.plan(world.at(120), 'two requests', () => {
        void retryNow(world, invoice());
        void retryNow(world, invoice());
      });
      world.scheduler.plan(world.at(490), 'another one, as the schedule is due', () => void retryNow(world, invoice()));
    },
  },
  {
    name: 'a failed renewal whose subscription is cancelled before its retry',
    settings: { ...relayed, retries: 'soft=6h end=uncollectible' },
    plan: async (world) => {
      const { people, ada } = await failing(world, ['decline', 'succeed']);
      world.scheduler.plan(world.at(200), 'cancelled', async () => {
        await people.stripe('DELETE', `/v1/subscriptions/${ada.subscriptionId}`, {});
      });
    },
  },
];
