// The SANDBOX_… settings of `npm run sandbox`.
import { LONGEST_HOURS } from './kernel/failing-endpoints.js';
import { readReplies } from './mor/open-facts.js';
import { type SandboxOptions } from './sandbox.js';
import { LONGEST_GRACE_HOURS } from './stripe/billing.js';

const DAEMON = 'http://127.0.0.1:3000';

/** Reads the SANDBOX_… settings. Throws an Error with the name of a wrong setting. */
export function readOptions(env: NodeJS.ProcessEnv): SandboxOptions {
  const given = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  const whole = (name: string, min: number, max: number, what: string): number | undefined => {
    const text = given(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!/^\d{1,5}$/.test(text) || value < min || value > max) throw new Error(`${name} must be ${what}`);
    return value;
  };
  const port = (name: string): number | undefined => whole(name, 0, 65_535, 'a port number');
  const hours = (name: string, max: number): number | undefined => whole(name, 1, max, `hours, from 1 to ${max}`);
  return {
    morPort: port('SANDBOX_MOR_PORT') ?? 4020,
    stripePort: port('SANDBOX_STRIPE_PORT') ?? 4010,
    stripeWebhookUrl: given('SANDBOX_STRIPE_WEBHOOK_URL') ?? `${DAEMON}/webhooks/stripe`,
    paymentWebhookUrl: given('SANDBOX_PAYMENT_WEBHOOK_URL') ?? `${DAEMON}/webhooks/mor/payments`,
    eventWebhookUrl: given('SANDBOX_EVENT_WEBHOOK_URL') ?? `${DAEMON}/webhooks/mor/events`,
    strictUrls: env['SANDBOX_STRICT_URLS'] === '1',
    direct: env['SANDBOX_DIRECT'] !== '0',
    seed: given('SANDBOX_SEED'),
    psp: given('SANDBOX_PSP'),
    host: given('SANDBOX_HOST'),
    openFacts: openFacts(given('SANDBOX_OPEN_FACTS')),
    graceHours: hours('SANDBOX_GRACE_HOURS', LONGEST_GRACE_HOURS),
    disableAfterHours: hours('SANDBOX_DISABLE_AFTER_HOURS', LONGEST_HOURS),
  };
}

/** Parses `charged_amount=present,repeats=per_event`. */
function openFacts(text: string | undefined): Readonly<Record<string, string>> | undefined {
  if (text === undefined) return undefined;
  const pairs = text.split(',').map((pair) => pair.split('='));
  const replies = Object.fromEntries(pairs.map(([name = '', word = '']) => [name.trim(), word.trim()]));
  try {
    readReplies(replies);
  } catch (error) {
    throw new Error(`SANDBOX_OPEN_FACTS: ${error instanceof Error ? error.message : 'unreadable'}`, { cause: error });
  }
  return replies;
}
