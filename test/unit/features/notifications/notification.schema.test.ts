// Every notification has a schema in the OpenAPI document, and says no more and no less than it.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from '@jest/globals';
import {
  NOTIFICATION_TYPES,
  NOTIFICATIONS,
  sampleOf,
  putDown,
} from '../../../../src/features/notifications/rules/all.js';
import { type NotificationType } from '../../../../src/shared/domain/notification.js';
import { schemaOf } from '../../../../src/features/notifications/notification.schema.js';
import { STANDARD } from '../../../support/builders/notify-as.js';

const NOW = new Date('2026-11-22T09:00:00Z');
const bodyOf = (type: NotificationType): Record<string, unknown> =>
  JSON.parse(putDown(sampleOf(type, 'x'), STANDARD, NOW).body) as Record<string, unknown>;

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, formats: { 'date-time': true } });

const ABOUT_MONEY = ['invoice_id', 'payment_id', 'refund_id', 'dispute_id'];

it('every notification about an invoice, payment, refund or dispute names customer and subscription', () => {
  const isOfMoney = (type: NotificationType): boolean =>
    Object.keys(NOTIFICATIONS[type].fields).some((name) => ABOUT_MONEY.includes(name));
  const others = NOTIFICATION_TYPES.filter((type) => !isOfMoney(type));
  expect(others).toEqual(['webhooks.refusing', 'verify.differences']);
  for (const type of NOTIFICATION_TYPES.filter(isOfMoney))
    expect([type, Object.keys(NOTIFICATIONS[type].fields)]).toEqual([
      type,
      expect.arrayContaining(['customer_id', 'subscription_id']),
    ]);
});

it.each(NOTIFICATION_TYPES)('the schema of notification %s fits its sample and requires each field', (type) => {
  const fits = ajv.compile(schemaOf(type));
  const body = bodyOf(type);
  expect([fits(body), fits.errors]).toEqual([true, null]);
  const data = body['data'] as Record<string, unknown>;
  const { properties } = schemaOf(type) as { properties: { data: { properties: Record<string, unknown> } } };
  expect(Object.keys(properties.data.properties).sort()).toEqual(Object.keys(data).sort());
  for (const field of Object.keys(data)) {
    const { [field]: _, ...rest } = data;
    expect(fits({ ...body, data: rest })).toBe(false);
  }
  expect(fits({ ...body, type: 'something.else' })).toBe(false);
});
