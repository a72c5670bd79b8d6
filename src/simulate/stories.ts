// Stories: the golden ones, one for each way in which money moves, and the random mix that a seed makes.
import { People, type Subscriber } from './people.js';
import { type Seeded } from './seeded.js';
import { type World } from './world.js';

/** Plans what happens. Minutes count from the start of the world. */
export type Story = {
  readonly name: string;
  readonly settings?: {
    readonly markMode?: 'payment_record' | 'out_of_band';
    readonly draftPolicy?: 'wait' | 'finalize';
  };
  readonly plan: (world: World) => Promise<void>;
};

type Scene = { readonly world: World; readonly people: People; readonly ada: Subscriber };

/** A subscriber with a saved card, and a renewal at minute 1. `then` hears the renewal's invoice. */
async function renewal(world: World, outcome: string | readonly string[]): Promise<Scene & { invoice: () => string }> {
  const people = new People(world);
  const ada = await people.subscriber('ada', 2_990, 'eur', true);
  await people.cards(ada.customerId, outcome);
  let invoiceId = '';
  world.scheduler.plan(world.at(1), 'a renewal', async () => {
    invoiceId = (await people.renew(ada)) ?? '';
  });
  return { world, people, ada, invoice: () => invoiceId };
}

function paymentOf(people: People, invoiceId: string): string {
  const taken = ['succeeded', 'partially_refunded', 'refunded'];
  return people.payments().find((p) => p.merchantInvoiceId === invoiceId && taken.includes(p.status))?.id ?? '';
}

const modes = ['payment_record', 'out_of_band'] as const;
const policies = ['wait', 'finalize'] as const;

export const goldenStories: readonly Story[] = [
  ...modes.flatMap((markMode) =>
    policies.map((draftPolicy): Story => ({
      name: `renewal ${markMode} ${draftPolicy}`,
      settings: { markMode, draftPolicy },
      plan: async (world) => void (await renewal(world, 'succeed')),
    })),
  ),
  {
    name: 'decline, then success',
    settings: { draftPolicy: 'finalize' },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, ['decline', 'succeed']);
      world.scheduler.plan(world.at(10), 'the MoR tries again', async () => {
        await people.control('/mor/retry', { invoice_id: invoice() });
      });
    },
  },
  {
    name: 'authentication, then success',
    plan: async (world) => {
      const { people, invoice } = await renewal(world, ['requires_action', 'succeed']);
      world.scheduler.plan(world.at(90), 'the MoR tries again', async () => {
        await people.control('/mor/retry', { invoice_id: invoice() });
      });
    },
  },
  ...modes.map((markMode): Story => ({
    name: `refunds in two parts ${markMode}`,
    settings: { markMode, draftPolicy: 'finalize' },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      world.scheduler.plan(world.at(20), 'a part is given back', () => {
        void people.refund(paymentOf(people, invoice()), 1_000, 2);
      });
      world.scheduler.plan(world.at(40), 'the rest is given back', () => {
        void people.refund(paymentOf(people, invoice()), null);
      });
    },
  })),
  {
    name: 'a refund while the invoice is a draft',
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      world.scheduler.plan(world.at(5), 'all is given back', () => {
        void people.refund(paymentOf(people, invoice()), null);
      });
    },
  },
  {
    name: 'a refund in the portal beside one of ours',
    settings: { draftPolicy: 'finalize' },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      world.scheduler.plan(world.at(20), 'two refunds at once', async () => {
        const payment = paymentOf(people, invoice());
        void people.refund(payment, 700);
        await people.control('/mor/refunds', { payment_id: payment, amount: 700 });
      });
    },
  },
  {
    name: 'a refund that fails days later',
    settings: { draftPolicy: 'finalize' },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      world.scheduler.plan(world.at(20), 'a refund', async () => {
        await people.control('/mor/next-refund', { outcome: 'pending_fail' });
        void people.refund(paymentOf(people, invoice()), 500);
      });
    },
  },
  {
    name: 'bank debit and its refund',
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'bank_debit');
      world.scheduler.plan(world.at(4 * 1440 + 120), 'all is given back', () => {
        void people.refund(paymentOf(people, invoice()), null);
      });
    },
  },
  {
    name: 'signup',
    plan: async (world) => {
      const people = new People(world);
      const ada = await people.subscriber('ada', 2_990, 'eur', false);
      world.scheduler.plan(world.at(1), 'a signup', () => void people.signUp(ada));
    },
  },
  {
    name: 'two payments for one invoice',
    settings: { draftPolicy: 'finalize' },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      world.scheduler.plan(world.at(3), 'the MoR charges twice', () => people.chargeTwice(invoice()));
    },
  },
  {
    name: 'paid by hand while the money is on its way',
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      world.scheduler.plan(world.at(61), 'the merchant marks it paid', () => people.payByHand(invoice()));
    },
  },
  {
    name: 'void before the money comes',
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'bank_debit');
      world.scheduler.plan(world.at(90), 'the merchant voids it', async () => {
        await people.stripe('POST', `/v1/invoices/${invoice()}/void`);
      });
    },
  },
  {
    name: 'the draft grows after the charge',
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      world.scheduler.plan(world.at(30), 'usage is added', async () => {
        await people.control(`/stripe/invoices/${invoice()}/add`, { amount: 500 });
      });
    },
  },
];

