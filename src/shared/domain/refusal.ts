// The reasons of a webhook endpoint to refuse a delivery, with advice for a person. The reply, the metric and the
// notification use the same words.
import { type InboxSource } from './ports/inbox.js';

export const REFUSALS = [
  'signature_missing',
  'signature_malformed',
  'signature_mismatch',
  'timestamp_out_of_tolerance',
  'too_large',
  'headers_too_large',
  'body_too_slow',
  'unknown_expectation',
  'method_not_allowed',
  'bad_request',
  'crowded',
  'database',
  'stopping',
] as const;
export type Refusal = (typeof REFUSALS)[number];

const isRefusal = (text: string): text is Refusal => (REFUSALS as readonly string[]).includes(text);

const SECRETS: Readonly<Record<InboxSource, string>> = {
  stripe: 'STRIPE_WEBHOOK_SECRETS',
  mor_payments: 'MOR_PAYMENT_WEBHOOK_SECRETS',
  mor_events: 'MOR_EVENT_WEBHOOK_SECRETS',
};

const CHECKS: Readonly<Record<Refusal, string>> = {
  signature_missing: 'Check whether a proxy drops headers, or whether the sender delivers to the wrong address.',
  signature_malformed:
    'Check whether a proxy joins or rewrites headers, or whether the sender delivers to the wrong address.',
  signature_mismatch: '', // `whatToCheck` writes this advice, since it names the endpoint's setting
  timestamp_out_of_tolerance: 'Check the clock of this machine. Crossbill keeps a copy of the event in quarantine.',
  too_large: 'Check the size of the body, and raise WEBHOOK_BODY_LIMIT.',
  headers_too_large: 'Check the proxy: the headers are over 16 KB.',
  body_too_slow: 'Check the network, or the proxy in front of Crossbill.',
  unknown_expectation: 'Check the proxy: it adds an Expect header.',
  method_not_allowed: 'Check for a redirect, a browser or a probe: the endpoint takes POST only.',
  bad_request: 'Check the proxy: it sends broken HTTP.',
  crowded: 'Check for a flood: too many unfinished bodies arrive at once.',
  database:
    'Check the database: it is slow, full, read-only or gone, or a copy with ids in use (run `crossbill doctor`).',
  stopping: 'Wait: Crossbill is starting or stopping. If this lasts, read the log of Crossbill.',
};

/** Advice for a person after a refusal. An unknown reason is returned unchanged. */
export function whatToCheck(endpoint: InboxSource, reason: string): string {
  if (reason === 'aborted') return 'The sender closed the connection before the end of the body.';
  if (!isRefusal(reason)) return reason;
  return reason === 'signature_mismatch'
    ? `Compare ${SECRETS[endpoint]} with the secret at the sender. If they agree, a proxy changes the body, or a stranger sends it.`
    : CHECKS[reason];
}
