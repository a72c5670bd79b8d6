// The reference pages agree with today's code.
import { expect, it } from '@jest/globals';
import { SETTINGS } from '../../src/shared/config/index.js';
import { commandLine, commandsOf } from '../../tools/docs/cli-reference.js';
import { metricsOf } from '../../tools/docs/metrics-reference.js';
import { referencePages } from '../../tools/docs/reference-pages.js';
import { openApiDocument, routesOf } from '../../tools/docs/routes-reference.js';
import { textOf } from './support.js';

it('docs/reference equals the output of `npm run docs`', async () => {
  for (const { path, text } of await referencePages()) expect({ path, text: textOf(path) }).toEqual({ path, text });
});

it('docs/reference names each setting, metric, command and route', async () => {
  const settings = textOf('docs/reference/settings.md');
  for (const { name } of Object.values(SETTINGS)) expect(settings).toContain(`| \`${name}\` |`);
  const metrics = await metricsOf();
  expect(metrics.length).toBeGreaterThan(8);
  for (const { type, help } of metrics) expect([type, help]).not.toContain('');
  const commands = commandsOf(await commandLine());
  expect(commands.map(({ words }) => words)).toContain('events list');
  const routes = routesOf(await openApiDocument());
  expect(routes.map(({ method, path }) => `${method} ${path}`)).toContain('POST /v1/payments/{id}/refunds');
  const page = textOf('docs/reference/routes.md');
  for (const { method, path } of routes) expect(page).toContain(`\n| \`${method} ${path}\` |`);
});

it('docs/reference gives each route below /v1 its role', async () => {
  for (const { path, operation } of routesOf(await openApiDocument())) {
    if (path.startsWith('/v1/')) expect(['read', 'signup', 'ops']).toContain(operation['x-role']);
    else expect(operation['x-role']).toBeUndefined();
  }
});
