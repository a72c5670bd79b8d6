// Alert rules and dashboard use existing metrics with existing labels, and every alert names its first command and its
// page.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { EXIT } from '../../src/frames/cli/exit-codes.js';
import { loadConfig } from '../../src/shared/config/index.js';
import { daemonSettings } from '@crossbill/sandbox/daemon-settings.js';
import { makeSandbox } from '@crossbill/sandbox/sandbox.js';
import { commandLine, commandsOf } from '../../tools/docs/cli-reference.js';
import { metricsOf } from '../../tools/docs/metrics-reference.js';
import { anchorsOf, isThere, textOf } from './support.js';

const rules = textOf('deploy/prometheus/alerts.yml')
  .split(/^ +- alert: /m)
  .slice(1);
const nameOf = (rule: string): string => rule.split('\n')[0] ?? '';
const dashboard = JSON.parse(textOf('deploy/grafana/crossbill.json')) as {
  panels: { title: string; targets: { expr: string }[] }[];
};
const panels = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));

/** Labels added on the metrics' way to storage. */
const GIVEN = ['job', 'instance', 'le'];
let labels: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  labels = new Map((await metricsOf()).map((m) => [m.name, m.labels]));
});

/** The wrong names in an expression. */
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

it('each Prometheus alert has a name of its own', () => {
  expect(rules.length).toBeGreaterThan(12);
  expect(new Set(rules.map(nameOf)).size).toBe(rules.length);
});

it.each(rules.map((rule) => [nameOf(rule), rule] as const))(
  'the Prometheus alert %s has a valid expression and names a first command for the operator',
  (name, rule) => {
    expect(unknownIn(rule)).toEqual([]);
    const expr = /expr: (\|\n[\s\S]*?|.*\n)(?= +(for|labels):)/.exec(rule)?.[1] ?? '';
    expect(expr).toMatch(/crossbill_|up\{/);
    expect(isBalanced(expr)).toBe(true);
    expect(rule).toMatch(/severity: (critical|warning)\n/);
    for (const field of ['summary', 'description', 'first_command']) expect(rule).toMatch(new RegExp(`${field}: \\S`));
    expect(anchorsOf(textOf('docs/alerts.md'))).toContain(name.toLowerCase());
  },
);

it('for each Prometheus alert, test/alerts has a fault to set off the alert', () => {
  const names = rules.map(nameOf).sort();
  const planted = [...textOf('test/alerts/faults.mjs').matchAll(/^ +rule: '(\w+)'/gm)].map(([, name = '']) => name);
  expect([...planted].sort()).toEqual(names);
});

it("each Prometheus alert names an existing crossbill command as the operator's first step", async () => {
  const known = commandsOf(await commandLine()).map(({ words }) => words);
  for (const rule of rules) {
    const command = /first_command: (.+)/.exec(rule)?.[1] ?? '';
    if (!command.startsWith('crossbill ')) {
      expect(command).toMatch(
        /^(curl -sS http:\/\/127\.0\.0\.1:3000\/readyz|docker compose logs --tail 50 crossbill)$/,
      );
      continue;
    }
    const remaining = command.slice('crossbill '.length);
    expect(known.filter((words) => remaining === words || remaining.startsWith(`${words} `))).not.toEqual([]);
  }
});

it('a Prometheus alert watches every metric except those for dashboards only', () => {
  const text = rules.join('\n');
  for (const name of labels.keys()) {
    if (
      /decisions_total|deliveries_total|call_seconds|queue_depth|shadow_marks|log_lines_dropped|build_info/.test(name)
    )
      continue; // to look at, not to be woken by
    expect(text).toContain(name);
  }
});

const settings = parseEnv(textOf('deploy/sandbox.env'));
const compose = textOf('docker-compose.yml');

it("deploy/sandbox.env has every setting of a production daemon for the compose file's sandbox", () => {
  const seed = /SANDBOX_SEED: (\S+)/.exec(compose)?.[1] ?? '';
  const core = makeSandbox({ seed });
  core.kernel.clock.close();
  const urls = { morUrl: 'http://sandbox:4020', stripeUrl: 'http://sandbox:4010' };
  expect(settings).toEqual({
    COMPOSE_PROJECT_NAME: 'crossbill-sandbox',
    CROSSBILL_ENV: 'deploy/sandbox.env',
    POSTGRES_PASSWORD: 'sandbox',
    POSTGRES_APP_PASSWORD: 'sandbox-app',
    ...Object.fromEntries(daemonSettings({ ...core, ...urls })),
  });
  const url = 'postgres://crossbill:sandbox@postgres:5432/crossbill';
  expect(loadConfig({ ...settings, NODE_ENV: 'production', DATABASE_URL: url }).production).toBe(true);
});

it("the sandbox of deploy/sandbox.env delivers to the daemon's webhook endpoints", () => {
  for (const endpoint of ['stripe', 'mor/payments', 'mor/events'])
    expect(compose).toContain(`_WEBHOOK_URL: http://crossbill:3000/webhooks/${endpoint}\n`);
});

it.each(panels.map(({ title, expr }) => [title, expr] as const))(
  'the Grafana panel %s shows existing metrics',
  (_title, expr) => {
    expect(unknownIn(expr)).toEqual([]);
    expect(isBalanced(expr)).toBe(true);
  },
);

const unit = textOf('deploy/systemd/crossbill.service');
const has = spawnSync('systemd-analyze', ['--version']).status === 0;

it('the systemd unit starts the packaged daemon, gives it over 20 seconds to stop, and does not restart it with wrong settings', () => {
  const { name, scripts } = JSON.parse(textOf('package.json')) as { name: string; scripts: { start: string } };
  const start = scripts.start.replace('dist/', `/opt/crossbill/node_modules/${name}/dist/`);
  expect(unit).toContain(`\nExecStart=/usr/bin/env ${start}\n`);
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(20);
  expect(unit).toMatch(new RegExp(`^RestartPreventExitStatus=${EXIT.config}$`, 'm'));
  expect(unit).toMatch(/^Environment=NODE_ENV=production$/m);
});

(has ? it : it.skip)('systemd accepts the unit file, and rates its exposure at most 2 of 10', () => {
  const file = join(import.meta.dirname, '../../deploy/systemd/crossbill.service');
  const verified = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
  expect([verified.status, verified.stderr]).toEqual([0, '']);
  const rated = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', '--threshold=20', file]);
  expect(rated.status).toBe(0);
});

describe('deploy/caddy', () => {
  const compose = parse(textOf('deploy/caddy/compose.yml')) as {
    services: Record<string, { environment: Record<string, string>; volumes?: string[]; ports?: string[] }>;
    volumes: Record<string, null>;
  };

  it("the Caddyfile forwards the web ports to the compose file's daemon", () => {
    const own = parse(textOf('docker-compose.yml')) as { services: Record<string, unknown> };
    expect(Object.keys(compose.services).filter((name) => name !== 'caddy')).toEqual(['crossbill']);
    expect(own.services).toHaveProperty('crossbill');
    expect(compose.services['caddy']?.ports).toContain('443:443');
    const mounted = compose.services['caddy']?.volumes?.map((v) => v.split(':')[0] ?? '') ?? [];
    expect(mounted.filter((v) => v.startsWith('./')).map((v) => isThere(v.slice(2)))).toEqual([true]);
    expect(Object.keys(compose.volumes)).toEqual(mounted.filter((v) => !v.startsWith('./')));
  });

  it("the Caddyfile opens the webhook endpoints to every network, and all other paths only to the operators' networks", () => {
    const caddyfile = textOf('deploy/caddy/Caddyfile');
    expect(caddyfile).toContain('@endpoints path /webhooks/*');
    expect(caddyfile).toContain('@strangers not remote_ip {$CROSSBILL_OPERATORS}\n');
    expect(compose.services['caddy']?.environment['CROSSBILL_OPERATORS']).toMatch(/^\$\{CROSSBILL_OPERATORS:\?/);
    expect([...caddyfile.matchAll(/reverse_proxy (\S+)/g)].map(([, to]) => to)).toEqual([
      'crossbill:3000',
      'crossbill:3000',
    ]);
    const settings = { TRUSTED_PROXIES: compose.services['crossbill']?.environment['TRUSTED_PROXIES'] };
    expect(loadConfig({ ...parseEnv(textOf('deploy/sandbox.env')), ...settings }).trustedProxies).not.toEqual([]);
  });
});

const folder = 'deploy/helm/crossbill';
const names = [
  'deployment',
  'service',
  'ingress',
  'poddisruptionbudget',
  'servicemonitor',
  'prometheusrule',
  'dashboard',
];
const templates = names.map((name) => textOf(`${folder}/templates/${name}.yaml`));
const values = parse(textOf(`${folder}/values.yaml`)) as Record<string, unknown>;
const valueAt = (path: string): unknown =>
  path.split('.').reduce<unknown>((v, key) => (v as Record<string, unknown> | undefined)?.[key], values);

it('the Helm chart uses each value of values.yaml and no other', () => {
  const used = [...templates.join('').matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path);
  expect(used.filter((path) => valueAt(path) === undefined)).toEqual([]);
  const leaves = (value: unknown, at: string): string[] =>
    typeof value === 'object' && value !== null && Object.keys(value).length > 0 && !used.includes(at)
      ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, at === '' ? key : `${at}.${key}`))
      : [at];
  expect(leaves(values, '').filter((path) => !used.includes(path))).toEqual([]);
});

