// A random story made from a seed: a day and a half of a small shop.
import { Channels } from '../acts/channels.js';
import { ManualActs } from '../acts/manual-acts.js';
import { People, type Subscriber } from '../acts/people.js';
import { Names } from '../acts/names.js';
import { Payers } from '../acts/payers.js';
import { SetBack } from '../acts/set-back.js';
import { CAPTURE_NAMES, type CaptureNames } from '@crossbill/sandbox/mor/payment-links.js';
import { type Naming } from '../acts/planted.js';
import { type Story } from './scenes.js';
import { type Seeded } from '../machine/seeded.js';
import { Twice } from '../acts/twice.js';
import { type World } from '../machine/world.js';

const currencies = ['eur', 'usd', 'jpy'] as const;
export const outcomes = [
  'succeed',
  'succeed',
  'succeed',
  'decline',
  'requires_action',
  'bank_debit',
  'bank_debit_failed',
];

/** By this minute the shop's backend has sent all its requests. An earlier restore would lose some for good. */
const AFTER_SIGNUPS_MIN = 600;
const LAST_SETUP_MIN = 300;

/** A day and a half of a small shop. The seed chooses all acts. `without`: the numbers of the parts to leave out. */
export function randomStory(rng: Seeded, without: readonly number[] = []): Story {
  const settings = {
    markMode: rng.pick(['payment_record', 'out_of_band'] as const),
    draftPolicy: rng.pick(['wait', 'finalize'] as const),
    relay: rng.chance(0.2) ? rng.pick(['created', 'finalized'] as const) : null,
  };
  rng.chance(0.25); // an unused random number: without it the kept seeds would tell other stories
  // With the relay, the story also has a retry schedule.
  const retries = settings.relay !== null ? { retries: 'soft=6h,12h hard=none authentication=8h end=nothing' } : {};
  // Every story begins with these parts. Each uses its own random numbers, so a change in one part alters no other.
  const parts = ['the backend is notified', 'the database goes back', 'trials save a card'];
  const notify = rng.fork('notify').chance(0.25) && !without.includes(0);
  return {
    name: 'random',
    settings: { ...settings, ...retries, notify },
    parts,
    plan: (world) => planRandom(world, rng, parts, without),
  };
}

async function planRandom(world: World, rng: Seeded, parts: string[], without: readonly number[]): Promise<void> {
  const plan = (at: number, what: string, act: () => void | Promise<void>): void => {
    if (!without.includes(parts.push(what) - 1)) world.scheduler.plan(at, what, act);
  };
  const people = new People(world);
  if (world.settings.relay !== null) await people.control('/mor/hearing', { direct: false });
  const day = (): number => world.at(rng.int(1, 36 * 60));
  const count = rng.int(1, 3);
  for (let n = 0; n < count; n++) {
    const trial = rng.chance(0.7);
    const who = await people.subscriber(`c${n}`, rng.int(5, 400) * 10, rng.pick(currencies), trial);
    if (!trial) {
      const how = rng.pick(['succeed', 'succeed', 'decline', 'bank_debit', 'bank_debit_failed'] as const);
      const unheard = rng.chance(0.5);
      const said = rng.pick([[who.amount], [who.amount], [who.amount - 10, who.amount], [who.amount + 10]]);
      plan(world.at(rng.int(1, 300)), `signup of c${n}`, () => {
        void people
          .signUp(who, how, said, (right) => named(world, rng, right))
          .then(() => {
            if (unheard) people.neverHeardOf(who.firstInvoiceId);
          });
      });
      continue;
    }
    await people.cards(who.customerId, [rng.pick(outcomes), rng.pick(outcomes), 'succeed']);
    await people.cards(who.customerId, 'succeed'); // once the three outcomes above are used up, charges succeed
    if (rng.chance(0.1)) {
      const replies = rng.pick([['succeed'], ['decline', 'succeed']] as const);
      await new Twice(world, people).ownCard(who, replies);
    }
    if (!without.includes(2)) planTrial(world, people, who, rng.fork(`trial of c${n}`));
    const renewals = rng.int(1, 2);
    for (let k = 0; k < renewals; k++) {
      plan(day(), `renewal of c${n}`, async () => void (await people.renew(who)));
    }
  }
  if (!without.includes(1)) planSetBack(world, people, rng.fork('set back'));
  const something = rng.int(1, 7);
  for (let n = 0; n < something; n++) {
    const [what, act] = rng.pick(happenings(world, people, rng));
    plan(day(), what, act);
  }
}

