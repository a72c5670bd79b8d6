// The shopper's browser gets two things of the processor: a script with a choice of cards, and the one control route
// open to other origins.
import { type Handler, type Reply, Refusal, morError } from '../kernel/http.js';
import { BadInput, type Fields } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { CONFIRM_SCRIPT } from './confirm-browser.js';

/** Of the processor's account, for browsers: public, as the real one. */
export function publishableKeyOf(kernel: Kernel): string {
  return kernel.secret('publishable', 'pk_sandbox_');
}

const ANY_ORIGIN = { 'access-control-allow-origin': '*' };

/** A page of another origin may read its answers, refusals too. */
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

/** A test plays the browser without them; given names must be right. Throws BadInput. */
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
