// The MoR: credentials, and the webhook endpoints registered there.
import { type PartnerApi, type WebhookEndpoint, type WebhookEndpoints } from '@crossbill/mor';
import { type Config } from '../../config/index.js';
import { morServiceTypes } from '../../domain/events/mor-service-event.js';
import { said } from '../../domain/ports/call.js';
import { type Check, fail, ok, warn } from './check.js';
import { isDoor } from './stripe-checks.js';

export async function morChecks(config: Config, endpoints: WebhookEndpoints, partner: PartnerApi): Promise<Check[]> {
  const listed = await endpoints.list();
  const checks: Check[] = [];
  if (!listed.ok) {
    const todo =
      listed.kind === 'stopped'
        ? 'Check MOR_CLIENT_ID and MOR_CLIENT_SECRET, and with the MoR that the merchant is not suspended.'
        : 'Check MOR_BASE_URL and MOR_AUTH_URL, or try again later.';
    checks.push(fail('MoR credentials', said(listed), todo));
  } else {
    checks.push(ok('MoR credentials', `client ${config.morClientId}`));
    checks.push(...listedChecks(listed.value, config.morEventWebhookSecrets.length > 0));
  }
  checks.push(await partnerCheck(partner));
  return checks;
}

function listedChecks(all: readonly WebhookEndpoint[], hasSecret: boolean): Check[] {
  const name = 'webhook endpoint at the MoR';
  const ours = all.filter((e) => isDoor(e.url, '/webhooks/mor/events'));
  const register = 'Run `crossbill webhooks register --url https://<this daemon>/webhooks/mor/events`.';
  if (ours.length === 0) {
    return [
      warn(
        name,
        'none points at /webhooks/mor/events: events of bank transfers, links and disputes do not arrive',
        register,
      ),
    ];
  }
  const checks = ours.map((e): Check => {
    const at = `${e.id} at ${URL.canParse(e.url) ? new URL(e.url).host : 'an unreadable address'}`;
    const missing = e.events.includes('*') ? [] : morServiceTypes.filter((t) => !e.events.includes(t));
    if (e.status === 'DISABLED') return fail(name, `${at} is disabled`, `Delete it and register again. ${register}`);
    if (e.status !== 'ACTIVE')
      return warn(
        name,
        `${at} is ${e.status}, a status that Crossbill does not know`,
        'Ask the MoR whether it delivers.',
      );
    if (missing.length > 0)
      return warn(name, `${at} does not get ${missing.join(', ')}`, `Delete it and register again. ${register}`);
    return ok(name, at);
  });
  if (!hasSecret)
    checks.push(
      fail(
        'its secret',
        'MOR_EVENT_WEBHOOK_SECRETS is not set: the door turns every delivery away',
        'Set it to the secret that the registration showed.',
      ),
    );
  return checks;
}

async function partnerCheck(partner: PartnerApi): Promise<Check> {
  const name = 'partner credentials';
  if (!partner.enabled) return ok(name, 'not set: onboarding is off');
  const who = await partner.whoami();
  if (who.ok) return ok(name, `partner ${who.value.partnerId}`);
  return fail(name, said(who), 'Check MOR_PARTNER_CLIENT_ID and MOR_PARTNER_CLIENT_SECRET.');
}
