// The merchant's own backend, for notifications only. It verifies each notification with the library of Standard
// Webhooks, and keeps the valid ones.
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { type Reply } from './kernel/http.js';
import { Fields, isObject, type JsonObject } from './kernel/json.js';
import { type Kernel } from './kernel/kernel.js';

/** A notification at the backend. `times` counts its deliveries. */
type Notified = { readonly id: string; readonly event: JsonObject; times: number };

/** The backend shares the port of the sandbox's MoR, under this path. */
export const NOTIFY_PATH = '/backend/notifications';

/** Adds the route of the backend and its control routes. `secret` is the value of `NOTIFY_SECRETS`. */
export function addBackend(kernel: Kernel, secret: string): void {
  const notified = new Map<string, Notified>();
  const webhook = new Webhook(secret);
  let reply = 204;

  kernel.mor.add('POST', NOTIFY_PATH, (request): Reply => {
    const id = request.headers['webhook-id'] ?? '';
    let event: unknown;
    try {
      event = webhook.verify(request.raw.toString('utf8'), { ...request.headers });
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      return { status: 400, body: { code: 'invalid_signature', message: error.message } };
    }
    if (reply > 299 || !isObject(event)) return { status: reply > 299 ? reply : 400 };
    const known = notified.get(id);
    if (known === undefined) notified.set(id, { id, event, times: 1 });
    else known.times += 1;
    return { status: reply };
  });

  kernel.control('GET', '/_sandbox/notifications', 'what the backend was told, verified: ?type=', (request) => {
    const type = request.query.get('type');
    const data = [...notified.values()].filter((t) => type === null || t.event['type'] === type);
    return { status: 200, body: { data } };
  });
  kernel.control('POST', '/_sandbox/notifications', 'what the backend answers from now on: {status}', (request) => {
    reply = new Fields(request.body).number('status', 200, 599);
    return { status: 200, body: { status: reply } };
  });
}