it('the Helm chart closes every template block, probes the health routes, and gives the daemon over 20 seconds to stop', () => {
  for (const text of templates) {
    const opened = text.match(/\{\{-? (if|range|with) /g)?.length ?? 0;
    expect(text.match(/\{\{-? end \}\}/g)?.length ?? 0).toBe(opened);
  }
  const [deployment = ''] = templates;
  expect([...deployment.matchAll(/path: (\/\w+z)$/gm)].map(([, path]) => path)).toEqual([
    '/livez',
    '/livez',
    '/readyz',
  ]);
  expect(Number(/terminationGracePeriodSeconds: (\d+)/.exec(deployment)?.[1])).toBeGreaterThan(20);
});

it('the Helm chart carries the alert rules and the dashboard of deploy/', () => {
  for (const [copy, original] of [
    ['alerts.yml', 'deploy/prometheus/alerts.yml'],
    ['crossbill.json', 'deploy/grafana/crossbill.json'],
  ] as const) {
    expect(textOf(`${folder}/files/${copy}`)).toBe(textOf(original));
    expect(templates.filter((text) => text.includes(`.Files.Get "files/${copy}"`))).toHaveLength(1);
  }
});

it('the Helm chart has the version of package.json', () => {
  const { version } = JSON.parse(textOf('package.json')) as { version: string };
  expect(parse(textOf(`${folder}/Chart.yaml`))).toMatchObject({ version, appVersion: version });
  expect(textOf('deploy/systemd/crossbill.service')).toContain(`crossbill@${version}`);
  expect(textOf('.github/actions/sandbox/action.yml')).toContain(`default: ${version}\n`);
});
