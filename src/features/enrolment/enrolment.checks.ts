// Checks of `crossbill doctor`: whom would Stripe charge as well as the MoR?
import { type Check, check, remedy } from '../../frames/cli/doctor/check.js';
import { type Examination, type FeatureChecks } from '../../frames/cli/slots.js';
import { type StripeClient } from '../../frames/stripe/stripe-client.js';
import { HealthRepository } from '../../core/health/health.repository.js';
import { BillingReader } from '../../shared/domain/ports/billing-reader.js';
import { said } from '../../shared/domain/ports/call.js';
import { textOf } from '@crossbill/mor/read.js';
import { ChargeLookupsRepository } from './charge-lookups.repository.js';
import { chargingChecks } from './charging-checks.js';
import { EnrolmentService } from './enrolment.service.js';

const OWN_CARD_SHOWN = 5;
const SAMPLE = 50;

export const checks: FeatureChecks = async (of) => {
  const { app, peers, customers } = of;
  if (customers === 'none') return { checks: [] };
  const recent = await app.get(HealthRepository).recentCustomers(SAMPLE);
  const own = await ownCardChecks(recent, app.get(EnrolmentService), app.get(BillingReader), peers.stripe);
  const { checks, charged } = await subscriptions(of);
  return { checks: [...own, ...checks], json: customers === 'all' ? { charged } : {} };
};

async function subscriptions({ cli, app, customers }: Examination): ReturnType<typeof chargingChecks> {
  const all = customers === 'all';
  const known = all ? await app.get(HealthRepository).subscriptions() : 0;
  return cli.watch((progress) =>
    chargingChecks({
      relay: app.config.morRelayUrl === null ? null : app.config.morRelayEvents,
      reader: app.get(BillingReader),
      enrolment: app.get(EnrolmentService),
      lookups: app.get(ChargeLookupsRepository),
      all,
      signal: cli.io.signal,
      // Stripe gives no total, so the progress bar uses the number of subscriptions with an invoice in the database.
      onProgress: (looked) => all && progress.bar('looked at subscriptions', looked, Math.max(known, looked)),
    }),
  );
}

/**
 * Finds enrolled customers with a default card at Stripe: Stripe and the MoR would both charge the customer, an hour
 * apart. Leaves out a customer whose subscriptions have all ended, or are all Stripe's (`crossbill move --back`).
 */
export async function ownCardChecks(
  customers: readonly string[],
  enrolment: EnrolmentService,
  reader: BillingReader,
  client: StripeClient,
): Promise<Check[]> {
  const { ok, warn, fail } = check('customers whom Stripe would charge as well');
  const found: string[] = [];
  let looked = 0;
  for (const id of customers) {
    const read = await reader.readCustomer(id);
    if (!read.ok)
      return [
        warn(
          said(read),
          remedy('Stripe', read, 'Let the Stripe key read customers, or check default methods by hand.'),
        ),
      ];
    const customerMetadata = read.value?.metadata ?? {};
    if (!(await enrolment.isEnrolled({ customerId: id, metadata: {}, customerMetadata }))) continue;
    looked++;
    const method = read.value?.defaultPaymentMethodId ?? null;
    if (method === null) continue;
    const path = `/v1/payment_methods/${encodeURIComponent(method)}`;
    const type = method.startsWith('pm_') ? await client.read('payment_methods.retrieve', path) : null;
    if (type?.ok === false)
      return [warn(said(type), remedy('Stripe', type, 'Let the Stripe key read payment methods, or check by hand.'))];
    // An id without `pm_` belongs to Stripe's older payment methods (sources and cards). Stripe can charge all of them.
    if (type !== null && textOf(type.value?.['type']) === 'custom') continue;
    const theirs = await reader.subscriptionsOf(id);
    if (!theirs.ok)
      return [warn(said(theirs), remedy('Stripe', theirs, 'Let the Stripe key read subscriptions, or check by hand.'))];
    const { items } = theirs.value;
    const shared = await Promise.all(items.map((s) => enrolment.expectsMor(s)));
    if (items.length === 0 || shared.includes(true)) found.push(id);
  }
  if (found.length === 0)
    return [ok(looked === 0 ? 'no enrolled customer is known yet' : `none of ${looked} enrolled customers`)];
  const some = found.slice(0, OWN_CARD_SHOWN).join(', ');
  const todo =
    'Remove the default method on Stripe, or make it custom. Otherwise Stripe and the MoR both charge, an hour apart.';
  return [fail(`${found.length} of ${looked} enrolled customers, for example ${some}`, todo)];
}