const currencies = ['eur', 'usd', 'jpy'] as const;
const outcomes = ['succeed', 'succeed', 'succeed', 'decline', 'requires_action', 'bank_debit', 'bank_debit_failed'];

/** A day and a half of a small shop; which day, the seed says. */
export function randomStory(rng: Seeded): Story {
  const settings = { markMode: rng.pick(modes), draftPolicy: rng.pick(policies) };
  return { name: 'random', settings, plan: (world) => planRandom(world, rng) };
}

async function planRandom(world: World, rng: Seeded): Promise<void> {
  const people = new People(world);
  const day = (): number => world.at(rng.int(1, 36 * 60));
  const count = rng.int(1, 3);
  for (let n = 0; n < count; n++) {
    const trial = rng.chance(0.7);
    const who = await people.subscriber(`c${n}`, rng.int(5, 400) * 10, rng.pick(currencies), trial);
    if (!trial) {
      const how = rng.pick(['succeed', 'succeed', 'decline', 'bank_debit'] as const);
      world.scheduler.plan(world.at(rng.int(1, 300)), `signup of c${n}`, () => void people.signUp(who, how));
      continue;
    }
    await people.cards(who.customerId, [rng.pick(outcomes), rng.pick(outcomes), 'succeed']);
    await people.cards(who.customerId, 'succeed'); // once the list is used up
    const renewals = rng.int(1, 2);
    for (let k = 0; k < renewals; k++) {
      world.scheduler.plan(day(), `renewal of c${n}`, async () => void (await people.renew(who)));
    }
  }
  const something = rng.int(1, 6);
  for (let n = 0; n < something; n++) {
    const [what, act] = rng.pick(happenings(world, people, rng));
    world.scheduler.plan(day(), what, act);
  }
}

type Happening = readonly [what: string, act: () => void | Promise<void>];

/** What may happen to whatever is there at that time. */
function happenings(world: World, people: People, rng: Seeded): readonly Happening[] {
  const anInvoice = (): string => {
    const list = people.invoices().filter((i) => i.billingReason !== 'subscription_create');
    return list.length === 0 ? 'in_none' : rng.pick(list).id;
  };
  const aPayment = (): string => {
    const list = people.payments().filter((p) => p.status === 'succeeded' || p.status === 'partially_refunded');
    return list.length === 0 ? 'pay_none' : rng.pick(list).id;
  };
  const part = (): number | null => (rng.chance(0.4) ? null : rng.int(1, 30));
  const refund = (): void => void people.refund(aPayment(), part(), rng.int(1, 2));
  return [
    ['a refund', refund],
    ['another refund', refund],
    ['a refund of too much', () => void people.refund(aPayment(), 1_000_000)],
    ['a late failure', () => people.lateFailure(aPayment())],
    ['somebody copies a delivery', () => void people.attack((list) => rng.pick(list))],
    [
      'a refund that waits',
      async () => {
        await people.control('/mor/next-refund', { outcome: rng.pick(['pending', 'pending_fail', 'fail']) });
        refund();
      },
    ],
    [
      'a refund in the portal',
      async () => {
        await people.control('/mor/refunds', { payment_id: aPayment(), amount: rng.int(1, 50) });
      },
    ],
    [
      'two refunds of one amount',
      async () => {
        const payment = aPayment();
        void people.refund(payment, 20);
        await people.control('/mor/refunds', { payment_id: payment, amount: 20 });
      },
    ],
    ['the MoR tries again', async () => void (await people.control('/mor/retry', { invoice_id: anInvoice() }))],
    ['the MoR charges twice', () => people.chargeTwice(anInvoice())],
    ['an invoice is voided', async () => void (await people.stripe('POST', `/v1/invoices/${anInvoice()}/void`))],
    [
      'an invoice is given up',
      async () => void (await people.stripe('POST', `/v1/invoices/${anInvoice()}/mark_uncollectible`)),
    ],
    [
      'an invoice is finalized by hand',
      async () => void (await people.stripe('POST', `/v1/invoices/${anInvoice()}/finalize`)),
    ],
    ['an invoice is paid by hand', () => people.payByHand(anInvoice())],
    ['usage is added', async () => void (await people.control(`/stripe/invoices/${anInvoice()}/add`, { amount: 70 }))],
    ['an operator looks at the items', () => void people.resolve((list) => rng.pick(list))],
    ['another look at the items', () => void people.resolve((list) => rng.pick(list))],
    [
      'a replica’s clock jumps',
      () => {
        const replica = world.anyReplica();
        if (replica !== null) replica.clock.offsetMs = rng.int(-600, 600) * 1_000;
      },
    ],
    [
      'a replica dies',
      () => {
        const replica = world.anyReplica();
        if (replica !== null) world.scheduler.kill(replica.owner);
      },
    ],
    [
      'a peer is out',
      () => {
        const side = rng.pick(['stripe', 'mor'] as const);
        world.down.add(side);
        world.scheduler.plan(
          world.now + rng.int(1, 28 * 60) * 60_000,
          `${side} is back`,
          () => void world.down.delete(side),
        );
      },
    ],
    [
      'verify runs',
      () =>
        void world.ask('verify', async (r) => {
          const report = await r.verify.run({ since: new Date(world.at(-1)) });
          await r.verify.repair(report);
        }),
    ],
  ];
}
