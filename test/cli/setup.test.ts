// `crossbill setup` against the sandbox's Stripe and MoR: its objects there, its file, and a second run.
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { stripeInvoiceTypes } from '../../src/shared/domain/events/stripe-event.js';
import { MOR_SERVICE_TYPES } from '../../src/core/mor-objects/event-rows.js';
import { startWorld, type World } from '../support/rigs/world.js';
import { cli, type Ran } from './rig.js';

const URL_OF_OURS = 'https://bridge.example.com';
let world: World;
let folder: string;
let host = 0;
/** Each test has its own address: none finds another's endpoints. */
let url: string;
beforeAll(async () => {
  world = await startWorld();
  await world.startDaemon(); // migrates doctor's database
});
afterAll(() => world.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'crossbill-setup-'));
  url = URL_OF_OURS.replace('bridge', `bridge-${++host}`);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The environment of the world without setup's results. */
function environment(...without: readonly string[]): Record<string, string> {
  const { STRIPE_WEBHOOK_SECRETS: _a, MOR_EVENT_WEBHOOK_SECRETS: _b, ...env } = world.env;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !without.includes(name)));
}
const setup = (argv: readonly string[], env = environment(), reply?: string): Promise<Ran> =>
  cli(['setup', ...argv], env, { cwd: folder, ...(reply === undefined ? {} : { reply }) });
const file = (): string => readFileSync(join(folder, '.env'), 'utf8');
const atStripe = async () =>
  (await world.stripe.webhookEndpoints.list({ limit: 100 })).data.filter((e) => e.url.startsWith(url));
const atMor = async () => {
  const listed = await cli(['webhooks', 'list', '--json'], world.env);
  const { data } = JSON.parse(listed.out) as { data: { id: string; url: string; events: string[] }[] };
  return data.filter((e) => e.url.startsWith(url));
};

it('`crossbill setup` registers webhook endpoints at Stripe and the MoR, writes their secrets and runs `crossbill doctor`', async () => {
  const ran = await setup(['--url', `${url}/`, '--yes']);
  expect(ran.err).not.toMatch(/Error|undefined/);
  const [stripe, ...moreAtStripe] = await atStripe();
  expect(moreAtStripe).toEqual([]);
  expect(stripe).toMatchObject({ url: `${url}/webhooks/stripe`, status: 'enabled' });
  expect(stripe?.api_version).toBe((await import('stripe')).default.API_VERSION);
  expect([...(stripe?.enabled_events ?? [])].sort()).toEqual([...stripeInvoiceTypes].sort());
  const [mor, ...moreAtMor] = await atMor();
  expect(moreAtMor).toEqual([]);
  expect(mor?.url).toBe(`${url}/webhooks/mor/events`);
  expect([...(mor?.events ?? [])].sort()).toEqual([...MOR_SERVICE_TYPES].sort());
  const written = parseEnv(file());
  const secret = [...world.sandbox.stripe.state.endpoints.values()].find((e) => e.url.startsWith(url))?.secret;
  expect(written['STRIPE_WEBHOOK_SECRETS']).toBe(secret);
  expect(written['MOR_EVENT_WEBHOOK_SECRETS']).toMatch(/^\S{16,}$/);
  expect(ran.out).toContain(`Made ${stripe?.id} at Stripe; its secret is in STRIPE_WEBHOOK_SECRETS.`);
  expect(ran.out).toMatch(/^\d+ ok, \d+ to look at, \d+ failed$/m);
  expect(ran.out).toMatch(/^ok +settings +all valid$/m);
  // It shows no secret, and nobody else reads the file.
  for (const value of [secret, written['MOR_EVENT_WEBHOOK_SECRETS'], world.env['STRIPE_API_KEY']])
    expect(ran.out + ran.err).not.toContain(value);
  expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['.env']);
});

it('a second run of `crossbill setup` registers nothing and changes no byte of the settings file', async () => {
  await setup(['--url', url, '--yes']);
  const before = file();
  const ran = await setup(['--url', url, '--yes']);
  expect(ran.out).toContain('Stripe and the MoR need no change.');
  expect(file()).toBe(before);
  expect([(await atStripe()).length, (await atMor()).length]).toEqual([1, 1]);
});

it('`crossbill setup --dry-run` prints its plan and changes nothing', async () => {
  const ran = await setup(['--url', url, '--dry-run']);
  expect(ran.code).toBe(0);
  expect(ran.out).toContain(
    `Stripe: make a webhook endpoint for ${url}/webhooks/stripe with ${stripeInvoiceTypes.length} events`,
  );
  expect([await atStripe(), await atMor(), readdirSync(folder)]).toEqual([[], [], []]);
});

it('`crossbill setup` changes nothing after the answer no', async () => {
  const ran = await setup(['--url', url], environment(), 'n');
  expect([ran.code, ran.err]).toEqual([1, expect.stringContaining('Go ahead? [y/N] Nothing was done.')]);
  expect([await atStripe(), await atMor(), readdirSync(folder)]).toEqual([[], [], []]);
});

