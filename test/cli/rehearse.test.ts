// `crossbill rehearse` against the sandbox and a real daemon: one run from start to end, interrupted and resumed, each
// open fact the other way, and its refusals before any change.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { OPS_KEY, READ_KEY, startWorld, type World } from '../support/rigs/world.js';
import { deafMor } from '../e2e/support/story.js';
import { stranger } from '../e2e/support/stranger.js';
import { cli, type CliOptions, type Ran } from './rig.js';

type Report = {
  accountId: string;
  ids: Record<string, string>;
  steps: { name: string; state: string; detail: string }[];
  facts: Record<string, Record<string, unknown>[]>;
};

const STEPS = [
  'settings and permissions',
  'customer',
  'answers of the MoR',
  'signup',
  'first invoice paid',
  'renewal',
  'mark',
  'part refund',
  'declined renewal',
  'another card',
  'retry',
  'payment link',
  'growing draft',
  'two trials',
  'verify',
];

let world: World;
let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'crossbill-rehearse-'));
  world = await startWorld({ STRIPE_CUSTOM_PAYMENT_METHOD_TYPE: 'cpmt_mor' });
  Object.assign(world.env, {
    MOR_RELAY_URL: `${world.sandbox.morUrl}/relay/stripe`,
    MOR_RELAY_SECRET: world.sandbox.secrets.relaySecret,
  });
});
afterEach(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

const rehearse = (
  more: readonly string[] = [],
  env: Record<string, string> = {},
  options: CliOptions = {},
): Promise<Ran> =>
  cli(
    [
      'rehearse',
      '--yes',
      '--dir',
      folder,
      '--url',
      world.daemons[0]?.url ?? 'http://127.0.0.1:1',
      '--wait',
      '20',
      ...more,
    ],
    { ...world.env, ...env },
    { cwd: folder, ...options },
  );
const report = (): Report => JSON.parse(readFileSync(join(folder, 'rehearsal.json'), 'utf8')) as Report;
const stateOf = (report: Report, name: string): string | undefined => report.steps.find((s) => s.name === name)?.state;
const clocks = async (): Promise<number> => (await world.stripe.testHelpers.testClocks.list()).data.length;
/** At Stripe and at the MoR. */
const changes = async (): Promise<number> => {
  const all = (await world.control('GET', '/requests')).body['data'] as { method: string; path: string }[];
  return all.filter((r) => r.method !== 'GET' && r.method !== 'HEAD' && r.path !== '/oauth2/token').length;
};

it('`crossbill rehearse` passes every step on a test clock next to a customer with a card, and the report contains no secret and no personal data', async () => {
  await stranger(world, { card: true });
  await world.startDaemon();
  const ran = await rehearse(['--country', 'GB']);
  const r = report();
  expect(r.steps.map((s) => [s.name, s.state, s.state === 'passed' ? '' : s.detail])).toEqual(
    STEPS.map((name) => [name, 'passed', '']),
  );
  expect(ran.code).toBe(0);
  // Stripe and the MoR have exactly the steps' objects.
  const invoices = await world.stripe.invoices.list({ customer: r.ids['customer'] ?? '' });
  expect(invoices.data.map((i) => [i.status, i.amount_paid])).toEqual([
    ['open', 1000],
    ['paid', 1000],
    ['paid', 1000],
    ['paid', 1000],
  ]);
  const { data } = (await world.control('GET', `/mor/payments?customer=${r.ids['customer'] ?? ''}`)).body;
  expect((data as { status: string }[]).map((p) => p.status)).toEqual([
    'succeeded',
    'partially_refunded',
    'failed',
    'succeeded',
    'succeeded',
  ]);
  // The facts.
  const { facts } = r;
  expect(facts['setup_customer']).toContainEqual(expect.objectContaining({ status: 200, code: null }));
  expect(facts['setup_customer']).toContainEqual({ saved_method: 'pays for its customer', decline_code: null });
  expect(facts['draft_charge']).toContainEqual(expect.objectContaining({ verdict_while: 'draft' }));
  expect(facts['renewal_tax']).toEqual([{ amount_due: 1000, charged: 1000, tax_on_top: 0 }]);
  expect(facts['grown_draft']).toEqual([{ drafted: 1000, amount_due: 1210, charged: 1000, relay: 'created' }]);
  expect(facts['trial_order']).toEqual([{ working_card: 'paid', declining_card: 'insufficient_funds' }]);
  expect(facts['trial_tax']).toMatchObject([{ age_minutes: 0, status: 200, code: null }]);
  expect(facts['relayed_again']).toEqual([expect.objectContaining({ charged_again: true })]);
  expect(facts['signatures']).toContainEqual({
    endpoint: 'mor_payments',
    accepted_form: 't=<10 digits>,v1=<64 hex>',
    malformed_form: null,
  });
  expect(facts['charge_lookup']?.map((f) => f['charge_of'])).toEqual(['signup', 'renewal']);
  expect((facts['charge_lookup']?.[0]?.['answers'] as string[]).map((a) => a.slice(0, 3))).toEqual(['202', '200']);
  expect(facts['unknown_charge']).toEqual([
    { status: 404, code: 'not_found', members: ['code', 'errors[]'], words: null },
  ]);
  expect(facts['refund_ids']).toContainEqual(
    expect.objectContaining({ answer_has: ['mor_refund_id', 'processor_refund_id'] }),
  );
  expect(facts['event_fields']?.map((f) => f['type'])).toEqual(
    expect.arrayContaining(['payment.succeeded', 'payment.failed', 'payment.refunded', 'payment.captured']),
  );
  expect(facts['link_ids']).toEqual([{ payment_id: 'not named', also: ['processor_charge_id'] }]);
  expect(facts['error_bodies']).toContainEqual(
    expect.objectContaining({ request: 'empty payment intent', status: 400, code: 'invalid_request' }),
  );
  expect(facts['retry_after']).toContainEqual(expect.objectContaining({ status: 202, retry_after: '2' }));
  expect(facts['key_life']).toContainEqual(expect.objectContaining({ answer: 'same' }));
  // No forbidden content.
  const files = ['rehearsal.json', 'rehearsal.md'].map((f) => readFileSync(join(folder, f), 'utf8')).join('');
  const names = [
    'STRIPE_API_KEY',
    'MOR_CLIENT_SECRET',
    'MOR_PAYMENT_WEBHOOK_SECRETS',
    'STRIPE_WEBHOOK_SECRETS',
    'MOR_RELAY_SECRET',
  ];
  for (const secret of [OPS_KEY, ...names.map((name) => world.env[name] ?? '')])
    expect(files + ran.out + ran.err).not.toContain(secret);
  expect(files + ran.out + ran.err).not.toMatch(/_secret_|@example|Bearer/);
  expect(readdirSync(folder).sort()).toEqual(['rehearsal.json', 'rehearsal.md']);

  // Run again, it does nothing a second time.
  const again = await rehearse(['--country', 'GB']);
  expect([again.code, await clocks()]).toEqual([0, 1]);
  expect(report().ids).toEqual(r.ids);
});

it('after an interruption `crossbill rehearse` goes on with the same customer and charges nothing twice', async () => {
  await world.startDaemon();
  const ending = new AbortController();
  await world.control('POST', '/faults', {
    side: 'stripe',
    method: 'POST',
    path: '/v1/payment_records/report_payment',
    action: 'delay_ms',
    delay_ms: 3_000,
  });
  const running = rehearse([], {}, { signal: ending.signal });
  await world.until(
    'the signup is charged',
    () => Promise.resolve(readdirSync(folder).length > 0 && report().ids['charge'] !== undefined),
    Boolean,
  );
  ending.abort();
  const first = await running;
  expect([first.code, stateOf(report(), 'signup')]).toEqual([5, 'passed']);
  const customer = report().ids['customer'];
  const ran = await rehearse();
  const r = report();
  expect(ran.code).toBe(0);
  expect([r.ids['customer'], await clocks()]).toEqual([customer, 1]);
  expect(r.steps.filter((s) => s.state === 'failed')).toEqual([]);
  expect(stateOf(r, 'payment link')).toBe('skipped');
  const payments = (await world.control('GET', `/mor/payments?customer=${customer ?? ''}`)).body['data'];
  expect(payments).toHaveLength(5);
});

it('`crossbill rehearse` reports how the MoR behaves where its documents leave a choice', async () => {
  await world.control('POST', '/mor/open-facts', {
    charges_at: 'finalized',
    second_created: 'ignored',
    signature: 'upper_case',
    charge_lookup: 'at_once',
    not_found: 'bare',
    errors: 'nested',
    retry_after: 'left_out',
    keys: 'forgotten',
  });
  await world.startDaemon();
  const ran = await rehearse(['--wait', '12']);
  const { facts, steps } = report();
  expect([ran.code, steps.filter((s) => s.state === 'failed').map((s) => s.name)]).toEqual([1, ['retry']]);
  expect(facts['draft_charge']).toContainEqual(expect.objectContaining({ verdict_while: 'final' }));
  expect(facts['relayed_again']).toEqual([expect.objectContaining({ charged_again: false })]);
  expect(facts['signatures']).toContainEqual(expect.objectContaining({ accepted_form: 't=<10 digits>, v1=<64 HEX>' }));
  expect((facts['charge_lookup']?.[0]?.['answers'] as string[]).map((a) => a.slice(0, 3))).toEqual(['200']);
  expect(facts['unknown_charge']).toEqual([{ status: 404, code: null, members: ['message'], words: 'Not Found' }]);
  expect(facts['error_bodies']).toContainEqual(expect.objectContaining({ members: ['error.code', 'error.message'] }));
  expect(facts['retry_after']).toEqual([]);
  expect(facts['key_life']).toContainEqual(expect.objectContaining({ answer: 'new' }));
  expect(stateOf(report(), 'verify')).toBe('passed');
});

it('`crossbill rehearse` reports a renewal charged with a tax on top, and fails at its mark', async () => {
  await world.control('POST', '/mor/open-facts', { renewal_tax: 'added' });
  await world.startDaemon();
  const ran = await rehearse(['--wait', '12']);
  expect([ran.code, stateOf(report(), 'mark')]).toEqual([1, 'failed']);
  expect(report().facts['renewal_tax']).toEqual([{ amount_due: 1000, charged: 1190, tax_on_top: 190 }]);
});

it('`crossbill rehearse` reports the charge of a grown draft’s final amount with MOR_RELAY_EVENTS=finalized', async () => {
  await deafMor(world);
  world.env['MOR_RELAY_EVENTS'] = 'finalized';
  await world.startDaemon();
  const ran = await rehearse(['--wait', '6']);
  const { facts, steps } = report();
  expect([ran.code, steps.filter((s) => s.state === 'failed')]).toEqual([0, []]);
  expect(facts['grown_draft']).toEqual([{ drafted: 1000, amount_due: 1210, charged: 1210, relay: 'finalized' }]);
  expect(facts['draft_charge']?.every((f) => f['verdict_while'] === 'final')).toBe(true);
});

it('`crossbill rehearse` names the setting MOR_SETUP_CUSTOMER if the MoR refuses a customer in a setup intent', async () => {
  await world.control('POST', '/mor/account', { setup_customer: 'refuse' });
  await world.startDaemon();
  const ran = await rehearse();
  const r = report();
  expect([ran.code, stateOf(r, 'declined renewal'), stateOf(r, 'another card')]).toEqual([1, 'failed', undefined]);
  expect(r.facts['setup_customer']).toContainEqual(
    expect.objectContaining({
      request: 'setup intent by Crossbill',
      sent: 'send',
      status: 400,
      fields: ['merchant_customer'],
    }),
  );
  expect(r.steps.find((s) => s.name === 'declined renewal')?.detail).toContain('MOR_SETUP_CUSTOMER=omit');
});

it("`crossbill rehearse` stops if the MoR's signature is unreadable, and reports the signature's form", async () => {
  await world.control('POST', '/mor/open-facts', { signature: 'prefixed' });
  await world.startDaemon();
  const ran = await rehearse(['--wait', '4']);
  expect([ran.code, stateOf(report(), 'renewal')]).toEqual([1, 'failed']);
  expect(report().facts['signatures']).toEqual([
    { endpoint: 'mor_payments', accepted_form: null, malformed_form: 't=<10 digits>,v1=sha256=<64 hex>' },
  ]);
});

/** One sentence, no file, and no changing request. */
async function refused(running: Promise<Ran>, code: number, word: RegExp): Promise<void> {
  const before = await changes();
  const ran = await running;
  expect([ran.code, ran.out]).toEqual([code, '']);
  expect(ran.err).toMatch(word);
  expect([await changes(), readdirSync(folder), await clocks()]).toEqual([before, [], 0]);
}

it('`crossbill rehearse` refuses a live Stripe key before any change', async () => {
  await world.startDaemon();
  await refused(rehearse([], { STRIPE_API_KEY: `sk_live_${'a'.repeat(24)}` }), 2, /live key/);
});

it('`crossbill rehearse` refuses to run if no daemon answers, or if the daemon refuses the API key', async () => {
  await refused(rehearse(), 4, /No daemon answers at http:\/\/127\.0\.0\.1:1/);
  await world.startDaemon();
  await refused(rehearse([], { CROSSBILL_API_KEY: 'nobody-knows-this-key-0123456789abcd' }), 1, /401/);
  await refused(rehearse([], { CROSSBILL_API_KEY: READ_KEY }), 1, /403/);
  await refused(rehearse([], { API_KEYS: `ops:ops:sha256:${'0'.repeat(64)}` }), 2, /CROSSBILL_API_KEY/);
});

it('`crossbill rehearse` refuses a daemon of another Stripe account, in live mode or in shadow mode', async () => {
  await world.startDaemon();
  const other = await startWorld();
  try {
    await refused(
      rehearse([], {
        STRIPE_API_KEY: other.env['STRIPE_API_KEY'] ?? '',
        STRIPE_API_BASE: other.env['STRIPE_API_BASE'] ?? '',
      }),
      1,
      /works for Stripe account acct_/,
    );
  } finally {
    await other.close();
  }
  const shadow = await world.startDaemon({ CROSSBILL_SHADOW: 'true' });
  await refused(rehearse(['--url', shadow.url]), 1, /shadow/);
  const live = await world.startDaemon({ STRIPE_API_KEY: `sk_live_${'a'.repeat(24)}` });
  await refused(rehearse(['--url', live.url]), 2, /live mode/);
});

it('`crossbill rehearse` writes no report file if Stripe refuses the test clock', async () => {
  await world.startDaemon();
  await world.control('POST', '/faults', {
    side: 'stripe',
    method: 'POST',
    path: '/v1/test_helpers/test_clocks',
    status: 403,
    action: 'status',
  });
  const ran = await rehearse();
  expect([ran.code, ran.out, readdirSync(folder), await clocks()]).toEqual([1, '', [], 0]);
  expect(ran.err).toMatch(/made no test clock/);
});

it('`crossbill rehearse` changes nothing after the answer no at the terminal', async () => {
  await world.startDaemon();
  const before = await changes();
  const ran = await cli(['rehearse', '--dir', folder, '--url', world.daemons[0]?.url ?? ''], world.env, {
    cwd: folder,
    reply: 'n',
  });
  expect([ran.code, ran.out, readdirSync(folder), await changes()]).toEqual([1, '', [], before]);
});
