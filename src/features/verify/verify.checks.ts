// Checks of `crossbill doctor` that compare: did Stripe's events arrive, and did an outage lose events of the MoR?
import { type Check, check, remedy } from '../../frames/cli/doctor/check.js';
import { type FeatureChecks } from '../../frames/cli/slots.js';
import { isRenderedTooOld, stripeInvoiceTypes, TOO_OLD } from '../../shared/domain/events/stripe-event.js';
import { BillingReader } from '../../shared/domain/ports/billing-reader.js';
import { said } from '../../shared/domain/ports/call.js';
import { DAY_MS } from '../../shared/policy.js';
import { VERIFY_GRACE_MS } from './rules/limits.js';
import { LossWindowService } from './loss-window.service.js';
import { showLossWindow } from './rules/loss-window.js';
import { VerifyRepository } from './verify.repository.js';

const OLD_DEFAULT = `Upgrade the account's default API version in the Dashboard (Developers, Overview). ${TOO_OLD}.`;

export const checks: FeatureChecks = async ({ app }) => ({
  checks: [
    ...(await arrivalChecks(app.get(BillingReader), app.get(VerifyRepository))),
    await outageCheck(app.get(LossWindowService)),
  ],
});

/**
 * Compares Stripe's events of the last day with the inbox, because at Stripe an endpoint with a wrong address or secret
 * looks fine.
 */
export async function arrivalChecks(reader: BillingReader, books: VerifyRepository): Promise<Check[]> {
  const { ok, warn, fail } = check('arrival of Stripe’s events');
  const now = Date.now();
  const createdAfter = new Date(Math.max(now - DAY_MS, (await books.installedAt()).getTime()));
  const listed = await reader.listEvents({ types: stripeInvoiceTypes, createdAfter });
  if (!listed.ok)
    return [
      warn(
        said(listed),
        remedy('Stripe', listed, 'Let the Stripe key read events: `crossbill verify` needs them too.'),
      ),
    ];
  const { items } = listed.value;
  // Stripe renders listed events in the account's default API version. An endpoint without a version of its own gets
  // its deliveries in the same version. So a listed event can show deliveries of too old a version.
  const old = items.filter((e) => isRenderedTooOld(e.body)).length;
  if (old > 0) return [fail(`${old} of the newest ${items.length} have too old an API version`, OLD_DEFAULT)];
  const due = items.filter((e) => Math.abs(now - e.createdAt.getTime()) > VERIFY_GRACE_MS);
  const unknown = await books.records.unknownEvents(due.map((e) => e.eventId));
  if (unknown.size === 0) return [ok(due.length === 0 ? 'no event was due in a day' : `the newest ${due.length} came`)];
  const todo =
    'Check the address of the endpoint at Stripe, and its signing secret in STRIPE_WEBHOOK_SECRETS. Then run `crossbill backfill --since 1d`.';
  const say = unknown.size === due.length ? fail : warn;
  return [say(`${unknown.size} of the newest ${due.length} did not come`, todo)];
}

async function outageCheck(loss: LossWindowService): Promise<Check> {
  const { ok, warn } = check('outages');
  const last = (await loss.windows(new Date(Date.now() - 7 * DAY_MS))).at(-1);
  if (last === undefined) return ok('none in a week longer than the retries of the MoR');
  return warn(showLossWindow(last), 'Run `crossbill verify`. It names the things to compare by hand.');
}
