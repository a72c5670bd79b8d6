// A stored body for a person's eyes.
import { expect, it } from '@jest/globals';
import { masked, rawBody } from '../../../../src/shared/masks/event-body.js';

const BODY = {
  customer: 'cus_1',
  customer_email: 'a@b.c',
  customer_address: { city: 'X' },
  client_secret: 'pi_1_secret_abcdefgh',
  customerName: 'Ada',
  number: '4111-2026-0001-1118',
  failure_message: 'card 4242 4242 4242 4242 declined',
};

it('the console shows a stored event without names, addresses, card numbers and secrets', () => {
  expect(masked(BODY)).toEqual({
    customer: 'cus_1',
    customer_email: '[masked]',
    customer_address: '[masked]',
    client_secret: '[masked]',
    customerName: '[masked]',
    number: '4111-2026-0001-1118',
    failure_message: 'card [masked] declined',
  });
});

it('the raw view of an event shows names and addresses, and never secrets or card numbers', () => {
  expect(rawBody(Buffer.from(JSON.stringify(BODY)))).toMatchObject({
    customer_email: 'a@b.c',
    customer_address: { city: 'X' },
    client_secret: '[masked]',
    failure_message: 'card [masked] declined',
  });
  expect(rawBody(Buffer.from('no JSON, whsec_0123456789abcdef'))).toBe('no JSON, whsec_[secret]');
});