/** In half of the stories a setup intent saves the card of a trial. In some of these a second intent follows. */
function planTrial(world: World, people: People, who: Subscriber, rng: Seeded): void {
  if (!rng.chance(0.5)) return;
  const payers = new Payers(world, people);
  const save = async (): Promise<void> => payers.confirm(await payers.setUp(who), who);
  const times = rng.chance(0.3) ? 2 : 1;
  for (let k = 0; k < times; k++)
    world.scheduler.plan(world.at(rng.int(1, LAST_SETUP_MIN)), 'a card is saved', () => void save());
}

/** In one story of eight an operator restores a backup some hours old, or a lagging standby takes over. */
function planSetBack(world: World, people: People, rng: Seeded): void {
  if (!rng.chance(1 / 8)) return;
  const setBack = new SetBack(world, people);
  const at = world.at(rng.int(AFTER_SIGNUPS_MIN, 28 * 60));
  if (rng.chance(0.5)) {
    const steps = rng.int(1, 30);
    world.scheduler.plan(at, 'a standby takes over', () => setBack.failOver(steps));
    return;
  }
  world.scheduler.plan(at, 'a backup', () => setBack.backUp());
  world.scheduler.plan(at + rng.int(1, 300) * 60_000, 'the backup is restored', () => setBack.restore());
}

/** Draws the payment id the shop's backend reports for a signup: right, mistyped or none (null). */
function named(world: World, rng: Seeded, right: string): Pick<Naming, 'said' | 'as'> | null {
  if (rng.chance(0.6)) return null;
  return rng.chance(0.7) ? { said: right, as: 'right' } : { said: world.name('pay_mistyped'), as: 'mistyped' };
}

export type Happening = readonly [what: string, act: () => void | Promise<void>];

/** An act chooses among the newest 60 invoices or payments, since people rarely touch older ones. */
const RECENT = 60;

