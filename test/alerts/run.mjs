// Sees each alert rule fire once: sandbox, two daemons, their PostgreSQL and a real Prometheus with the real rules, whose times are cut
// short. Each rule's fault is planted, its alert awaited, its first command run, and what that said looked at. Run by hand, after
// `npm run build`, where `prometheus` is on the PATH: node test/alerts/run.mjs [rule …]. Exit code 1 when a rule did not fire or its
// command did not help. Lasts about ten minutes, five of them until the daemons' daily verify looks.
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import Stripe from 'stripe';
import { startEmbeddedPostgres } from '@crossbill/embedded-postgres';
import { startSandbox } from '../../packages/sandbox/dist/sandbox.js';
import { faults } from './faults.mjs';

const ROOT = resolve(import.meta.dirname, '..', '..');
/** The flags for Node in `npm start`. */
const FLAGS = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  .scripts.start.split(' ')
  .filter((word) => word.startsWith('--'));
const SCRAPE_SEC = 3; // a page without its database takes two
const FIRES_WITHIN_MS = 120_000;
const DAILY_WITHIN_MS = 400_000; // the daemons look for a verify that is due every five minutes
const OPS_KEY = 'ops-key-for-alerts-0123456789abcdef';
const ENDPOINTS = {
  stripe: ['/webhooks/stripe', 'Stripe-Signature'],
  mor_payments: ['/webhooks/mor/payments', 'Mor-Signature'],
};

const wanted = new Set(process.argv.slice(2));
const folder = mkdtempSync(join(tmpdir(), 'crossbill-alerts-'));
const tell = (text) => process.stderr.write(`${text}\n`);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const children = new Set();

/** The rules with their times cut short: minutes become seconds, and no range is shorter than five scrapes. */
function hurried(rules) {
  const seconds = (n, unit) => Number(n) * { m: 1, h: 60, d: 1440 }[unit];
  const range = (n, unit) => `${Math.min(30, Math.max(5 * SCRAPE_SEC, seconds(n, unit)))}s`;
  return rules
    .replace(/for: (\d+)([mhd])/g, (_, n, unit) => `for: ${Math.min(10, seconds(n, unit))}s`)
    .replace(/\[(\d+)([mhd])\]/g, (_, n, unit) => `[${range(n, unit)}]`)
    .replace(/offset (\d+)([mhd])/g, (_, n, unit) => `offset ${range(n, unit)}`)
    .replace('crossbill_queue_oldest_age_seconds) > 300', 'crossbill_queue_oldest_age_seconds) > 10');
}

async function until(what, look, withinMs) {
  const end = Date.now() + withinMs;
  for (;;) {
    const seen = await look().catch(() => null);
    if (seen) return seen;
    if (Date.now() > end) throw new Error(`gave up waiting until ${what}`);
    await sleep(500);
  }
}

function run(command, args, env, onText) {
  const child = spawn(command, args, { cwd: ROOT, env: { PATH: process.env.PATH, ...env } });
  children.add(child);
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onText);
  const ended = new Promise((done) => {
    child.on('error', () => done(127));
    child.on('close', (code) => {
      children.delete(child);
      done(code ?? 1);
    });
  });
  return { child, ended };
}

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** Stands before PostgreSQL; `cut`: connections are ended and refused. */
async function proxyBefore(target) {
  const sockets = new Set();
  let mode = 'pass';
  const server = createServer((client) => {
    if (mode === 'cut') return client.destroy();
    const there = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, there],
      [there, client],
    ]) {
      sockets.add(from);
      from.on('error', () => undefined).on('close', () => (sockets.delete(from), to.destroy()));
      from.pipe(to);
    }
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(server.address().port);
  return {
    url: url.toString(),
    close: () => server.close(),
    set(to) {
      mode = to;
      if (to === 'cut') for (const socket of sockets) socket.destroy();
    },
  };
}

