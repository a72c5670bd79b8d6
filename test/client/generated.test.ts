// The generated half of the client agrees with today's OpenAPI document.
import { expect, it } from '@jest/globals';
import { generatedClient } from '../../tools/client/generate.js';
import { openApiDocument, routesOf } from '../../tools/docs/routes-reference.js';
import { ROUTES } from '../../packages/client/src/generated/operations.js';
import { textOf } from '../docs/support.js';

it('the generated client equals the output of `npm run client`', async () => {
  for (const { path, text } of await generatedClient()) expect({ path, text: textOf(path) }).toEqual({ path, text });
});

it('the typed client has a method for every operation, and repeats only POSTs that are safe to repeat', async () => {
  const operations = routesOf(await openApiDocument());
  expect(Object.keys(ROUTES).sort()).toEqual(operations.map(({ operation }) => operation['operationId']).sort());
  const posts = Object.entries(ROUTES).filter(([, [method]]) => method === 'POST');
  const by = (repeat: string): string[] => posts.filter(([, route]) => route[3] === repeat).map(([name]) => name);
  expect(by('key').sort()).toEqual([
    'createPaymentLink',
    'createPaymentMethod',
    'createProforma',
    'createRefund',
    'createSignup',
    'linkCustomer',
    'recordReturn',
    'retryInvoice',
    'undoReturn',
  ]);
  // A second registration would be a second endpoint; a second replay a second delivery.
  expect(by('never')).toEqual(expect.arrayContaining(['createMorWebhook', 'replayNotification', 'resolveReview']));
});
