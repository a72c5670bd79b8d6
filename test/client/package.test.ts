// The package as a developer gets it: packed, installed in an empty folder, compiled under `strict`, run.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { anInvoice, ApiApp, freshDatabase, KEYS } from '../api/support/api-app.js';
import { root, textOf } from '../docs/support.js';
import { type TestDatabase } from '../support/rigs/database.js';
import { newSecret } from '../support/fakes/notify-receiver.js';

const LIMIT_BYTES = 20 * 1024;
const run = promisify(execFile);

type Packed = {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
};

const TYPED = `
const crossbill = createClient({ baseUrl: 'http://127.0.0.1:9', apiKey: 'key', retries: 0 });
export async function use(): Promise<string> {
  const made = await crossbill.createSignup({ kind: 'trial', customer: { id: 'cus_1' } });
  const secret: string = made.client_secret;
  // @ts-expect-error a kind that there is not
  await crossbill.createSignup({ kind: 'gift', customer: { id: 'cus_1' } });
  for await (const payment of crossbill.listPayments({ status: 'succeeded' })) {
    const amount: number | null = payment.amount;
    if (amount !== null) await crossbill.createRefund(payment.id, { amount }, { idempotencyKey: 'k' });
  }
  const link: Schemas['PaymentLinkView'] = await crossbill.getPaymentLink('in_1');
  const told = verifyWebhook('{}', { 'webhook-id': 'msg_1' }, 'whsec_x');
  if (told.type === 'payment_link.created') return told.data.url;
  try {
    return link.pricedAmount?.amount ?? secret;
  } catch (error) {
    return error instanceof CrossbillError && error.code === 'not_found' ? '' : 'other';
  }
}
`;
const IMPORT = `import { createClient, CrossbillError, type Schemas, verifyWebhook } from '@crossbill/client';`;

describe('the packed client', () => {
  let database: TestDatabase;
  let api: ApiApp;
  let packed: Packed;
  const folder = mkdtempSync(join(tmpdir(), 'crossbill-client-'));
  const npm = (args: readonly string[], cwd: string) =>
    run('npm', [...args], { cwd, env: { ...process.env, NODE_OPTIONS: '', npm_config_update_notifier: 'false' } });

  beforeAll(async () => {
    database = await freshDatabase();
    api = await ApiApp.start(database.url);
    const { stdout } = await npm(
      ['run', '--silent', 'client:pack', '--', '--json', '--pack-destination', folder],
      root,
    );
    [packed] = JSON.parse(stdout) as [Packed];
    writeFileSync(join(folder, 'package.json'), '{"name":"shop","private":true,"type":"module"}');
    await npm(['install', '--offline', '--no-audit', '--no-fund', join(folder, packed.filename)], folder);
  });
  afterAll(async () => {
    await api?.stop();
    await database?.drop();
    rmSync(folder, { recursive: true });
  });

  it('the packed client is at most 20 KB, has no dependency and contains only its own files', () => {
    expect(packed.size).toBeLessThanOrEqual(LIMIT_BYTES);
    expect(packed.files.map(({ path }) => path).filter((path) => !path.startsWith('dist/'))).toEqual([
      'LICENSE',
      'README.md',
      'package.json',
    ]);
    const manifest = JSON.parse(readFileSync(join(folder, 'node_modules/@crossbill/client/package.json'), 'utf8')) as {
      version: string;
    };
    expect(manifest.version).toBe((JSON.parse(textOf('package.json')) as { version: string }).version);
    expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([]);
  });

  it.each([
    ['ES modules', 'module', 'NodeNext'],
    ['CommonJS', 'commonjs', 'Node16'],
    ['a bundler', 'module', 'Bundler'],
  ])('the packed client compiles in a strict project of %s without skipLibCheck', async (_, type, resolution) => {
    const project = join(folder, `project-${resolution}`);
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), JSON.stringify({ type }));
    writeFileSync(join(project, 'shop.ts'), IMPORT + TYPED);
    const compilerOptions = {
      target: 'ES2022',
      lib: ['ES2022'],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      module: resolution === 'Bundler' ? 'ESNext' : resolution,
      moduleResolution: resolution,
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const said = await run(process.execPath, [tsc, '-p', project]).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );
    expect(said).toBe('');
  });

  it('`import` and `require` of the packed client share one CrossbillError class', async () => {
    writeFileSync(
      join(folder, 'both.mjs'),
      `import { createRequire } from 'node:module';
       import * as imported from '@crossbill/client';
       const required = createRequire(import.meta.url)('@crossbill/client');
       console.log(Object.keys(required).sort().join(), imported.CrossbillError === required.CrossbillError);`,
    );
    const { stdout } = await run(process.execPath, ['both.mjs'], { cwd: folder });
    expect(stdout).toBe('CrossbillError,NotVerifiedError,createClient,verifyWebhook true\n');
  });

  it('the packed client runs the first example of its README', async () => {
    await api.paidRenewal('readme');
    api.stripe.put(anInvoice('in_123', 'cus_123', 4999n));
    const [, code = ''] = /```js\n([\s\S]+?)```/.exec(textOf('packages/client/README.md')) ?? [];
    writeFileSync(join(folder, 'readme.mjs'), code);
    const env = { PATH: process.env['PATH'], CROSSBILL_URL: api.url, CROSSBILL_API_KEY: KEYS.ops };
    const { stdout } = await run(process.execPath, ['readme.mjs'], { cwd: folder, env });
    expect(stdout).toMatch(/^sup_\w+ 4999\npay_readme 4999 eur\npayment_not_found 404\n$/);
  });

  it("the second example of the packed client's README accepts a signed notification and refuses a forged one", async () => {
    const [, , code = ''] = textOf('packages/client/README.md').split('```js\n');
    const source = (code.split('```')[0] ?? '').replace(
      'process.env.PORT)',
      "0, function () { console.log('at', this.address().port); })",
    );
    writeFileSync(join(folder, 'receive.mjs'), source);
    const { Webhook } = await import('standardwebhooks');
    const secret = newSecret(5);
    const body = JSON.stringify({ type: 'invoice.paid', data: { invoice_id: 'in_1' } });
    const at = new Date();
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
    };
    const { spawn } = await import('node:child_process');
    const child = spawn(process.execPath, ['receive.mjs'], {
      cwd: folder,
      env: { PATH: process.env['PATH'], NOTIFY_SECRET: secret },
    });
    try {
      let said = '';
      const port = await new Promise<string>((resolve, reject) => {
        child.on('exit', () => reject(new Error(`it ended: ${said}`)));
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          said += text;
          const [, found] = /at (\d+)\n/.exec(said) ?? [];
          if (found !== undefined) resolve(found);
        });
      });
      const post = async (host: Record<string, string>) =>
        (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: host, body })).status;
      expect(await post(headers)).toBe(204);
      expect(await post({ ...headers, 'webhook-id': 'msg_2' })).toBe(400);
      expect(said).toContain('paid in_1\n');
    } finally {
      child.removeAllListeners('exit');
      child.kill();
    }
  });
});
