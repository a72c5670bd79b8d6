// Trials with a setup intent, the browsers that confirm it, and the rule about the charged payment method.
import { type MorPayment } from '@crossbill/sandbox/mor/state.js';
import { type People, type Subscriber } from './people.js';
import { type Confirmation } from './planted.js';
import { type Sides } from '../rules/sides.js';
import { type World } from '../machine/world.js';

const POLL_MS = 30_000;
const TRIES = 5;

export class Payers {
  private asked = 0;

  constructor(
    private readonly world: World,
    private readonly people: People,
  ) {}

  /**
   * The merchant's backend starts a trial, or saves another method. Returns the setup intent; null if the request
   * failed.
   */
  async setUp({ customerId }: Subscriber): Promise<string | null> {
    const key = `setup-${customerId}-${++this.asked}`;
    const name = { apiKey: 'shop', method: 'POST', path: '/v1/signups', idempotencyKey: key };
    const call = {
      kind: 'create_setup_intent',
      customer: { id: customerId },
      paymentMethodTypes: null,
    } as const;
    const request = {
      kind: 'trial',
      customerId,
      amount: null,
      currency: null,
      invoiceId: null,
      call,
      taxCalculationId: null,
      calculation: null,
      by: 'shop',
    } as const;
    for (let tries = 0; tries < TRIES; tries++) {
      const made = await this.world.ask('trial', async (r) => {
        const signup = await r.signups.create(request, name, key);
        return signup.outcome === 'made' ? signup.intent.intentId : null;
      });
      if (made !== null) return made;
      await this.world.sleep(POLL_MS);
    }
    return null;
  }

  /** The shopper confirms the intent. Null: there is nothing to confirm. */
  async confirm(intentId: string | null, { customerId }: Subscriber): Promise<void> {
    if (intentId !== null) await this.people.confirm(intentId, customerId, 'succeed');
  }
}

/** P1: each charge uses the method the invoice's customer last confirmed, never another customer's method. */
export function payerRules({ world }: Pick<Sides, 'world'>): string[] {
  return [...world.sandbox.mor.payments.values()].flatMap((p) => {
    if (p.kind !== 'signup' && p.kind !== 'renewal') return [];
    const invoice = world.sandbox.stripe.state.invoices.get(p.merchantInvoiceId ?? '');
    const customerId = invoice?.customer ?? p.merchantCustomerId;
    const wrong = wrongPayer(p, customerId, world.planted.confirmed);
    return wrong === null ? [] : [`P1: ${p.id} of ${customerId} for ${p.merchantInvoiceId ?? 'no invoice'} ${wrong}`];
  });
}

function wrongPayer(payment: MorPayment, customerId: string, confirmed: readonly Confirmation[]): string | null {
  const own = confirmed.findLast((c) => c.customerId === customerId && c.at <= payment.createdAtMs);
  if (payment.paidWith === null) return own === undefined ? null : `found no method, and ${own.intentId} saved one`;
  const { intentId, merchantCustomerId } = payment.paidWith;
  const by = confirmed.find((c) => c.intentId === intentId)?.customerId ?? merchantCustomerId;
  if (by !== customerId) return `was paid by ${by ?? 'nobody'}`;
  return intentId === (own?.intentId ?? null)
    ? null
    : `was paid by an older method than that of ${own?.intentId ?? 'nobody'}`;
}
