// The scripted stories, called golden: one for each way money moves.
import { amountStories } from './amounts.js';
import { channelStories } from './channels.js';
import { enrolmentStories } from './enrolment.js';
import { ManualActs } from '../acts/manual-acts.js';
import { People } from '../acts/people.js';
import { linkStories } from './links.js';
import { moneyStories } from './money.js';
import { retryStories } from './retries.js';
import { setBackStories } from './set-backs.js';
import { lossStories } from './losses.js';
import { returnStories } from './returns.js';
import { paceStories } from './pace.js';
import { payerStories } from './payers.js';
import { paymentOf, renewal, type Story } from './scenes.js';

export type { Story } from './scenes.js';

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
    name: 'a signup by bank debit that Stripe does not wait for',
    plan: async (world) => {
      const people = new People(world);
      const ada = await people.subscriber('ada', 2_990, 'eur', false);
      world.scheduler.plan(world.at(1), 'a signup', () => void people.signUp(ada, 'bank_debit'));
    },
  },
  ...modes.map((markMode): Story => ({
    name: `a signup by bank debit that settles in time ${markMode}`,
    settings: { markMode },
    plan: async (world) => {
      const people = new People(world);
      const ada = await people.subscriber('ada', 2_990, 'eur', false);
      world.scheduler.plan(world.at(1), 'a signup', () => void people.signUp(ada, 'bank_debit'));
      world.scheduler.plan(world.at(300), 'the bank is quick', () => people.settleDebit(ada.customerId));
    },
  })),
  ...modes.map((markMode): Story => ({
    name: `a signup by bank debit that fails ${markMode}`,
    settings: { markMode },
    plan: async (world) => {
      const people = new People(world);
      const ada = await people.subscriber('ada', 2_990, 'eur', false);
      world.scheduler.plan(world.at(1), 'a signup', () => void people.signUp(ada, 'bank_debit_failed'));
    },
  })),
  {
    name: 'a signup whose amount is named wrongly, then rightly',
    plan: async (world) => {
      const people = new People(world);
      const ada = await people.subscriber('ada', 2_990, 'eur', false);
      world.scheduler.plan(world.at(1), 'a signup', () => void people.signUp(ada, 'succeed', [299, ada.amount]));
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
    name: 'a replica whose clock is wrong dies with the lane it holds',
    settings: { draftPolicy: 'finalize' },
    plan: async (world) => {
      await renewal(world, 'succeed');
      world.scheduler.plan(world.at(0.01), 'two clocks differ by eight minutes', () => {
        for (const [at, offsetMs] of [240_000, -240_000].entries()) {
          const replica = world.replica(at);
          if (replica !== null) replica.clock.offsetMs = offsetMs;
        }
        let died = false;
        world.scheduler.alsoFails(({ label }) => {
          if (died || label !== 'lanes.claim') return null;
          died = true;
          return 'crash_after';
        });
      });
    },
  },
  {
    name: 'paid by hand while the money is on its way',
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      world.scheduler.plan(world.at(61), 'the merchant marks it paid', () => people.payByHand(invoice()));
    },
  },
  ...modes.map((markMode): Story => ({
    name: `a credit note by hand beside a refund of ours ${markMode}`,
    settings: { markMode, draftPolicy: 'finalize' },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      const manual = new ManualActs(world, people);
      world.scheduler.plan(world.at(20), 'a refund', () => void people.refund(paymentOf(people, invoice()), 700));
      world.scheduler.plan(world.at(90), 'a credit note by hand', () => manual.credit(invoice(), 300, false));
      world.scheduler.plan(world.at(95), 'another, to the balance', () => manual.credit(invoice(), 200, true));
    },
  })),
  {
    name: 'a refund reported by hand',
    settings: { draftPolicy: 'finalize' },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      world.scheduler.plan(world.at(90), 'by hand', () => new ManualActs(world, people).refund(invoice(), 300));
    },
  },
  {
    name: 'a payment is detached by hand',
    settings: { draftPolicy: 'finalize' },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      world.scheduler.plan(world.at(90), 'by hand', () => new ManualActs(world, people).detach(invoice()));
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
  ...modes.map((markMode): Story => ({
    name: `a credit note in the middle of the mark ${markMode}`,
    settings: { markMode, draftPolicy: 'finalize' },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      let left = 1;
      world.onEffect = (path) => {
        const first =
          markMode === 'payment_record' ? '/v1/payment_records/report_payment' : `/v1/invoices/${invoice()}`;
        if (path !== first || left-- < 1) return;
        void people.stripe('POST', '/v1/credit_notes', { invoice: invoice(), amount: '500', email_type: 'none' });
      };
    },
  })),
  {
    name: 'the draft grows after the charge',
    plan: async (world) => {
      const { people, invoice } = await renewal(world, 'succeed');
      world.scheduler.plan(world.at(30), 'usage is added', async () => {
        await people.control(`/stripe/invoices/${invoice()}/add`, { amount: 500 });
      });
    },
  },
  {
    name: 'the backend is notified of a decline, a success and a refund',
    settings: { draftPolicy: 'finalize', notify: true },
    plan: async (world) => {
      const { people, invoice } = await renewal(world, ['decline', 'succeed']);
      world.scheduler.plan(world.at(10), 'the MoR tries again', async () => {
        await people.control('/mor/retry', { invoice_id: invoice() });
      });
      world.scheduler.plan(world.at(40), 'all is given back', () => {
        void people.refund(paymentOf(people, invoice()), null);
      });
    },
  },
  ...amountStories,
  ...channelStories,
  ...linkStories,
  ...moneyStories,
  ...enrolmentStories,
  ...retryStories,
  ...returnStories,
  ...lossStories,
  ...setBackStories,
  ...paceStories,
  ...payerStories,
];

export function storyNamed(name: string): Story {
  const found = goldenStories.find((s) => s.name === name);
  if (found === undefined) throw new Error(`no story is named ${name}`);
  return found;
}
