// The schema of each notification, in OpenAPI 3.1's form for webhooks.
import { type Webhooks } from '../../frames/api/http/openapi.js';
import { NOTIFICATION_TYPES, NOTIFICATIONS, sampleOf } from './rules/all.js';
import { type NotificationType } from '../../shared/domain/notification.js';
import { type JsonSchema, schemaOfFields, time } from '../../shared/domain/notification-fields.js';

const AT = '2026-11-22T09:00:00.000Z';
const timestamp = time(
  'The time of the event, or of its discovery. It is part of the body, so it is the same in each try.',
  AT,
);

export function schemaOf(type: NotificationType): JsonSchema {
  const properties = {
    type: { const: type },
    timestamp: timestamp.schema,
    data: schemaOfFields(NOTIFICATIONS[type].fields),
  };
  return { type: 'object', properties, required: Object.keys(properties) };
}

/** The member `webhooks` of the OpenAPI document. */
export function notificationWebhooks(): Webhooks {
  const header = (name: string, description: string) => ({
    name,
    in: 'header' as const,
    required: true,
    description,
    schema: { type: 'string' },
  });
  return Object.fromEntries(
    NOTIFICATION_TYPES.map((type) => {
      const example = { type, timestamp: AT, data: sampleOf(type, 'example').data };
      const post = {
        operationId: `notification_${type.replace('.', '_')}`,
        summary: NOTIFICATIONS[type].summary,
        tags: ['Notifications'],
        security: [], // no login: the signature is the proof
        parameters: [
          header('webhook-id', 'The same in each try and replay: if you know the id, do nothing.'),
          header('webhook-timestamp', 'The time of sending in Unix seconds; refuse it after five minutes.'),
          header('webhook-signature', 'Standard Webhooks: one `v1,…` for each secret, separated by blanks.'),
        ],
        requestBody: { required: true, content: { 'application/json': { schema: schemaOf(type), example } } },
        responses: {
          '2XX': { description: 'You took it. Answer within 15 seconds.' },
          '410': { description: 'The receiver is gone: Crossbill sends nothing more.' },
          default: { description: 'Crossbill tries again: ten times in three days.' },
        },
      };
      return [type, { post }];
    }),
  );
}
