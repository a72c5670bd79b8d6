// Plays the customer of a rehearsal: confirms an intent, pays a link, or gets a declining card. The sandbox acts by its
// control routes. Without the sandbox the merchant acts on a page.
import { type Config } from '../../../shared/config/index.js';
import { type Confirmed, ConfirmPage } from './confirm-page.js';
import { objectOf, textAt } from './json.js';

export type Intent = {
  readonly kind: 'payment' | 'setup';
  readonly intentId: string;
  readonly clientSecret: string;
  readonly customerId: string;
  /** The saved card's behaviour at the next renewal. */
  readonly card: 'works' | 'declines';
  readonly about: string;
};

export type ManualSteps = {
  readonly who: 'sandbox' | 'merchant';
  confirm(intent: Intent, signal: AbortSignal): Promise<Confirmed>;
  payLink(link: { readonly id: string; readonly url: string }): Promise<void>;
  close(): Promise<void>;
};

type Options = {
  readonly say: (text: string) => void;
  /**
   * The merchant's own confirmation page. Crossbill appends the client secret after `#`. Null: the merchant confirms in
   * another way.
   */
  readonly page: string | null;
};

export async function manualStepsFor(config: Config, options: Options): Promise<ManualSteps> {
  return (await isSandbox(config.morBaseUrl)) ? sandboxSteps(config.morBaseUrl) : merchantSteps(options);
}

async function isSandbox(base: string): Promise<boolean> {
  try {
    const reply = await fetch(`${base}/_sandbox`, { redirect: 'error', signal: AbortSignal.timeout(5_000) });
    return reply.status === 200 && Array.isArray(objectOf(await reply.json())['routes']);
  } catch {
    return false;
  }
}

function sandboxSteps(base: string): ManualSteps {
  const control = async (path: string, body: object): Promise<unknown> => {
    const reply = await fetch(`${base}/_sandbox${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`The sandbox answered ${reply.status} to ${path}.`);
    return reply.json();
  };
  return {
    who: 'sandbox',
    async confirm({ kind, intentId, customerId, card }) {
      const result = await control(`/intents/${encodeURIComponent(intentId)}/confirm`, {});
      // The route `/cards` sets the behaviour of the customer's card, and creates a card if there is none.
      if (card === 'declines') await control('/cards', { customer_id: customerId, outcome: 'decline' });
      else if (kind === 'setup') await control('/cards', { customer_id: customerId, outcome: 'succeed' });
      return { chargeId: textAt(result, 'charge_id'), paymentId: textAt(result, 'payment_id') };
    },
    async payLink({ id }) {
      await control(`/payment-links/${encodeURIComponent(id)}/pay`, {});
    },
    close: () => Promise.resolve(),
  };
}

const CARDS = {
  works: 'Use a test card that works.',
  declines: "Use a test card you can save, with later charges declined: see the processor's list of test cards.",
};

function merchantSteps({ say, page }: Options): ManualSteps {
  const local = new ConfirmPage(page);
  return {
    who: 'merchant',
    async confirm({ kind, clientSecret, card, about }, signal) {
      const url = await local.open({ about, card: CARDS[card], clientSecret, asksCharge: kind === 'payment' });
      say(`  Open ${url}\n  ${about} ${CARDS[card]}`);
      return local.reply(signal);
    },
    payLink({ url }) {
      say(`  Pay at ${url}\n  ${CARDS.works}`);
      return Promise.resolve();
    },
    close: () => local.close(),
  };
}
