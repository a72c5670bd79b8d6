// Scripted stories about the MoR's other channels: the relay, bank transfers, payment links, disputes, alerts, and lost
// events.
import { Channels } from '../acts/channels.js';
import { paymentOf, renewal, type Scene, type Story } from './scenes.js';
import { type World } from '../machine/world.js';

/** A renewal with a declined card. Its invoice is open from the first hour on. */
async function unpaid(
  world: World,
  retries: readonly string[] = [],
): Promise<Scene & { invoice: () => string; channels: Channels }> {
  const scene = await renewal(world, ['decline', ...retries]);
  return { ...scene, channels: new Channels(world, scene.people) };
}

/** Loses the renewal's first event of this type on its way to the webhook endpoints. */
function loseFirst(world: World, type: string): void {
  let left = 1;
  // Stripe and the MoR send the events of the signup within the first half minute. This function loses none of them.
  world.loses = (t) => t === type && world.now > world.at(0.5) && left-- > 0;
}

const finalize = { draftPolicy: 'finalize' } as const;

export const channelStories: readonly Story[] = [
  {
    name: 'the MoR hears Stripe through the relay',
    settings: { ...finalize, relay: 'created' },
    plan: async (world) => {
      const { people } = await renewal(world, 'succeed');
      await people.control('/mor/hearing', { direct: false });
    },
  },
  {
    name: 'a bank transfer in full',
    plan: async (world) => {
      const { invoice, channels } = await unpaid(world);
      world.scheduler.plan(world.at(70), 'a proforma invoice', () => void channels.askForTransfer(invoice()));
      world.scheduler.plan(world.at(120), 'the transfer', () => channels.transfer(invoice(), 1));
    },
  },
  {
    name: 'a bank transfer in part',
    plan: async (world) => {
      const { invoice, channels } = await unpaid(world);
      world.scheduler.plan(world.at(70), 'a proforma invoice', () => void channels.askForTransfer(invoice()));
      world.scheduler.plan(world.at(120), 'a third comes', () => channels.transfer(invoice(), 1 / 3));
    },
  },
  {
    name: 'a proforma invoice that fails, and a second one',
    settings: finalize,
    plan: async (world) => {
      const { invoice, channels } = await unpaid(world);
      world.scheduler.plan(world.at(70), 'one that fails', () => void channels.failIssuance(invoice()));
      world.scheduler.plan(world.at(90), 'another', () => void channels.askForTransfer(invoice()));
      world.scheduler.plan(world.at(150), 'the transfer', () => channels.transfer(invoice(), 1));
    },
  },
  {
    name: 'a proforma invoice withdrawn, then the card pays',
    settings: finalize,
    plan: async (world) => {
      const { people, invoice, channels } = await unpaid(world, ['succeed']);
      world.scheduler.plan(world.at(70), 'issuance waits', async () => {
        await people.control('/issuance', { hold: true });
        void channels.askForTransfer(invoice());
      });
      world.scheduler.plan(world.at(80), 'it is taken back', () => void channels.withdraw(invoice()));
      world.scheduler.plan(world.at(100), 'the MoR tries again', async () => {
        await people.control('/issuance', { hold: false });
        await people.control('/mor/retry', { invoice_id: invoice() });
      });
    },
  },
  {
    name: 'a payment link is paid',
    plan: async (world) => {
      const { invoice, channels } = await unpaid(world);
      world.scheduler.plan(world.at(70), 'a link', () => void channels.askForLink(invoice(), 86_400));
      world.scheduler.plan(world.at(100), 'the customer pays', () => channels.payLink(invoice()));
    },
  },
  {
    name: 'a payment link expires, the next one is paid',
    settings: finalize,
    plan: async (world) => {
      const { invoice, channels } = await unpaid(world);
      world.scheduler.plan(world.at(70), 'a link', () => void channels.askForLink(invoice(), 3_600));
      world.scheduler.plan(world.at(75), 'asked for twice', () => void channels.askForLink(invoice(), 3_600));
      world.scheduler.plan(world.at(240), 'another link', () => void channels.askForLink(invoice(), 86_400));
      world.scheduler.plan(world.at(270), 'the customer pays', () => channels.payLink(invoice()));
    },
  },
  {
    name: 'paid by card, and by the link that was still open',
    settings: finalize,
    plan: async (world) => {
      const { people, invoice, channels } = await unpaid(world, ['succeed']);
      world.scheduler.plan(world.at(70), 'a link', () => void channels.askForLink(invoice(), 86_400));
      world.scheduler.plan(world.at(100), 'the MoR tries again', async () => {
        await people.control('/mor/retry', { invoice_id: invoice() });
      });
      world.scheduler.plan(world.at(160), 'the customer pays at the link too', () => channels.payLink(invoice()));
    },
  },
  ...(['won', 'lost', 'lost_then_won'] as const).map((outcome): Story => ({
    name: `a dispute that is ${outcome.replaceAll('_', ' ')}`,
    settings: finalize,
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      const channels = new Channels(world, people);
      world.scheduler.plan(world.at(30), 'a dispute', () =>
        channels.dispute(paymentOf(people, invoice()), { outcome, decidedAfterMs: 7_200_000 }),
      );
    },
  })),
  {
    name: 'a dispute that is lost, and then all is given back',
    settings: finalize,
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      const channels = new Channels(world, people);
      world.scheduler.plan(world.at(30), 'a dispute', () =>
        channels.dispute(paymentOf(people, invoice()), { outcome: 'lost', decidedAfterMs: 7_200_000 }),
      );
      world.scheduler.plan(world.at(200), 'all is given back in the portal', async () => {
        await people.control('/mor/refunds', { payment_id: paymentOf(people, invoice()) });
      });
    },
  },
  {
    name: 'two disputes of one payment are lost',
    settings: finalize,
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      const channels = new Channels(world, people);
      for (const minutes of [30, 300])
        world.scheduler.plan(world.at(minutes), 'a dispute', () =>
          channels.dispute(paymentOf(people, invoice()), { outcome: 'lost', decidedAfterMs: 7_200_000 }),
        );
    },
  },
  {
    name: 'an alert answered with a refund',
    settings: finalize,
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      const channels = new Channels(world, people);
      world.scheduler.plan(world.at(30), 'an alert', () => channels.alert(paymentOf(people, invoice()), true));
    },
  },
  {
    name: 'invoice.created never comes',
    plan: async (world) => {
      loseFirst(world, 'invoice.created');
      await renewal(world, 'bank_debit_failed');
    },
  },
  {
    name: 'invoice.finalized never comes',
    plan: async (world) => {
      loseFirst(world, 'invoice.finalized');
      await renewal(world, 'succeed');
    },
  },
  {
    name: 'invoice.voided never comes',
    settings: finalize,
    plan: async (world) => {
      const { people, invoice } = await unpaid(world);
      world.scheduler.plan(world.at(90), 'the merchant voids it', async () => {
        loseFirst(world, 'invoice.voided');
        await people.stripe('POST', `/v1/invoices/${invoice()}/void`);
      });
    },
  },
];
