#!/usr/bin/env node
// `npm run sandbox` and `npx crossbill-sandbox`: starts the sandbox alone and prints the settings of a daemon for it,
// as NAME=value lines.
import { NOTIFY_PATH } from './backend.js';
import { daemonSettings } from './daemon-settings.js';
import { readOptions } from './options.js';
import { type Sandbox, startSandbox } from './sandbox.js';

function sayInWords(sandbox: Sandbox, settings: readonly [string, string][]): void {
  for (const [name, value] of settings) console.log(`${name}=${value}`);
  console.log(
    `# notifications, if wanted: NOTIFY_URL=${sandbox.morUrl}${NOTIFY_PATH} NOTIFY_SECRETS=${sandbox.secrets.notifySecret}`,
  );
  console.log(`# for browsers: ${sandbox.morUrl}/_sandbox/confirm.js with ${sandbox.publishableKey}`);
  console.log(`# control routes: GET ${sandbox.morUrl}/_sandbox`);
}

const HELP = `Usage: crossbill-sandbox [--json]

Plays Stripe and the Merchant of Record on two ports until you stop it, and prints the settings of a daemon for them as
NAME=value lines, or with --json as one object. The environment has its own settings, such as SANDBOX_MOR_PORT and
SANDBOX_STRIPE_PORT: the README lists them.`;

async function main(): Promise<void> {
  if (process.argv.includes('--help')) return console.log(HELP);
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
