// The processor gives the shopper's browser two things: a script with a choice of cards, and the only control route
// open to other origins.
import { type Handler, type Reply, Refusal, morError } from '../kernel/http.js';
import { BadInput, type Fields } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { CONFIRM_SCRIPT } from './confirm-browser.js';

/** The publishable key of the processor's account. Browsers get it, so it is public, as the real key is. */
export function publishableKeyOf(kernel: Kernel): string {
  return kernel.secret('publishable', 'pk_sandbox_');
}

const ANY_ORIGIN = { 'access-control-allow-origin': '*' };

/** Lets pages of another origin read the replies, refusals included. */
export function fromBrowser(handler: Handler): Handler {
  const open = (reply: Reply): Reply => ({ ...reply, headers: { ...reply.headers, ...ANY_ORIGIN } });
  return async (request) => {
    try {
      return open(await handler(request));
    } catch (error) {
      if (error instanceof BadInput) return open(morError(400, 'invalid_request', error.errors));
      if (error instanceof Refusal) return open(error.reply);
      throw error;
    }
  };
}

/**
 * Checks the browser's parameters. A test that plays the browser may leave them out. Throws BadInput for a wrong
 * parameter.
 */
export function checkBrowser(kernel: Kernel, fields: Fields, clientSecret: string): void {
  const secret = fields.optionalString('client_secret') ?? clientSecret;
  if (secret !== clientSecret) fields.refuse('client_secret', 'is not the one of this intent');
  const key = fields.optionalString('publishable_key') ?? publishableKeyOf(kernel);
  if (key !== publishableKeyOf(kernel)) fields.refuse('publishable_key', 'is not the one of this account');
}

export function addConfirmScript(kernel: Kernel): void {
  const script = Buffer.from(CONFIRM_SCRIPT);
  kernel.control('GET', '/_sandbox/confirm.js', 'the script that stands for the processor’s in a browser', () => ({
    status: 200,
    headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' },
    body: script,
  }));
  kernel.control('OPTIONS', '/_sandbox/intents/:id/confirm', 'a browser asks whether it may', () => ({
    status: 204,
    headers: {
      ...ANY_ORIGIN,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type',
      'access-control-max-age': '600',
    },
  }));
}
