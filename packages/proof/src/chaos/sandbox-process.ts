// The sandbox as a process of its own: both peers and the merchant's backend. Prints one line of JSON with its addresses and secrets.
import { startSandbox } from '@crossbill/sandbox/sandbox.js';

const [seed = 'crossbill', endpoints = '', daysAgo = '0'] = process.argv.slice(2);
const DAY_MS = 86_400_000;

const sandbox = await startSandbox({
  seed,
  stripeWebhookUrl: `${endpoints}/webhooks/stripe`,
  paymentWebhookUrl: `${endpoints}/webhooks/mor/payments`,
  eventWebhookUrl: `${endpoints}/webhooks/mor/events`,
});
// Time goes faster here than outside: it starts in the past, so nothing happens in the future.
await sandbox.kernel.clock.advance(-Number(daysAgo) * DAY_MS);
// Hanging or missing receivers must not hold up the clock: a thousand waiting deliveries would come one after the
// other.
sandbox.kernel.clock.settle = () => Promise.resolve();
const { morUrl, stripeUrl, secrets, mor, kernel } = sandbox;
const opsKey = kernel.secret('api-key-ops');
console.log(JSON.stringify({ morUrl, stripeUrl, psp: mor.psp, opsKey, secrets }));
process.once('SIGTERM', () => process.exit(0));