/** The acts that are possible at this moment. */
export function happenings(world: World, people: People, rng: Seeded): readonly Happening[] {
  const channels = new Channels(world, people);
  const anInvoice = (): string => {
    const list = people.invoices().filter((i) => i.billingReason !== 'subscription_create');
    return list.length === 0 ? 'in_none' : rng.pick(list.slice(-RECENT)).id;
  };
  const manual = new ManualActs(world, people);
  const aPaidInvoice = (): string => {
    const list = people.invoices().filter((i) => i.status === 'paid');
    return list.length === 0 ? 'in_none' : rng.pick(list.slice(-RECENT)).id;
  };
  const anOpenInvoice = (): string => {
    const list = people.invoices().filter((i) => i.status === 'open' && i.billingReason !== 'subscription_create');
    return list.length === 0 ? anInvoice() : rng.pick(list.slice(-RECENT)).id;
  };
  const aBilledInvoice = (): string => {
    const billed = world.sandbox.mor.channelBooks().proformas.flatMap((p) => p.reference ?? []);
    return billed.length === 0 ? 'in_none' : rng.pick(billed);
  };
  const later = (hours: number): number => world.now + rng.int(1, hours * 60) * 60_000;
  const payByTransfer = (invoiceId: string, share: number): void => {
    void channels.askForTransfer(invoiceId);
    world.scheduler.plan(later(12), 'a transfer arrives', () => channels.transfer(invoiceId, share));
  };
  const payByLink = (invoiceId: string): void => {
    void channels.askForLink(invoiceId, rng.int(1, 48) * 1_800);
    if (rng.chance(0.7)) world.scheduler.plan(later(12), 'the link is used', () => useLink(invoiceId));
  };
  // Each invoice has its own random numbers, so a change here does not alter the rest of the story.
  const useLink = async (invoiceId: string): Promise<void> => {
    const own = rng.fork(`link of ${invoiceId}`);
    const usual = world.rng.fork('captures').pick(CAPTURE_NAMES);
    const names = (): CaptureNames => (own.chance(0.2) ? own.pick(CAPTURE_NAMES) : usual);
    const soon = (hours: number): number => world.now + own.int(1, hours * 60) * 60_000;
    await channels.payLink(invoiceId, names());
    if (own.chance(0.3)) void channels.pollLinks(invoiceId);
    if (own.chance(0.25))
      world.scheduler.plan(soon(8), 'the link is paid twice', () => channels.payLinkAgain(invoiceId, names()));
    if (own.chance(0.15))
      world.scheduler.plan(soon(12), 'told as a card payment', () => channels.tellOfLinkPayments(invoiceId));
    const part = own.chance(0.5) ? null : own.int(1, 40);
    if (own.chance(0.35))
      world.scheduler.plan(soon(16), 'a refund of the link', () => channels.refundOfLink(invoiceId, part));
  };
  const names = new Names(world, people);
  const twice = new Twice(world, people);
  const aPayment = (): string => {
    // Only signups and renewals: no document shows the MoR's refund event for a link or transfer payment without an id.
    const list = people
      .payments()
      .filter((p) => p.status === 'succeeded' || p.status === 'partially_refunded')
      .filter((p) => p.kind === 'signup' || p.kind === 'renewal');
    return list.length === 0 ? 'pay_none' : rng.pick(list.slice(-RECENT)).id;
  };
  const nameSomething = async (): Promise<void> => {
    const list = await names.nameless();
    if (list.length === 0) return;
    const reference = rng.pick(list.slice(-RECENT));
    const name = await names.identify(reference, rng.pick(['right', 'right', 'right', 'mistyped', 'taken'] as const));
    if (name !== null && rng.chance(0.7)) await names.refund(reference, name, rng.int(1, 30));
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
    ['the MoR tries again', () => people.morTriesAgain(anInvoice())],
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
    ['a credit note by hand', () => manual.credit(aPaidInvoice(), rng.int(1, 30), rng.chance(0.4))],
    ['a refund reported by hand', () => manual.refund(aPaidInvoice(), rng.int(1, 30))],
    ['a payment is detached by hand', () => manual.detach(aPaidInvoice())],
    ['usage is added', async () => void (await people.control(`/stripe/invoices/${anInvoice()}/add`, { amount: 70 }))],
    ['an operator looks at the items', () => void people.resolve((list) => rng.pick(list))],
    ['another look at the items', () => void people.resolve((list) => rng.pick(list))],
    ['a bank transfer', () => payByTransfer(anOpenInvoice(), rng.pick([1, 1, 0.5, 1.5]))],
    ['another bank transfer', () => payByTransfer(anOpenInvoice(), 1)],
    ['issuance fails', () => void channels.failIssuance(anOpenInvoice())],
    ['a proforma invoice is withdrawn', () => void channels.withdraw(aBilledInvoice())],
    ['a payment link', () => payByLink(anOpenInvoice())],
    ['another payment link', () => payByLink(anOpenInvoice())],
    [
      'a dispute',
      () => {
        const outcome = rng.pick(['won', 'lost', 'lost', 'lost_then_won'] as const);
        const share = rng.pick([1, 0.4, 0.7]);
        const decidedAfterMs = rng.int(1, 24) * 1_800_000;
        return channels.dispute(aPayment(), { outcome, decidedAfterMs, share });
      },
    ],
    ['a payment is named', () => void nameSomething()],
    ['another payment is named', () => void nameSomething()],
    ['a charge is named for two invoices', () => twice.oneCharge(aPayment(), anOpenInvoice())],
    [
      'two refunds bear one id',
      async () => {
        const payments = [aPayment(), aPayment()] as const;
        if (payments[0] === payments[1]) return;
        await twice.oneRefundId(payments);
        void people.refund(payments[0], rng.int(1, 30));
        await people.control('/mor/refunds', { payment_id: payments[1], amount: rng.int(1, 30) });
      },
    ],
    [
      'a payment is captured',
      () => {
        const says = { saysId: rng.chance(0.6), saysAmount: rng.pick(['right', 'right', 'wrong', 'not'] as const) };
        return names.capture(aPayment(), says, rng.int(1, 2));
      },
    ],
    ['an alert', () => channels.alert(aPayment(), rng.chance(0.6))],
    ['an event is lost', () => loseNext(world, rng)],
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
        world.wasDown.add(side);
        world.scheduler.plan(
          world.now + rng.int(1, 28 * 60) * 60_000,
          `${side} is back`,
          () => void world.down.delete(side),
        );
      },
    ],
    [
      'verify runs',
      () => {
        let ended = false;
        const ask = (): void =>
          void world.ask('verify', async (r) => {
            const report = await r.verify.run({ since: new Date(world.at(-1)), resume: true });
            ended = report.outcome !== 'incomplete';
            if (report.resumedFrom !== null) world.resumed++;
            await r.verify.repair(report);
          });
        ask();
        world.scheduler.plan(world.now + 30 * 60_000, 'verify resumes, if it was interrupted', () => {
          if (!ended) ask();
        });
      },
    ],
  ];
}

/** Loses the next event of one type. Stripe still lists its object. */
function loseNext(world: World, rng: Seeded): void {
  const type = rng.pick(['invoice.created', 'invoice.finalized', 'invoice.updated', 'invoice.paid', 'invoice.voided']);
  let left = 1;
  world.loses = (t) => t === type && left-- > 0;
}
