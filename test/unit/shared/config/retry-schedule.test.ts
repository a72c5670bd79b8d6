// What a schedule of retries may say.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { loadConfig } from '../../../../src/shared/config/index.js';
import { retrySchedule } from '../../../../src/shared/config/retry-schedule.js';
import { RETRY_ENDS } from '../../../../src/shared/domain/retry.js';

const DAY_MS = 86_400_000;

const parsed = (text: string): unknown => {
  const p = retrySchedule.parse(text);
  return p.ok ? p.value : p.problem;
};

it('RETRY_SCHEDULE=off means no retries, and the default has charges after three, five and seven days, and payment links', () => {
  expect(parsed('off')).toBeNull();
  expect(parsed('default')).toEqual(parsed('soft=3d,5d,7d hard=link authentication=link end=nothing'));
  expect(parsed('end=cancel')).toMatchObject({ end: 'cancel', hard: [{ do: 'link' }] });
  expect(parsed('hard=none')).toMatchObject({ hard: [], authentication: [{ do: 'link' }] });
});

it.each([
  ['soft=3x', 'entry 1 (soft): step 1 must be a wait'],
  ['soft=3d,5d,', 'entry 1 (soft): step 3 must be a wait'],
  ['soft=3d hard=31d', 'entry 2 (hard): step 1 must be a wait of at most 30 days'],
  ['soft=0d', 'entry 1 (soft): step 1'],
  ['soft=link,3d', 'entry 1 (soft): step 1: a link must be the last step'],
  ['soft=1d,1d,1d,1d,1d,1d,1d,1d,1d', 'entry 1 (soft): has more than 8 steps'],
  ['hard=link hard=link', 'entry 2: hard appears a second time'],
  ['soft=3d end=maybe', 'entry 2: end must be one of nothing, uncollectible, cancel'],
  ['middling=3d', 'entry 1 must begin with soft=, hard=, authentication= or end='],
  ['3d,5d', 'entry 1 must begin with'],
  ['off soft=3d', 'entry 1 must begin with'],
])('the daemon refuses the RETRY_SCHEDULE %s and names the wrong place: %s', (text, problem) => {
  expect(parsed(text)).toContain(problem);
  expect(parsed(text)).not.toContain(text);
});

it('the parser of RETRY_SCHEDULE returns a schedule or a problem for any text, and never throws', () => {
  const step = fc.oneof(
    fc.tuple(fc.integer({ min: 1, max: 30 }), fc.constantFrom('h', 'd')).map(([n, unit]) => `${n}${unit}`),
  );
  const entry = fc.tuple(
    fc.constantFrom('soft', 'hard', 'authentication'),
    fc.array(step, { minLength: 1, maxLength: 8 }),
  );
  fc.assert(
    fc.property(entry, fc.constantFrom(...RETRY_ENDS), fc.boolean(), ([kind, steps], end, link) => {
      const items = link && steps.length < 8 ? [...steps, 'link'] : steps;
      const value = parsed(`${kind}=${items.join(',')} end=${end}`) as Record<string, { do: string }[]>;
      expect(value['end']).toBe(end);
      expect(value[kind]).toHaveLength(items.length);
      for (const [at, s] of steps.entries())
        expect(value[kind]?.[at]).toEqual({
          do: 'charge',
          afterMs: Number.parseInt(s, 10) * (s.endsWith('d') ? DAY_MS : DAY_MS / 24),
        });
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      const p = retrySchedule.parse(text);
      expect(p.ok || (p.problem.length > 0 && p.problem.length < 300)).toBe(true);
    }),
  );
});

const env: Record<string, string> = {
  DATABASE_URL: 'postgres://u:p@127.0.0.1/x',
  STRIPE_API_KEY: 'sk_test_1234567890',
  STRIPE_WEBHOOK_SECRETS: 'whsec_1234567890',
  MOR_BASE_URL: 'https://mor.example',
  MOR_AUTH_URL: 'https://mor.example',
  MOR_CLIENT_ID: 'client',
  MOR_CLIENT_SECRET: 'client-secret-1',
  MOR_PAYMENT_WEBHOOK_SECRETS: 'payment-secret-1',
  MOR_EVENT_WEBHOOK_SECRETS: 'event-secret-1',
  API_KEYS: `ops:ops:${'k'.repeat(32)}`,
};
const RELAY = { MOR_RELAY_URL: 'https://mor.example/relay', MOR_RELAY_SECRET: 'relay-secret-1' };
const LINKS = { RECOVERY_LINK_JURISDICTION: 'GB', RECOVERY_LINK_RETURN_URL: 'https://shop.example/thanks' };
const start = (over: Record<string, string>) => () => loadConfig({ ...env, ...over });

it('the daemon refuses a RETRY_SCHEDULE with a step that needs a missing setting, such as MOR_RELAY_URL', () => {
  const wrong = start({ ...RELAY, RETRY_SCHEDULE: 'default' });
  expect(wrong).toThrow(/RETRY_SCHEDULE.*hard, step 1 is a payment link and needs RECOVERY_LINK_JURISDICTION/);
  const neither = start({ RETRY_SCHEDULE: 'default' });
  expect(neither).toThrow(
    /soft, step 1.* needs MOR_RELAY_URL.*hard, step 1.* needs RECOVERY_LINK_.*authentication, step 1/,
  );
  const alone = start({ RETRY_SCHEDULE: 'soft=3d hard=none authentication=none' });
  expect(alone).toThrow(/soft, step 1 is another charge by the MoR and needs MOR_RELAY_URL/);
  expect(start({ ...RELAY, RETRY_SCHEDULE: 'soft=3d hard=none authentication=none' })).not.toThrow();
  expect(start({ ...LINKS, RETRY_SCHEDULE: 'default' })).not.toThrow();
});

it('in production, the daemon refuses a RETRY_SCHEDULE with pauses under an hour', () => {
  const short = { ...RELAY, ...LINKS, RETRY_SCHEDULE: 'soft=1s,59m' };
  expect(start(short)).not.toThrow();
  expect(start({ ...short, NODE_ENV: 'production' })).toThrow(/soft, step 1 is less than an hour/);
  expect(start({ ...short, NODE_ENV: 'production', RETRY_SCHEDULE: 'soft=60m' })).not.toThrow();
});