class Replica {
  text = '';
  #process = null;
  constructor(name, port, env) {
    Object.assign(this, { name, port, env });
  }
  get url() {
    return `http://127.0.0.1:${this.port}`;
  }
  start(over = {}) {
    this.text = '';
    const env = { ...this.env, PORT: String(this.port), ...over };
    this.#process = run(process.execPath, [...FLAGS, 'dist/main.js'], env, (text) => {
      this.text += text;
      appendFileSync(join(folder, `${this.name}.log`), text);
    });
  }
  async stop() {
    this.#process?.child.kill('SIGTERM');
    await this.#process?.ended;
  }
  async ready() {
    const asks = async () => (await fetch(`${this.url}/readyz`)).status === 200;
    await until(`replica ${this.name} is ready`, asks, 60_000);
  }
}

async function makeWorld() {
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'postgres'),
    log: { info: () => undefined, warn: tell },
    settings: { fsync: 'off' },
  });
  const proxy = await proxyBefore(new URL(postgres.url));
  const sandbox = await startSandbox({ seed: 'alerts' });
  const { secrets } = sandbox;
  const receiver = { status: 200 };
  const hook = createHttpServer((req, res) => req.resume().on('end', () => res.writeHead(receiver.status).end()));
  await new Promise((done) => hook.listen(0, '127.0.0.1', done));
  hook.unref();
  const env = {
    NODE_ENV: 'test',
    NOTIFY_URL: `http://127.0.0.1:${hook.address().port}/`,
    NOTIFY_SECRETS: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
    LOG_LEVEL: 'info',
    DATABASE_URL: proxy.url,
    STRIPE_API_KEY: secrets.stripeApiKey,
    STRIPE_API_BASE: sandbox.stripeUrl,
    STRIPE_WEBHOOK_SECRETS: secrets.stripeWebhookSecret,
    STRIPE_MAX_RPS: '100',
    MOR_BASE_URL: sandbox.morUrl,
    MOR_AUTH_URL: sandbox.morUrl,
    MOR_CLIENT_ID: secrets.merchant.clientId,
    MOR_CLIENT_SECRET: secrets.merchant.clientSecret,
    MOR_PAYMENT_WEBHOOK_SECRETS: secrets.paymentWebhookSecret,
    MOR_EVENT_WEBHOOK_SECRETS: secrets.eventWebhookSecret,
    API_KEYS: `ops:ops:${OPS_KEY}`,
    BILLING_DRAFT_POLICY: 'finalize',
  };
  const replicas = [new Replica('first', await freePort(), env), new Replica('second', await freePort(), env)];
  const [first, second] = replicas;
  const { hostname: host, port } = new URL(sandbox.stripeUrl);
  const stripe = new Stripe(secrets.stripeApiKey, { host, port, protocol: 'http', telemetry: false });
  const json = async (url, method, body, headers = {}) => {
    const answer = await fetch(url, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return answer.json();
  };
  let delivering = null;
  let subscription = null;
  let customer = null;

  const w = {
    env,
    receiver,
    replicas,
    control: (method, path, body) => json(`${sandbox.morUrl}/_sandbox${path}`, method, body),
    async stripeEndpoint(secret = secrets.stripeWebhookSecret) {
      await w.control('DELETE', '/stripe/webhook-endpoints/all');
      await w.control('POST', '/stripe/webhook-endpoints', { url: `${first.url}/webhooks/stripe`, secret });
    },
    paymentWebhook: () => w.control('POST', '/payment-webhook', { url: `${first.url}/webhooks/mor/payments` }),
    /** A renewal; the sandbox's MoR hears of it and says nothing by itself here. */
    async renew() {
      const made = await w.control('POST', '/stripe/renew', { subscription });
      return made.id;
    },
    /** A renewal and the money for it, `more` than is due. */
    async paidRenewal(more = 0) {
      const invoice = await w.renew();
      const tail = `${Date.now()}`;
      await w.control('POST', '/mor/payment-events', {
        type: 'payment.succeeded',
        data: {
          payment_id: `pay_${tail}`,
          merchant_invoice_id: invoice,
          merchant_customer_id: customer,
          processor_charge_id: `ch_${tail}`,
          processor_payment_intent_id: `pi_${tail}`,
          amount: 1000 + more,
          currency: 'eur',
          status: 'succeeded',
        },
      });
      return `ch_${tail}`;
    },
    async taxedSignup() {
      const billingAddress = { line1: '1 Rue', city: 'Paris', postalCode: '75001', country: 'FR' };
      const tax = {
        currency: 'EUR',
        taxBehavior: 'INCLUSIVE',
        customer: { merchantCustomerReference: customer, firstName: 'Ada', lastName: 'Example', billingAddress },
        lineItems: [{ merchantLineItemReference: 'l1', productCode: 'plan', title: 'Plan', unitPrice: '10.00' }],
        evidence: { billingCountry: 'FR', ipAddress: '203.0.113.7' },
      };
      const signup = { kind: 'payment', customer: { id: customer }, amount: 1000, currency: 'eur', tax };
      await json(`${first.url}/v1/signups`, 'POST', signup, { authorization: `Bearer ${OPS_KEY}` });
    },
    async deliver(endpoint, body, offSec = 0) {
      const [path, header] = ENDPOINTS[endpoint];
      const secret = endpoint === 'stripe' ? secrets.stripeWebhookSecret : secrets.paymentWebhookSecret;
      const t = Math.floor(Date.now() / 1000) + offSec;
      const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
      await fetch(`${first.url}${path}`, { method: 'POST', headers: { [header]: `t=${t},v1=${v1}` }, body }).catch(
        () => null,
      );
    },
    keepDelivering() {
      let n = 0;
      delivering ??= setInterval(() => {
        void w.deliver(
          'stripe',
          `{"id":"evt_more_${n++}","object":"event","type":"plan.created","data":{"object":{}}}`,
        );
      }, 500);
    },
    database(mode) {
      if (mode === 'pass') clearInterval(delivering);
      proxy.set(mode);
    },
    wrongPassword() {
      const url = new URL(postgres.url);
      url.password = 'not-the-password';
      return url.toString();
    },
    async sql(text) {
      const db = new pg.Client({ connectionString: postgres.url });
      await db.connect();
      await db.query(text).finally(() => db.end());
    },
    dailyVerify: () => w.sql(`update lane set lease_until = now() where key = 'job:verify'`),
    async restartSecond(over) {
      await second.stop();
      second.start(over);
      if (over === undefined) await second.ready();
    },
    async restartAll() {
      await Promise.all(replicas.map((r) => r.stop()));
      for (const r of replicas) r.start();
      await until('one listens', async () => (await fetch(`${first.url}/livez`)).ok, 30_000);
    },
    async begin() {
      for (const r of replicas) r.start();
      for (const r of replicas) await r.ready();
      await w.control('POST', '/mor/hearing', { direct: false });
      await w.stripeEndpoint();
      await w.paymentWebhook();
      customer = (await stripe.customers.create({ name: 'Ada Example' })).id;
      const product = await stripe.products.create({ name: 'Larch Pro' });
      const recurring = { interval: 'month' };
      const price = await stripe.prices.create({ product: product.id, currency: 'eur', unit_amount: 1000, recurring });
      const made = await stripe.subscriptions.create({
        customer,
        items: [{ price: price.id }],
        payment_behavior: 'default_incomplete',
      });
      subscription = made.id;
      await stripe.invoices.pay(made.latest_invoice, { paid_out_of_band: true }); // paid at signup
      await w.paidRenewal();
    },
    async end() {
      clearInterval(delivering);
      for (const child of children) child.kill('SIGKILL');
      await sandbox.close();
      proxy.close();
      await postgres.stop();
    },
  };
  return w;
}

