// The headers of Standard Webhooks: id, time and one signature per secret.
import { Webhook } from 'standardwebhooks';
import { type Secret } from '../../shared/config/index.js';

/**
 * Makes the headers, with a signature for each secret. Receivers without a check (Slack) have no secret and get no
 * signature. The first secret is the current one.
 */
export function signedHeaders(
  { id, body }: { readonly id: string; readonly body: string },
  secrets: readonly Secret[],
  at: Date,
): Record<string, string> {
  const signatures = secrets.map((s) => new Webhook(s.reveal()).sign(id, at, body));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    ...(signatures.length === 0 ? {} : { 'webhook-signature': signatures.join(' ') }),
  };
}
