// The sandbox as a separate process: Stripe, the MoR and the merchant's backend. It prints one line of JSON with its
// addresses and secrets.
import { startSandbox } from '@crossbill/sandbox/sandbox.js';

const [seed = 'crossbill', endpoints = '', daysAgo = '0'] = process.argv.slice(2);
const DAY_MS = 86_400_000;

const sandbox = await startSandbox({
  seed,
  stripeWebhookUrl: `${endpoints}/webhooks/stripe`,
  paymentWebhookUrl: `${endpoints}/webhooks/mor/payments`,
  eventWebhookUrl: `${endpoints}/webhooks/mor/events`,
});
// The sandbox's time runs faster than real time. It starts in the past, so it never passes the present.
await sandbox.kernel.clock.advance(-Number(daysAgo) * DAY_MS);
// The clock must not wait for deliveries. With a killed or frozen daemon it would wait for a thousand deliveries
// without an answer, one after the other.
sandbox.kernel.clock.settle = () => Promise.resolve();
const { morUrl, stripeUrl, secrets, mor, kernel } = sandbox;
const opsKey = kernel.secret('api-key-ops');
console.log(JSON.stringify({ morUrl, stripeUrl, psp: mor.psp, opsKey, secrets }));
process.once('SIGTERM', () => process.exit(0));