async function startPrometheus(replicas) {
  const port = await freePort();
  writeFileSync(join(folder, 'alerts.yml'), hurried(readFileSync(join(ROOT, 'deploy/prometheus/alerts.yml'), 'utf8')));
  const targets = replicas.map((r) => `'127.0.0.1:${r.port}'`).join(', ');
  const times = `scrape_interval: ${SCRAPE_SEC}s, scrape_timeout: ${SCRAPE_SEC}s, evaluation_interval: 1s`;
  writeFileSync(
    join(folder, 'prometheus.yml'),
    `global: {${times}}
rule_files: [alerts.yml]
scrape_configs:
  - {job_name: crossbill, static_configs: [{targets: [${targets}]}]}
`,
  );
  run(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    {},
    (text) => appendFileSync(join(folder, 'prometheus.log'), text),
  );
  const url = `http://127.0.0.1:${port}`;
  await until('Prometheus is ready', async () => (await fetch(`${url}/-/ready`)).ok, 60_000);
  return url;
}

/** What the first command says; where there is no container, the replica's own log stands for its log. */
async function firstCommand(w, command) {
  if (command.startsWith('docker compose logs')) return w.replicas[1].text.split('\n').slice(-50).join('\n');
  let said = '';
  const words = command.split(' ');
  const { ended } =
    words[0] === 'crossbill'
      ? run(process.execPath, ['dist/cli.js', ...words.slice(1)], w.env, (text) => (said += text))
      : run(
          words[0],
          words.slice(1).map((word) => word.replace('127.0.0.1:3000', `127.0.0.1:${w.replicas[0].port}`)),
          {},
          (text) => (said += text),
        );
  await ended;
  return said;
}

