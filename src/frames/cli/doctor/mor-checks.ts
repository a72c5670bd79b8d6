// Checks the credentials for the MoR, and the webhook endpoints registered at the MoR.
import { type PartnerApi, type WebhookEndpoint, type WebhookEndpoints } from '@crossbill/mor';
import { type Config } from '../../../shared/config/index.js';
import { MOR_SERVICE_TYPES } from '../../../core/mor-objects/event-rows.js';
import { said } from '../../../shared/domain/ports/call.js';
import { type Check, check, remedy } from './check.js';
import { isEndpoint } from './stripe-checks.js';

const ENDPOINT = '/webhooks/mor/events';
const REGISTER = `Run \`crossbill webhooks register --url https://<this daemon>${ENDPOINT}\`.`;
const AGAIN = `Delete the endpoint: \`crossbill webhooks delete <id>\`. Then register it again. ${REGISTER}`;

export async function morChecks(config: Config, endpoints: WebhookEndpoints, partner: PartnerApi): Promise<Check[]> {
  const { ok, fail } = check('MoR credentials');
  const listed = await endpoints.list();
  const ours = listed.ok
    ? [ok(`client ${config.morClientId}`), ...endpointsChecks(listed.value, config.morEventWebhookSecrets.length > 0)]
    : [
        fail(
          said(listed),
          listed.kind === 'stopped'
            ? 'Check MOR_CLIENT_ID and MOR_CLIENT_SECRET. Ask the MoR if it suspended the merchant.'
            : remedy('the MoR', listed, 'Check MOR_BASE_URL and MOR_AUTH_URL.'),
        ),
      ];
  return [...ours, await partnerCheck(partner)];
}

function endpointsChecks(all: readonly WebhookEndpoint[], hasSecret: boolean): Check[] {
  const ours = all.filter((e) => isEndpoint(e.url, ENDPOINT));
  const none = `none points at ${ENDPOINT}: events of bank transfers, links and disputes do not arrive`;
  if (ours.length === 0) return [check('webhook endpoint at the MoR').warn(none, REGISTER)];
  const noSecret = 'MOR_EVENT_WEBHOOK_SECRETS is not set: the endpoint here refuses every delivery';
  const secret = check('secret of the MoR endpoint').fail(
    noSecret,
    'Set it to the secret shown when you registered the endpoint.',
  );
  return [...ours.map(endpointCheck), ...(hasSecret ? [] : [secret])];
}

function endpointCheck(endpoint: WebhookEndpoint): Check {
  const { ok, warn, fail } = check('webhook endpoint at the MoR');
  const at = `${endpoint.id} at ${URL.canParse(endpoint.url) ? new URL(endpoint.url).host : 'an unreadable address'}`;
  const missing = endpoint.events.includes('*') ? [] : MOR_SERVICE_TYPES.filter((t) => !endpoint.events.includes(t));
  if (endpoint.status === 'DISABLED') return fail(`${at} is disabled`, AGAIN);
  if (endpoint.status !== 'ACTIVE')
    return warn(
      `${at} is ${endpoint.status}, a status unknown to Crossbill`,
      'Ask the MoR if it still delivers there.',
    );
  return missing.length > 0 ? warn(`${at} does not get ${missing.join(', ')}`, AGAIN) : ok(at);
}

async function partnerCheck(partner: PartnerApi): Promise<Check> {
  const { ok, fail } = check('partner credentials');
  if (!partner.enabled) return ok('not set: onboarding is off');
  const who = await partner.whoami();
  if (who.ok) return ok(`partner ${who.value.partnerId}`);
  return fail(said(who), remedy('the MoR', who, 'Check MOR_PARTNER_CLIENT_ID and MOR_PARTNER_CLIENT_SECRET.'));
}
