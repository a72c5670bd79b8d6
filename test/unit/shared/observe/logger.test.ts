// The log: one line per record, and no secret in it, wherever it was put.
import { Writable } from 'node:stream';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isSecretName } from '../../../../src/shared/masks/names.js';
import { textCensor } from '../../../../src/shared/masks/secrets.js';
import { createLogger, type Logger, NestLogger } from '../../../../src/shared/observe/index.js';
import { Secret } from '../../../../src/shared/config/index.js';
import { anyCharacter } from '../../../../packages/proof/src/fuzz/inputs/character.js';

const CANARY = 'canary"1\\secret/ü';

function aLog(options: { pretty?: boolean } = {}): {
  logger: Logger;
  text: () => string;
  records: () => Record<string, unknown>[];
} {
  let written = '';
  const destination = new Writable({
    write(chunk, _encoding, done) {
      written += String(chunk);
      done();
    },
  });
  const logger = createLogger({ level: 'trace', secrets: [CANARY], pretty: options.pretty ?? false, destination });
  const records = (): Record<string, unknown>[] =>
    written
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { logger, text: () => written, records };
}

it('the log has one JSON line per record, with the level by name and the time in UTC', () => {
  const { logger, records } = aLog();
  logger.info({ event: 'payments.marked', invoiceId: 'in_1', amountMinor: 2990n }, 'marked paid');
  logger.warn({ event: 'test.line' }, 'line one\nline two');
  const [first, second] = records();
  expect(first).toMatchObject({
    level: 'info',
    event: 'payments.marked',
    invoiceId: 'in_1',
    amountMinor: '2990',
    msg: 'marked paid',
  });
  expect(first?.['time']).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  expect(second).toMatchObject({ level: 'warn', msg: 'line one\nline two' });
});

it('the log hides secret fields by their names at any depth', () => {
  const { logger, text } = aLog();
  const hidden = {
    authorization: 'v-e-1',
    cookie: 'v-e-2',
    headers: {
      'Set-Cookie': 'v-e-3',
      'stripe-signature': 'v-e-4',
      'mor-signature': 'v-e-5',
      'service-signature': 'v-e-6',
    },
    answer: [{ intent: { client_secret: 'v-e-7', clientSecret: 'v-e-8' } }],
    STRIPE_API_KEY: new Secret('v-e-9'),
    api_key: 'v-e-10',
    accessToken: 'v-e-11',
    DATABASE_URL: 'v-e-12',
  };
  logger.info({ event: 'test.line', ...hidden }, 'seen');
  expect(text()).not.toContain('v-e-');
  expect(text()).toContain('"answer"');
});

it('the log hides Crossbill’s own secrets in any field, message, error or stack', () => {
  const { logger, text } = aLog();
  logger.info({ event: 'test.line', note: `before ${CANARY} after` }, `message ${CANARY}`);
  const err = new Error(`error ${CANARY}`, { cause: new Error(`cause ${CANARY}`) });
  logger.error({ event: 'test.line', err }, `url https://x.example/?q=${encodeURIComponent(CANARY)}`);
  expect(text()).not.toMatch(/canary/);
  expect(text()).toContain('before [secret] after');
});

it('the log hides text in the shape of a secret', () => {
  const censor = textCensor([]);
  for (const [text, kept] of [
    ['Authorization: Bearer abc.def-123456', 'Authorization: Bearer [secret]'],
    ['key sk_live_51Habcdefgh refused', 'key sk_[secret] refused'],
    ['nosk_test_canary4711canary4711', 'nosk_[secret]'],
    ['1whsec_0123456789abcdef', '1whsec_[secret]'],
    ['whsec_0123456789abcdef', 'whsec_[secret]'],
    ['pi_3Abc_secret_Xyz123 sent', 'pi_3Abc_secret_[secret] sent'],
    [`t=1700000000,v1=${'0f'.repeat(32)}`, 't=1700000000,v1=[secret]'],
    ['postgres://crossbill:pass@db:5432/x', 'postgres://crossbill:[secret]@db:5432/x'],
    ['grant_type=client_credentials&client_secret=abc&x=1', 'grant_type=client_credentials&client_secret=[secret]&x=1'],
  ] as const) {
    expect(censor(text)).toBe(kept);
  }
});

