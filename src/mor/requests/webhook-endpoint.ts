// The request to register a webhook address (Document 2, POST /api/webhooks).
import { isIP } from 'node:net';
import { morServiceTypes } from '../../domain/events/mor-service-event.js';
import { type BrokenCondition, type Checked, checkRequest } from './check.js';
import { About, Filled, Optional, Text, TextList } from './rules.js';

/** Document 2, "Events", with the two that are announced and not sent yet. */
const KNOWN: ReadonlySet<string> = new Set([...morServiceTypes, 'payment.settled', 'report.available']);

export class WebhookEndpointRequest {
  @Filled(2048) url!: string;
  @About("At least one, each of Document 2's.")
  @TextList()
  events!: string[];
  @Optional() @Text(1024) description?: string;
}

export function checkWebhookEndpoint(body: unknown): Checked<WebhookEndpointRequest> {
  return checkRequest(WebhookEndpointRequest, body, 'validation_error', ({ url, events }): BrokenCondition[] => {
    if (events.length === 0) {
      return [{ field: 'events', message: 'must name at least one event type', code: 'unknown_event' }];
    }
    const unknown = events.find((name) => !KNOWN.has(name));
    if (unknown !== undefined) {
      return [{ field: 'events', message: `names ${unknown}, which is no event type`, code: 'unknown_event' }];
    }
    return deliverable(url) ? [] : [{ field: 'url', message: 'must be an https address', code: 'invalid_url' }];
  });
}

/** https, or http on this machine, where a rehearsal against the sandbox takes place. No user name or password. */
function deliverable(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  const loopback =
    hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));
  return protocol === 'https:' || (protocol === 'http:' && loopback);
}
