// Scripted stories about payment ids and double money: a person or a `payment.captured` gives a payment its id, two
// payments share one charge or one refund id, or Stripe charges a card in addition to the MoR.
import { Channels } from '../acts/channels.js';
import { Names } from '../acts/names.js';
import { People, type Subscriber } from '../acts/people.js';
import { paymentOf, renewal, type Story } from './scenes.js';
import { Twice } from '../acts/twice.js';
import { type World } from '../machine/world.js';

const modes = ['payment_record', 'out_of_band'] as const;
const finalize = { draftPolicy: 'finalize' } as const;

type Signed = {
  readonly people: People;
  readonly names: Names;
  readonly ada: Subscriber;
  readonly charge: () => string;
};

type Called = NonNullable<Parameters<People['signUp']>[3]>;

/** A customer signs up at minute 1. `charge` returns the processor's id of the signup charge. */
async function signup(world: World, called: Called = () => null): Promise<Signed> {
  const people = new People(world);
  const ada = await people.subscriber('ada', 2_990, 'eur', false);
  world.scheduler.plan(world.at(1), 'a signup', () => void people.signUp(ada, 'succeed', [ada.amount], called));
  return { people, names: new Names(world, people), ada, charge: () => chargeOf(people, ada) };
}

function chargeOf(people: People, subscriber: Subscriber): string {
  return (
    people.payments().find((p) => p.kind === 'signup' && p.merchantCustomerId === subscriber.customerId)
      ?.processorChargeId ?? ''
  );
}

/** An operator tells Crossbill the MoR's id of a payment, right or mistyped, then refunds a part under this id. */
async function nameAndRefund(
  names: Names,
  reference: string,
  how: 'right' | 'mistyped',
  amount: number,
): Promise<void> {
  const name = await names.identify(reference, how);
  if (name !== null) await names.refund(reference, name, amount);
}

async function nameAll(names: Names): Promise<void> {
  for (const reference of await names.nameless()) await nameAndRefund(names, reference, 'right', 500);
}

