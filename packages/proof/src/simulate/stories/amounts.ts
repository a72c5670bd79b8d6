// Scripted stories about what the documents leave open: which amount the MoR charges and how often, the tax of a
// renewal, and senders that disable a failing webhook endpoint.
import { type People } from '../acts/people.js';
import { renewal, type Story } from './scenes.js';
import { type World } from '../machine/world.js';

const modes = ['payment_record', 'out_of_band'] as const;

const choose = (people: People, facts: Record<string, string>): Promise<unknown> =>
  people.control('/mor/open-facts', facts);

/** No delivery of this sender gets an answer, and after two hours the sender disables its endpoint. */
async function deliveriesFail(world: World, people: People, sender: 'stripe' | 'mor_payments'): Promise<void> {
  await people.control('/endpoints', { disable_after_hours: 2, sender });
  world.refuses = (source) => source === sender;
}

/** The merchant repairs the endpoint and switches it on again. */
async function endpointsReturn(world: World, people: People): Promise<void> {
  const { kernel, stripe, cards, secrets } = world.sandbox;
  if (kernel.deliverer.failing.disabled.length === 0)
    world.scheduler.broken.push('A2: no sender disabled its endpoint, so the story proves nothing');
  world.refuses = () => false;
  for (const { id } of stripe.state.endpoints.values())
    await people.stripe('POST', `/v1/webhook_endpoints/${id}`, { disabled: 'false' });
  cards.events.sendTo('http://daemon/mor_payments', secrets.paymentWebhookSecret);
}

export const amountStories: readonly Story[] = [
  ...modes.map((markMode): Story => ({
    name: `the MoR adds tax to a renewal ${markMode}`,
    settings: { markMode },
    plan: async (world) => {
      const { people } = await renewal(world, 'succeed');
      await choose(people, { renewal_tax: 'added' });
    },
  })),
  {
    name: 'the MoR charges the amount of the event again, and the draft has grown',
    plan: async (world) => {
      const { people, invoice } = await renewal(world, ['decline', 'succeed']);
      world.scheduler.plan(world.at(30), 'usage is added', async () => {
        await people.control(`/stripe/invoices/${invoice()}/add`, { amount: 500 });
      });
      world.scheduler.plan(world.at(90), 'the MoR tries again', () => void people.morTriesAgain(invoice()));
    },
  },
  {
    name: 'the MoR charges the present amount of a draft that has grown',
    plan: async (world) => {
      const { people, invoice } = await renewal(world, ['decline', 'succeed']);
      await choose(people, { charged_amount: 'present' });
      world.scheduler.plan(world.at(30), 'usage is added', async () => {
        await people.control(`/stripe/invoices/${invoice()}/add`, { amount: 500 });
      });
      world.scheduler.plan(world.at(90), 'the MoR tries again', () => void people.morTriesAgain(invoice()));
      world.scheduler.plan(world.at(26 * 60), 'is it paid?', () => {
        const paid = people.payments().find((p) => p.merchantInvoiceId === invoice() && p.status === 'succeeded');
        if (paid?.amount !== 3_490)
          world.scheduler.broken.push(`A1: the MoR took ${paid?.amount ?? 0}, not the present amount`);
      });
    },
  },
  {
    name: 'a metered renewal gets its amount in the hour of its draft',
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed', 0);
      await choose(people, { charges_at: 'finalized' });
      world.scheduler.plan(world.at(30), 'usage is added', async () => {
        await people.control(`/stripe/invoices/${invoice()}/add`, { amount: 4_200 });
      });
    },
  },
  {
    name: 'the MoR charges an event again that Stripe and the relay both bring',
    settings: { relay: 'created' },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      await choose(people, { repeats: 'per_delivery' });
      world.scheduler.plan(world.at(1.1), 'the MoR charges on its own', () => void world.triedByMor.add(invoice()));
    },
  },
  {
    name: 'the MoR charges an invoice again after a second event about it',
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      await choose(people, { repeats: 'per_event' });
      world.scheduler.plan(world.at(90), 'Stripe sends the event under a second id', () => {
        const i = people.invoice(invoice());
        if (i === undefined) return;
        world.triedByMor.add(i.id);
        world.sandbox.stripe.state.emitInvoice('invoice.created', i);
      });
    },
  },
  {
    name: 'Stripe disables the endpoint after hours of failures, and the merchant enables it a day later',
    settings: { draftPolicy: 'finalize' }, // else Crossbill reads the draft every quarter of an hour for 72 hours
    plan: async (world) => {
      const { people } = await renewal(world, 'succeed');
      await deliveriesFail(world, people, 'stripe');
      world.scheduler.plan(world.at(20 * 60), 'it is enabled again', () => void endpointsReturn(world, people));
    },
  },
  {
    name: 'the MoR disables the endpoint after hours of failures, and sends its events again on request',
    plan: async (world) => {
      const { people } = await renewal(world, 'succeed');
      await deliveriesFail(world, people, 'mor_payments');
      world.scheduler.plan(world.at(20 * 60), 'it is enabled again', async () => {
        await endpointsReturn(world, people);
        await people.control('/mor/payment-events/again', { since_sec: Math.floor(world.at(0) / 1_000) });
      });
    },
  },
];
