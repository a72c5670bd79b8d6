#!/usr/bin/env node
// `npm run sandbox` and `npx crossbill-sandbox`: starts the sandbox alone and prints the settings of a daemon for it,
// as NAME=value lines.
import { NOTIFY_PATH } from './backend.js';
import { type Sandbox, type SandboxOptions, startSandbox } from './sandbox.js';

const DAEMON = 'http://127.0.0.1:3000';

/** Reads the SANDBOX_… settings. Throws an Error with the name of a wrong setting. */
function readOptions(env: NodeJS.ProcessEnv): SandboxOptions {
  const port = (name: string, byDefault: number): number => {
    const text = env[name];
    if (text === undefined || text === '') return byDefault;
    const value = Number(text);
    if (!/^\d{1,5}$/.test(text) || value > 65_535) throw new Error(`${name} must be a port number`);
    return value;
  };
  const given = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  const seed = given('SANDBOX_SEED');
  const psp = given('SANDBOX_PSP');
  const host = given('SANDBOX_HOST');
  return {
    morPort: port('SANDBOX_MOR_PORT', 4020),
    stripePort: port('SANDBOX_STRIPE_PORT', 4010),
    stripeWebhookUrl: given('SANDBOX_STRIPE_WEBHOOK_URL') ?? `${DAEMON}/webhooks/stripe`,
    paymentWebhookUrl: given('SANDBOX_PAYMENT_WEBHOOK_URL') ?? `${DAEMON}/webhooks/mor/payments`,
    eventWebhookUrl: given('SANDBOX_EVENT_WEBHOOK_URL') ?? `${DAEMON}/webhooks/mor/events`,
    strictUrls: env['SANDBOX_STRICT_URLS'] === '1',
    ...(seed === undefined ? {} : { seed }),
    ...(psp === undefined ? {} : { psp }),
    ...(host === undefined ? {} : { host }),
  };
}

/**
 * The settings a daemon needs for this sandbox. The secrets guard invented money, so the sandbox prints them on
 * purpose.
 */
function daemonSettings(sandbox: Sandbox): [string, string][] {
  const { secrets, kernel, mor } = sandbox;
  const key = (role: string): string => `sandbox-${role}:${role}:${kernel.secret(`api-key-${role}`)}`;
  return [
    ['STRIPE_API_KEY', secrets.stripeApiKey],
    ['STRIPE_API_BASE', sandbox.stripeUrl],
    ['STRIPE_WEBHOOK_SECRETS', secrets.stripeWebhookSecret],
    ['MOR_BASE_URL', sandbox.morUrl],
    ['MOR_AUTH_URL', sandbox.morUrl],
    ['MOR_CLIENT_ID', secrets.merchant.clientId],
    ['MOR_CLIENT_SECRET', secrets.merchant.clientSecret],
    ['MOR_PARTNER_CLIENT_ID', secrets.partner.clientId],
    ['MOR_PARTNER_CLIENT_SECRET', secrets.partner.clientSecret],
    ['MOR_PSP', mor.psp],
    ['MOR_PAYMENT_WEBHOOK_SECRETS', secrets.paymentWebhookSecret],
    ['MOR_EVENT_WEBHOOK_SECRETS', secrets.eventWebhookSecret],
    ['API_KEYS', [key('read'), key('signup'), key('ops')].join(',')],
  ];
}

function sayInWords(sandbox: Sandbox, settings: readonly [string, string][]): void {
  for (const [name, value] of settings) console.log(`${name}=${value}`);
  console.log(
    `# relay, if wanted: MOR_RELAY_URL=${sandbox.morUrl}/relay/stripe MOR_RELAY_SECRET=${sandbox.secrets.relaySecret}`,
  );
  console.log(
    `# notifications, if wanted: NOTIFY_URL=${sandbox.morUrl}${NOTIFY_PATH} NOTIFY_SECRETS=${sandbox.secrets.notifySecret}`,
  );
  console.log(`# for browsers: ${sandbox.morUrl}/_sandbox/confirm.js with ${sandbox.publishableKey}`);
  console.log(`# control routes: GET ${sandbox.morUrl}/_sandbox`);
}

async function main(): Promise<void> {
  const sandbox = await startSandbox(readOptions(process.env));
  const settings = daemonSettings(sandbox);
  if (process.argv.includes('--json')) console.log(JSON.stringify(Object.fromEntries(settings)));
  else sayInWords(sandbox, settings);
  const stop = (): void => {
    sandbox.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