const w = await makeWorld();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void w.end().finally(() => process.exit(1)));
const rows = [];
try {
  await w.begin();
  const prometheus = await startPrometheus(w.replicas);
  await sleep(10 * SCRAPE_SEC * 1000); // the past that a rule looks at
  for (const { rule, planted, plant, says, mend } of faults) {
    if (wanted.size > 0 && !wanted.has(rule)) continue;
    tell(`${rule}: ${planted}`);
    const began = Date.now();
    const within = rule === 'CrossbillVerifyDifferences' ? DAILY_WITHIN_MS : FIRES_WITHIN_MS;
    let row = { rule, planted, fired: 'NO', helped: 'NO', command: '', said: '' };
    try {
      await plant(w);
      const alert = await until(
        `${rule} fires`,
        async () => {
          const { data } = await (await fetch(`${prometheus}/api/v1/alerts`)).json();
          return data.alerts.find((a) => a.labels.alertname === rule && a.state === 'firing');
        },
        within,
      );
      const command = alert.annotations.first_command;
      const said = await firstCommand(w, command);
      const found = says.exec(said);
      row = {
        ...row,
        command,
        fired: `${Math.round((Date.now() - began) / 1000)} s`,
        helped: found === null ? 'NO' : 'yes',
      };
      if (found === null) tell(said);
      else row.said = found[0].split('\n')[0].trim().replaceAll(/ +/g, ' ').slice(0, 90);
    } catch (e) {
      tell(String(e));
    }
    await mend?.(w);
    rows.push(row);
    tell(`  fired after ${row.fired}, ${row.command}: ${row.helped}: ${row.said}`);
  }
} finally {
  await w.end();
  if (rows.every((r) => r.helped === 'yes')) rmSync(folder, { recursive: true, force: true });
  else tell(`what was written is in ${folder}`);
}
console.log('| rule | planted fault | first command | its output |\n| --- | --- | --- | --- |');
for (const r of rows)
  console.log(`| ${r.rule} | ${r.planted} | \`${r.command}\` | ${r.said === '' ? 'NO' : `\`${r.said}\``} |`);
process.exit(rows.every((r) => r.helped === 'yes') ? 0 : 1);