it('the log hides a secret that contains half of a Unicode character (a surrogate)', () => {
  expect(textCensor(['mor:pay_1\udc001'])('refused mor:pay_1\udc001')).toBe('refused [secret]');
});

it('the log hides a secret of any length, also URL-encoded', () => {
  const long = 'a=b&'.repeat(30_000); // as long as one environment variable may be on Linux, more or less
  expect(textCensor([long, 'a=b&a=b&'])(`${long} ${encodeURIComponent(long)} a=b&a=b&`)).toBe(
    '[secret] [secret] [secret]',
  );
});

it('the log shows ids, numbers, amounts, times and hashes', () => {
  const text = `2026-1125-00007 INV-20261125-00007 4111-2026-0001-1118 in_1Abc pay_2Def rfnd_3 evt_issued_4 pr_5 2026-11-20T19:00:00.000Z 1763665200000 10.10 EUR sha256:${'ab'.repeat(32)}`;
  expect(textCensor([])(text)).toBe(text);
});

it('the log shows an error without the request attached to the error', () => {
  const { logger, text, records } = aLog();
  const error = Object.assign(new Error('connect failed'), {
    code: 'ECONNREFUSED',
    config: { headers: { 'X-Custom': 'v-e-1' } },
    request: { body: 'v-e-2' },
    parameters: ['v-e-3'],
    detail: 'v-e-4',
  });
  logger.error({ event: 'test.line', err: error, error: new AggregateError([error], 'all') }, 'call failed');
  expect(text()).not.toContain('v-e-');
  expect(records()[0]).toMatchObject({ err: { type: 'Error', message: 'connect failed', code: 'ECONNREFUSED' } });
});

it('the log shows a body by its size, and survives circular values', () => {
  const { logger, records } = aLog();
  const circle: Record<string, unknown> = { body: Buffer.from('v-e-1') };
  circle['again'] = circle;
  logger.info({ event: 'test.line', circle }, 'seen');
  expect(records()[0]).toMatchObject({ circle: { body: '[5 bytes]' } });
});

it('the log keeps text from outside on one line, and unchanged for a JSON reader', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), (value) => {
      const { logger, text } = aLog();
      logger.info({ event: 'test.line', value: `~${value}` }, 'seen');
      expect(text().match(/\n/g)).toHaveLength(1);
      expect(text().trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/);
    }),
  );
  const { logger, records } = aLog();
  logger.info({ event: 'test.line', value: 'a\u202eb\u0085c\u001b[31m\r\nforged' }, 'seen');
  expect(records()[0]?.['value']).toBe('a\u202eb\u0085c\u001b[31m\r\nforged');
});

it('the pretty log keeps control characters from outside off the terminal', async () => {
  const { logger, text } = aLog({ pretty: true });
  logger.info({ event: 'test.line', value: 'x\u001b[2Jy\u202ez' }, 'red \u001b[31m text \r over \\u0041');
  await new Promise((resolve) => setImmediate(resolve));
  expect(text()).toContain('red ');
  expect(text()).not.toMatch(/[\u001b\u202e\r]/);
});

it('the log takes NestJS lines with their context, and errors with their stack', () => {
  const { logger, records } = aLog();
  const nest = new NestLogger(logger);
  nest.log('started', 'NestFactory');
  nest.error('broken', 'Error: broken\n  at x', 'Router');
  nest.error(new Error('thrown'), 'Router');
  nest.warn({ some: 'object' });
  expect(records()).toMatchObject([
    { level: 'debug', msg: 'started', context: 'NestFactory' },
    { level: 'error', event: 'nest.line', msg: 'broken', context: 'Router', stack: 'Error: broken\n  at x' },
    { level: 'error', msg: 'thrown', context: 'Router', err: { message: 'thrown' } },
    { level: 'warn', value: { some: 'object' } },
  ]);
});

it('the log recognises the names of secrets in any spelling', () => {
  for (const name of [
    'client_secret',
    'clientSecret',
    'CLIENT-SECRET',
    'MOR_PAYMENT_WEBHOOK_SECRETS',
    'access_token',
    'Mor-Signature',
    'apiKey',
  ])
    expect([name, isSecretName(name)]).toEqual([name, true]);
  for (const name of ['invoiceId', 'idempotencyKey', 'customerId', 'status', 'keyName'])
    expect([name, isSecretName(name)]).toEqual([name, false]);
});
