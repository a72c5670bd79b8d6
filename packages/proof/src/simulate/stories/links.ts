// Scripted stories about payments on a link, with each set of ids the MoR may report: paid one time and refunded, paid
// twice, and also reported as card payments.
import { CAPTURE_NAMES, type CaptureNames } from '@crossbill/sandbox/mor/payment-links.js';
import { Channels } from '../acts/channels.js';
import { renewal, type Story } from './scenes.js';
import { type World } from '../machine/world.js';

const finalize = { draftPolicy: 'finalize' } as const;

/** A renewal with a declined card. The merchant requests a payment link at minute 70. */
async function withLink(world: World): Promise<{ readonly channels: Channels; readonly invoice: () => string }> {
  const { people, invoice } = await renewal(world, ['decline']);
  const channels = new Channels(world, people);
  world.scheduler.plan(world.at(70), 'a link', () => void channels.askForLink(invoice(), 86_400));
  return { channels, invoice };
}

/** The customer pays the link at minute 100 and again at minute 130. Somebody refunds the second payment. */
async function paidTwice(world: World, one: CaptureNames, other: CaptureNames): ReturnType<typeof withLink> {
  const link = await withLink(world);
  const { channels, invoice } = link;
  world.scheduler.plan(world.at(100), 'the customer pays', () => channels.payLink(invoice(), one));
  world.scheduler.plan(world.at(130), 'and pays again', () => channels.payLinkAgain(invoice(), other));
  world.scheduler.plan(world.at(240), 'the second is given back', () => channels.refundOfLink(invoice(), null));
  return link;
}

export const linkStories: readonly Story[] = [
  ...CAPTURE_NAMES.filter((names) => names !== 'charge').map((names): Story => ({
    name: `a payment link is paid, which the MoR calls by ${names}, and a part is given back`,
    settings: finalize,
    plan: async (world) => {
      const { channels, invoice } = await withLink(world);
      world.scheduler.plan(world.at(100), 'the customer pays', () => channels.payLink(invoice(), names));
      world.scheduler.plan(world.at(200), 'a part is given back', () => channels.refundOfLink(invoice(), 700));
    },
  })),
  ...CAPTURE_NAMES.map((names): Story => ({
    name: `a payment link is paid twice, which the MoR calls by ${names}, and the second is given back`,
    settings: finalize,
    plan: async (world) => void (await paidTwice(world, names, names)),
  })),
  ...(
    [
      ['id', 'charge'],
      ['charge', 'id'],
    ] as const
  ).map(([one, other]): Story => ({
    name: `two payments on a link, of which the MoR calls one by ${one} and the other by ${other}`,
    settings: finalize,
    plan: async (world) => void (await paidTwice(world, one, other)),
  })),
  ...(['charge', 'both'] as const).map((names): Story => ({
    name: `two payments on a link by ${names}, and the MoR tells of them as card payments too`,
    settings: finalize,
    plan: async (world) => {
      const { channels, invoice } = await paidTwice(world, names, names);
      world.scheduler.plan(world.at(180), 'both as card payments', () => channels.tellOfLinkPayments(invoice()));
    },
  })),
  ...CAPTURE_NAMES.filter((names) => names !== 'nothing').map((names): Story => ({
    name: `a payment on a link is seen before the MoR calls it by ${names}, and all is given back`,
    settings: finalize,
    plan: async (world) => {
      const { channels, invoice } = await withLink(world);
      const notified = world.at(110);
      world.gate = async (body) => {
        if (body.includes('payment.captured') && world.now < notified) await world.sleep(notified - world.now);
      };
      world.scheduler.plan(world.at(100), 'the customer pays', () => channels.payLink(invoice(), names));
      world.scheduler.plan(world.at(105), 'somebody looks', () => void channels.pollLinks(invoice()));
      world.scheduler.plan(world.at(200), 'all is given back', () => channels.refundOfLink(invoice(), null));
    },
  })),
];
