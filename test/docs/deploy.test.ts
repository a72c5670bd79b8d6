// Alert rules and dashboard use metrics that exist, with labels that exist, and every alert says what to run and where to read on.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parseEnv } from 'node:util';
import { loadConfig } from '../../src/config/index.js';
import { makeSandbox } from '../../tools/sandbox/sandbox.js';
import { commandLine, commandsOf } from '../../tools/docs/cli-reference.js';
import { metricsOf } from '../../tools/docs/metrics-reference.js';
import { anchorsOf, textOf } from './support.js';

const rules = textOf('deploy/prometheus/alerts.yml')
  .split(/^ +- alert: /m)
  .slice(1);
const nameOf = (rule: string): string => rule.split('\n')[0] ?? '';
const dashboard = JSON.parse(textOf('deploy/grafana/crossbill.json')) as {
  panels: { title: string; targets: { expr: string }[] }[];
};
const panels = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));

/** Labels that the metrics have by the time they are stored. */
const GIVEN = ['job', 'instance', 'le'];
let labels: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  labels = new Map((await metricsOf()).map((m) => [m.name, m.labels]));
});

/** What is wrong with the names in an expression. */
function unknownIn(text: string): string[] {
  const found: string[] = [];
  for (const [, name = '', selector = ''] of text.matchAll(/\b(crossbill_\w+)(?:\{([^}]*)\})?/g)) {
    const metric = name.replace(/_(bucket|sum|count)$/, '');
    const own = labels.get(name) ?? labels.get(metric);
    if (own === undefined) found.push(name);
    for (const [, label = ''] of selector.matchAll(/(\w+) *[=!]/g)) {
      if (own?.includes(label) !== true) found.push(`${name}{${label}}`);
    }
  }
  const known = new Set([...GIVEN, ...[...labels.values()].flat()]);
  for (const [, list = ''] of text.matchAll(/\bby \(([^)]*)\)/g)) {
    for (const label of list.split(',').map((word) => word.trim())) if (!known.has(label)) found.push(`by (${label})`);
  }
  return found;
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const c of text) {
    if (c === '(') depth++;
    if (c === ')') depth--;
    if (depth < 0) return false;
  }
  return depth === 0;
}

describe('deploy/prometheus/alerts.yml', () => {
  it('has rules, each named once', () => {
    expect(rules.length).toBeGreaterThan(12);
    expect(new Set(rules.map(nameOf)).size).toBe(rules.length);
  });

  it.each(rules.map((rule) => [nameOf(rule), rule] as const))('%s can be evaluated and acted on', (name, rule) => {
    expect(unknownIn(rule)).toEqual([]);
    const expr = /expr: (\|\n[\s\S]*?|.*\n)(?= +(for|labels):)/.exec(rule)?.[1] ?? '';
    expect(expr).toMatch(/crossbill_|up\{/);
    expect(isBalanced(expr)).toBe(true);
    expect(rule).toMatch(/severity: (critical|warning)\n/);
    for (const field of ['summary', 'description', 'first_command']) expect(rule).toMatch(new RegExp(`${field}: \\S`));
    expect(anchorsOf(textOf('docs/alerts.md'))).toContain(name.toLowerCase());
  });

  it('has a planted fault for each rule, and each was seen firing', () => {
    const names = rules.map(nameOf).sort();
    const planted = [...textOf('test/alerts/faults.mjs').matchAll(/^ +rule: '(\w+)'/gm)].map(([, name = '']) => name);
    expect([...planted].sort()).toEqual(names);
    const seen = [...textOf('docs/alerts.md').matchAll(/^\| (Crossbill\w+) \|.*\| `[^|]+` \|$/gm)].map(
      ([, name = '']) => name,
    );
    expect([...seen].sort()).toEqual(names);
  });

  it('names first commands that exist', () => {
    const known = commandsOf(commandLine()).map(({ words }) => words);
    for (const rule of rules) {
      const command = /first_command: (.+)/.exec(rule)?.[1] ?? '';
      if (!command.startsWith('crossbill ')) {
        expect(command).toMatch(
          /^(curl -sS http:\/\/127\.0\.0\.1:3000\/readyz|docker compose logs --tail 50 crossbill)$/,
        );
        continue;
      }
      const rest = command.slice('crossbill '.length);
      expect(known.filter((words) => rest === words || rest.startsWith(`${words} `))).not.toEqual([]);
    }
  });

  it('watches each metric that can tell of trouble', () => {
    const text = rules.join('\n');
    for (const name of labels.keys()) {
      if (/decisions_total|deliveries_total|call_seconds|queue_depth|shadow_marks/.test(name)) continue; // to look at, not to be woken by
      expect(text).toContain(name);
    }
  });
});

describe('deploy/sandbox.env', () => {
  const settings = parseEnv(textOf('deploy/sandbox.env'));
  const compose = textOf('docker-compose.yml');

  it('holds what the sandbox of the compose file will accept, and is what a daemon in production can start with', () => {
    const seed = /SANDBOX_SEED: (\S+)/.exec(compose)?.[1] ?? '';
    const { secrets, kernel, mor } = makeSandbox({ seed });
    kernel.clock.close();
    const key = (role: string): string => `sandbox-${role}:${role}:${kernel.secret(`api-key-${role}`)}`;
    expect(settings).toEqual({
      COMPOSE_PROJECT_NAME: 'crossbill-sandbox',
      CROSSBILL_ENV: 'deploy/sandbox.env',
      POSTGRES_PASSWORD: 'sandbox',
      STRIPE_API_KEY: secrets.stripeApiKey,
      STRIPE_API_BASE: 'http://sandbox:4010',
      STRIPE_WEBHOOK_SECRETS: secrets.stripeWebhookSecret,
      MOR_BASE_URL: 'http://sandbox:4020',
      MOR_AUTH_URL: 'http://sandbox:4020',
      MOR_CLIENT_ID: secrets.merchant.clientId,
      MOR_CLIENT_SECRET: secrets.merchant.clientSecret,
      MOR_PARTNER_CLIENT_ID: secrets.partner.clientId,
      MOR_PARTNER_CLIENT_SECRET: secrets.partner.clientSecret,
      MOR_PSP: mor.psp,
      MOR_PAYMENT_WEBHOOK_SECRETS: secrets.paymentWebhookSecret,
      MOR_EVENT_WEBHOOK_SECRETS: secrets.eventWebhookSecret,
      API_KEYS: [key('read'), key('signup'), key('ops')].join(','),
    });
    const url = 'postgres://crossbill:sandbox@postgres:5432/crossbill';
    expect(loadConfig({ ...settings, NODE_ENV: 'production', DATABASE_URL: url }).production).toBe(true);
  });

  it('goes with a sandbox that delivers to the daemon’s doors', () => {
    for (const door of ['stripe', 'mor/payments', 'mor/events'])
      expect(compose).toContain(`_WEBHOOK_URL: http://crossbill:3000/webhooks/${door}\n`);
  });
});

describe('deploy/grafana/crossbill.json', () => {
  it.each(panels.map(({ title, expr }) => [title, expr] as const))('%s shows metrics that exist', (_title, expr) => {
    expect(unknownIn(expr)).toEqual([]);
    expect(isBalanced(expr)).toBe(true);
  });
});