export const moneyStories: readonly Story[] = [
  ...modes.map((markMode): Story => ({
    name: `a signup’s payment is named wrongly, then rightly, and refunded ${markMode}`,
    settings: { markMode },
    plan: async (world) => {
      const { names, charge } = await signup(world);
      world.scheduler.plan(world.at(20), 'a mistyped name', () => void nameAndRefund(names, charge(), 'mistyped', 500));
      world.scheduler.plan(world.at(60), 'the right one', () => void nameAndRefund(names, charge(), 'right', 700));
    },
  })),
  {
    name: 'a signup completed with its payment’s name, then refunded',
    plan: async (world) => {
      const { names, charge } = await signup(world, (said) => ({ said, as: 'right' }));
      world.scheduler.plan(world.at(30), 'a part is given back', () => {
        void names.refund(charge(), names.nameOf(charge()) ?? '', 990);
      });
    },
  },
  {
    name: 'a signup completed under a mistyped name, then refunded in the portal',
    plan: async (world) => {
      const { people, names, charge } = await signup(world, () => ({ said: 'pay_mistyped_by_shop', as: 'mistyped' }));
      world.scheduler.plan(world.at(30), 'a part is given back in the portal', async () => {
        await people.control('/mor/refunds', { payment_id: names.nameOf(charge()), amount: 300 });
      });
    },
  },
  ...modes.map((markMode): Story => ({
    name: `the MoR corrects a mistyped name while a step of the mark has no answer ${markMode}`,
    settings: { markMode },
    plan: async (world) => {
      const { names, ada, charge } = await signup(world, () => ({ said: 'pay_mistyped_by_shop', as: 'mistyped' }));
      const byRecord = '/v1/payment_records/report_payment';
      const step = markMode === 'out_of_band' ? `/v1/invoices/${ada.firstInvoiceId}/pay` : byRecord;
      world.unanswered.add(step);
      world.scheduler.plan(world.at(20), 'the MoR names it', () => {
        void names.capture(names.nameOf(charge()) ?? '', { saysId: true, saysAmount: 'not' });
      });
      world.scheduler.plan(world.at(40), 'Stripe answers again', () => void world.unanswered.delete(step));
    },
  })),
  {
    name: 'a name that another payment bears is refused',
    settings: finalize,
    plan: async (world) => {
      const { names, charge } = await signup(world);
      const people = new People(world);
      const grace = await people.subscriber('grace', 1_990, 'eur', true);
      await people.cards(grace.customerId, 'succeed');
      world.scheduler.plan(world.at(2), 'a renewal', async () => void (await people.renew(grace)));
      world.scheduler.plan(world.at(30), 'the name of the renewal', () => void names.identify(charge(), 'taken'));
      world.scheduler.plan(world.at(40), 'its own', () => void nameAndRefund(names, charge(), 'right', 400));
    },
  },
  ...[true, false].map((heardOf): Story => ({
    name: `a payment is taken for another and refunded${heardOf ? '' : ', of which the MoR knows no invoice'}`,
    plan: async (world) => {
      const { people, names, ada, charge } = await signup(world);
      const grace = await people.subscriber('grace', 1_990, 'eur', false);
      world.scheduler.plan(world.at(2), 'another signup', () => void people.signUp(grace));
      const takeForTheOther = async (): Promise<void> => {
        const wrong = names.nameOf(chargeOf(people, grace));
        const said = wrong === null ? null : await names.say(charge(), wrong, 'another');
        if (said !== null) await names.refund(charge(), said, 400);
      };
      world.scheduler.plan(world.at(30), 'one is taken for the other', () => {
        if (!heardOf) for (const s of [ada, grace]) people.neverHeardOf(s.firstInvoiceId);
        void takeForTheOther();
      });
    },
  })),
  {
    name: 'a payment on a link is named and refunded',
    settings: finalize,
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'decline');
      const channels = new Channels(world, people);
      const names = new Names(world, people);
      world.scheduler.plan(world.at(70), 'a link', () => void channels.askForLink(invoice(), 86_400));
      world.scheduler.plan(world.at(100), 'the customer pays', () => channels.payLink(invoice()));
      world.scheduler.plan(world.at(160), 'it is named', () => void nameAll(names));
    },
  },
  {
    name: 'a bank transfer is named and refunded',
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'decline');
      const channels = new Channels(world, people);
      const names = new Names(world, people);
      world.scheduler.plan(world.at(70), 'a proforma invoice', () => void channels.askForTransfer(invoice()));
      world.scheduler.plan(world.at(120), 'the transfer', () => channels.transfer(invoice(), 1));
      world.scheduler.plan(world.at(180), 'it is named', () => void nameAll(names));
    },
  },
  ...modes.map((markMode): Story => ({
    name: `one charge named for two invoices ${markMode}`,
    settings: { markMode, ...finalize },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      const grace = await people.subscriber('grace', 2_990, 'eur', true);
      await people.cards(grace.customerId, 'decline');
      let other = '';
      world.scheduler.plan(
        world.at(2),
        'another renewal',
        async () => void (other = (await people.renew(grace)) ?? ''),
      );
      const say = (): void => new Twice(world, people).oneCharge(paymentOf(people, invoice()), other);
      world.scheduler.plan(world.at(90), 'the MoR names the charge twice', say);
      world.scheduler.plan(world.at(150), 'the first is given back in part', () => {
        void people.refund(paymentOf(people, invoice()), 400);
      });
    },
  })),
  ...modes.map((markMode): Story => ({
    name: `two refunds with one id of the processor ${markMode}`,
    settings: { markMode, ...finalize },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      const grace = await people.subscriber('grace', 1_990, 'eur', true);
      await people.cards(grace.customerId, 'succeed');
      let other = '';
      world.scheduler.plan(
        world.at(2),
        'another renewal',
        async () => void (other = (await people.renew(grace)) ?? ''),
      );
      world.scheduler.plan(world.at(60), 'two refunds', async () => {
        const payments = [paymentOf(people, invoice()), paymentOf(people, other)] as const;
        await new Twice(world, people).oneRefundId(payments);
        void people.refund(payments[0], 700);
        await people.control('/mor/refunds', { payment_id: payments[1], amount: 700 });
      });
    },
  })),
  {
    name: 'two bodies under one id come at once',
    settings: finalize,
    plan: async (world) => {
      const { people } = await renewal(world, 'succeed');
      new Twice(world, people).twoBodies();
    },
  },
  ...modes.flatMap((markMode) =>
    (['wait', 'finalize'] as const).map((draftPolicy): Story => ({
      name: `the customer’s own card is charged by Stripe ${markMode} ${draftPolicy}`,
      settings: { markMode, draftPolicy },
      plan: async (world) => {
        const { people, ada } = await renewal(world, ['decline', 'succeed']);
        await new Twice(world, people).ownCard(ada, ['succeed']);
        world.scheduler.plan(world.at(90), 'the MoR tries again', async () => {
          for (const i of people.invoices()) await people.control('/mor/retry', { invoice_id: i.id });
        });
      },
    })),
  ),
  {
    name: 'the customer’s own card is charged days later',
    plan: async (world) => {
      const { people, ada } = await renewal(world, 'bank_debit');
      await new Twice(world, people).ownCard(ada, ['decline', 'succeed']);
    },
  },
  ...(['early', 'late'] as const).map((when): Story => ({
    name: `payment.captured comes ${when}, and twice`,
    plan: async (world) => {
      const { names, ada, charge } = await signup(world);
      const capture = (): void => {
        const paymentId = names.nameOf(charge());
        if (paymentId !== null) void names.capture(paymentId, { saysId: true, saysAmount: 'right' }, 2);
      };
      if (when === 'early') {
        const first = world.sandbox.mor.paymentCaptured;
        world.sandbox.mor.paymentCaptured = (p) => {
          first(p);
          if (p.merchantCustomerId === ada.customerId)
            void names.capture(p.id, { saysId: true, saysAmount: 'right' }, 2);
        };
      } else world.scheduler.plan(world.at(45), 'it is captured', capture);
      world.scheduler.plan(world.at(90), 'a part is given back', () => {
        void names.refund(charge(), names.nameOf(charge()) ?? '', 500);
      });
    },
  })),
  {
    name: 'a signup that its payment.captured alone proves',
    plan: async (world) => {
      const { people, names, ada, charge } = await signup(world);
      // The MoR answers no look-up of a charge, so only a `payment.captured` can prove the payment.
      world.unanswered.add('/api/payments/invoice');
      world.scheduler.plan(world.at(20), 'another amount', () => {
        void names.capture(names.nameOf(charge()) ?? '', { saysId: false, saysAmount: 'wrong' });
      });
      world.scheduler.plan(world.at(60), 'is it believed?', () => {
        if (people.invoice(ada.firstInvoiceId)?.status === 'paid')
          world.scheduler.broken.push('N3: a payment.captured of another amount proved a signup');
      });
      world.scheduler.plan(world.at(61), 'the amount', () => {
        void names.capture(names.nameOf(charge()) ?? '', { saysId: false, saysAmount: 'right' });
      });
      world.scheduler.plan(world.at(41 * 60), 'is it paid?', () => {
        world.unanswered.clear();
        if (people.invoice(ada.firstInvoiceId)?.status !== 'paid')
          world.scheduler.broken.push('N3: a payment.captured of its charge and amount did not prove a signup');
      });
    },
  },
];