it("`crossbill setup` adds missing events to an existing Stripe endpoint and keeps the endpoint's other events", async () => {
  await world.stripe.webhookEndpoints.create({
    url: `${url}/webhooks/stripe`,
    enabled_events: ['invoice.created', 'customer.deleted'],
  });
  const ran = await setup(['--url', url, '--yes']);
  const [endpoint] = await atStripe();
  expect([...(endpoint?.enabled_events ?? [])].sort()).toEqual([...stripeInvoiceTypes, 'customer.deleted'].sort());
  expect(ran.out).toMatch(/By hand:\n[^]*Put the signing secret of we_\w+ into STRIPE_WEBHOOK_SECRETS/);
});

it('the daemon accepts a Stripe event signed with the secret from `crossbill setup`', async () => {
  await setup(['--url', url, '--yes']);
  const daemon = await world.startDaemon({ STRIPE_WEBHOOK_SECRETS: parseEnv(file())['STRIPE_WEBHOOK_SECRETS'] ?? '' });
  const body = JSON.stringify({
    id: 'evt_setup',
    object: 'event',
    type: 'invoice.created',
    data: { object: { id: 'in_s', object: 'invoice' } },
  });
  const header = world.stripe.webhooks.generateTestHeaderString({
    payload: body,
    secret: parseEnv(file())['STRIPE_WEBHOOK_SECRETS'] ?? '',
  });
  const res = await fetch(`${daemon.url}/webhooks/stripe`, {
    method: 'POST',
    body,
    headers: { 'stripe-signature': header },
  });
  expect(res.status).toBe(200);
});

it('`crossbill setup` keeps all other lines of an existing settings file and the secrets in use', async () => {
  const lines = ['# ours', 'LOG_LEVEL=warn   # quiet', "STRIPE_WEBHOOK_SECRETS='whsec_of_before_0123456789'", ''];
  writeFileSync(join(folder, '.env'), lines.join('\n'));
  await setup(['--url', url, '--yes']);
  const written = file().split('\n');
  expect(written.slice(0, 2)).toEqual(lines.slice(0, 2));
  expect(written[2]).toMatch(/^STRIPE_WEBHOOK_SECRETS=whsec_\w+,whsec_of_before_0123456789$/);
  expect(written[3]).toMatch(/^MOR_EVENT_WEBHOOK_SECRETS=\S+$/);
});

it('`crossbill setup` warns that a secret in the environment wins over the new secret in the settings file', async () => {
  const ran = await setup(['--url', url, '--yes'], {
    ...environment(),
    STRIPE_WEBHOOK_SECRETS: 'whsec_elsewhere_0123456789',
  });
  expect(ran.out).toContain('but the environment also sets STRIPE_WEBHOOK_SECRETS and wins: put the secret there too.');
});

it('`crossbill setup` refuses missing settings if there is no terminal to ask on', async () => {
  const names = ['STRIPE_API_KEY', 'MOR_BASE_URL', 'MOR_AUTH_URL', 'MOR_CLIENT_ID', 'MOR_CLIENT_SECRET'];
  const ran = await setup(['--url', url, '--yes'], environment(...names));
  expect([ran.code, ran.out]).toEqual([2, '']);
  expect(ran.err).toContain(`Not set: ${names.join(', ')}.`);
  expect(readdirSync(folder)).toEqual([]);
});

it.each([
  ['http://bridge.example.com'],
  ['bridge.example.com'],
  ['https://u:p@bridge.example.com'],
  ['https://b.example.com?x=1'],
  [''],
])('`crossbill setup` refuses the address %p and proposes a tunnel', async (wrong) => {
  const ran = await setup(['--url', wrong, '--yes']);
  expect([ran.code, ran.out]).toEqual([2, '']);
  expect(ran.err).toContain('--url must be the https address');
  expect(ran.err).toContain('cloudflared tunnel --url');
});

it('`crossbill setup` refuses a key unknown to Stripe and writes nothing', async () => {
  const ran = await setup(['--url', url, '--yes'], { ...environment(), STRIPE_API_KEY: 'sk_test_nobody0123456789' });
  expect([ran.code, ran.out]).toEqual([1, '']);
  expect(ran.err).toMatch(/^Stripe: .*\.\n$/);
  expect(readdirSync(folder)).toEqual([]);
});

it('`crossbill setup` ends with exit code 4 if Stripe does not answer', async () => {
  const ran = await setup(['--url', url, '--yes'], { ...environment(), STRIPE_API_BASE: 'http://127.0.0.1:1' });
  expect([ran.code, ran.out]).toEqual([4, '']);
  expect(readdirSync(folder)).toEqual([]);
});

it('`crossbill setup` puts new secrets in force behind a link, on lines with blanks around the sign', async () => {
  mkdirSync(join(folder, 'shared'));
  const lines = Object.entries(world.env).map(([name, value]) => `${name} = ${value}\n`);
  writeFileSync(join(folder, 'shared/env'), `# STRIPE_WEBHOOK_SECRETS=<whsec_…>\n${lines.join('')}`, { mode: 0o640 });
  symlinkSync('shared/env', join(folder, '.env'));
  await setup(['--url', url, '--yes'], { PATH: process.env.PATH ?? '' });
  const secret = [...world.sandbox.stripe.state.endpoints.values()].find((e) => e.url.startsWith(url))?.secret ?? '';
  expect(secret).not.toBe('');
  expect(parseEnv(file())['STRIPE_WEBHOOK_SECRETS']?.split(',')[0]).toBe(secret);
  expect(lstatSync(join(folder, '.env')).isSymbolicLink()).toBe(true);
  expect(statSync(join(folder, 'shared/env')).mode & 0o777).toBe(0o640);
});
