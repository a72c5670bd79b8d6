// The Dockerfile and the compose file, read as their tools read them: finding a broken step needs no engine.
import { expect, it } from '@jest/globals';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { renderEnvExample } from '../../src/shared/config/env-example.js';
import { isThere, textOf } from './support.js';

type Step = { readonly command: string; readonly rest: string };

/** The steps of each stage, continued lines joined, comments left out. */
function stagesOf(dockerfile: string): readonly { readonly name: string; readonly steps: readonly Step[] }[] {
  const lines = dockerfile.replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, '');
  return lines
    .split(/^(?=FROM )/m)
    .slice(1)
    .map((text) => ({
      name: / AS (\w+)/.exec(text)?.[1] ?? '',
      steps: [...text.matchAll(/^([A-Z]+) (.+)$/gm)].map(([, command = '', remaining = '']) => ({
        command,
        rest: remaining,
      })),
    }));
}

/** The source of a file in `dist/`. */
const sourceOf = (built: string): string =>
  built === 'tools' ? built : /^(bench|proof)$/.test(built) ? `packages/${built}` : `src/${built}`;

const text = textOf('Dockerfile');
const stages = stagesOf(text);
const scripts = (JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }).scripts;
const sent = [...textOf('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, name = '']) => name);
const of = (command: string): readonly string[] =>
  stages.flatMap(({ steps }) => steps.filter((s) => s.command === command).map(({ rest: remaining }) => remaining));

it('the Dockerfile copies only existing files of the build context', () => {
  const sources = of('COPY')
    .filter((remaining) => !remaining.startsWith('--from'))
    .flatMap((remaining) => remaining.split(' ').slice(0, -1));
  expect(sources.length).toBeGreaterThan(5);
  for (const source of sources) {
    expect([source, isThere(source)]).toEqual([source, true]);
    expect(sent).toContain(source.replace(/^\.\//, ''));
  }
  expect(sent.filter((name) => !isThere(name))).toEqual([]);
});

it('the Dockerfile copies from an earlier stage only files made in that stage', () => {
  const taken = of('COPY').flatMap((remaining) => {
    const [, stage = '', path = ''] = /^--from=(\w+) \/app\/(\S+)/.exec(remaining) ?? [];
    return stage === '' ? [] : [{ stage, path }];
  });
  expect(taken.map(({ path }) => path)).toEqual(['packages/sandbox/dist', 'node_modules', 'dist', 'packages/mor/dist']);
  for (const { stage, path } of taken) {
    const steps = stages.find(({ name }) => name === stage)?.steps ?? [];
    const made = steps.some(
      ({ command, rest: remaining }) => command === 'RUN' && remaining.includes(MADE_BY[path] ?? ' '),
    );
    expect([path, made]).toEqual([path, true]);
  }
});

it('the Dockerfile runs scripts of package.json, installs from the lock file, and removes only build files', () => {
  const run = of('RUN').join('\n');
  for (const [, script = ''] of run.matchAll(/npm run ([\w:-]+)/g)) expect(scripts).toHaveProperty(script);
  expect(run.match(/npm ci/g)).toHaveLength(2);
  expect(run).not.toContain('npm install');
  const removed = /rm -rf ([^&]+)/.exec(run)?.[1]?.trim().split(' ') ?? [];
  for (const path of removed.filter((p) => /^dist\/[\w/]+$/.test(p))) {
    expect([path, isThere(sourceOf(path.replace('dist/', '')))]).toEqual([path, true]);
  }
});

it('the Docker image starts a file made by the build', () => {
  for (const program of [...text.matchAll(/(?<=")dist\/([\w/]+)\.js/g)])
    expect([program[0], isThere(`${sourceOf(program[1] ?? '')}.ts`)]).toEqual([program[0], true]);
});

it("the Docker image starts the daemon by the command of npm start, with its fixed size for the heap's young generation", () => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: { start: string } };
  expect(text.match(/(?<=^ENTRYPOINT ).+$/gm)?.at(-1)).toBe(
    JSON.stringify(scripts.start.split(' ')).replaceAll(',', ', '),
  );
  expect(scripts.start).toContain(' --max-semi-space-size=8 --heap-growing-percent=70 ');
});

it('each stage of the Dockerfile uses one exact Node version, with the major number in .nvmrc', () => {
  const [, major = ''] = /^ARG NODE_IMAGE=node:(\d+)\.\d+\.\d+-[\w-]+@sha256:[0-9a-f]{64}$/m.exec(text) ?? [];
  expect(major).toBe(textOf('.nvmrc').trim());
  expect([...text.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)).toEqual(Array(4).fill('${NODE_IMAGE}'));
});

it('the Docker image runs as a numbered user, and its health check asks only whether the process is alive', () => {
  expect(of('USER')).toEqual(['1000:1000', '1000:1000']);
  expect(of('HEALTHCHECK').join()).toContain('/livez');
  expect(of('HEALTHCHECK').join()).not.toContain('readyz');
});

const MADE_BY: Readonly<Record<string, string>> = {
  node_modules: 'npm ci --omit=dev',
  dist: 'npm run build',
  'packages/mor/dist': 'npm run build',
  'packages/sandbox/dist': 'npm run build',
};

type Compose = {
  readonly name: string;
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, { readonly name?: string } | null>>;
};
type Service = {
  readonly image: string;
  readonly profiles?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly env_file?: readonly string[];
  readonly volumes?: readonly string[];
};

/** The compose file with the variables of an env file in it. Throws compose's error for a missing variable. */
function composed(env: NodeJS.Dict<string>): Compose {
  const filled = textOf('docker-compose.yml').replace(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_, name: string, kind: string | undefined, text: string = ''): string => {
      const value = env[name] ?? '';
      if (value !== '') return value;
      if (kind === '?') throw new Error(`required variable ${name} is missing a value: ${text}`);
      return kind === '-' ? text : '';
    },
  );
  const found = parse(filled) as Compose;
  // COMPOSE_PROJECT_NAME, also from an env file, comes before the name in the file.
  return { ...found, name: env['COMPOSE_PROJECT_NAME'] ?? found.name };
}

const PASSWORDS = { POSTGRES_PASSWORD: 'abc123', POSTGRES_APP_PASSWORD: 'def456' };

it('the compose file starts a database and asks for its two passwords, the settings missing in .env.example', () => {
  const copied = parseEnv(renderEnvExample());
  for (const name of Object.keys(PASSWORDS))
    expect(() => composed({ ...copied, ...PASSWORDS, [name]: '' })).toThrow(new RegExp(`${name} .*: set it in \\.env`));
  const { services } = composed({ ...copied, ...PASSWORDS });
  expect(services['crossbill']?.env_file).toEqual(['.env']);
  // The daemon gets its own role, and neither the owner's name nor the owner's password.
  expect(services['crossbill']?.environment).toMatchObject({
    DATABASE_URL: 'postgres://crossbill:def456@postgres:5432/crossbill',
    POSTGRES_PASSWORD: '',
  });
  expect(services['migrate']?.environment['DATABASE_URL']).toBe(
    'postgres://crossbill_owner:abc123@postgres:5432/crossbill',
  );
  expect(services['postgres']?.environment).toEqual({ POSTGRES_DB: 'crossbill', ...PASSWORDS });
});

it('the compose file starts the sandbox with deploy/sandbox.env alone and a database of its own', () => {
  const real = composed(PASSWORDS);
  const sandbox = composed(parseEnv(textOf('deploy/sandbox.env')));
  expect(sandbox.services['crossbill']?.env_file).toEqual(['deploy/sandbox.env']);
  expect(sandbox.services['sandbox']?.profiles).toEqual(['sandbox']);
  // Volumes have the name <project>_<volume> unless they name themselves.
  const volumesOf = (compose: Compose): readonly string[] =>
    Object.entries(compose.volumes).map(([volume, own]) => own?.name ?? `${compose.name}_${volume}`);
  expect(volumesOf(real)).toEqual(['crossbill_postgres-data']);
  expect(volumesOf(sandbox)).toEqual(['crossbill-sandbox_postgres-data']);
});

it.each(['README.md', 'docs/install.md', 'docker-compose.yml'])(
  'the page %s names existing env files and compose profiles',
  (page) => {
    const profiles = Object.values(composed(PASSWORDS).services).flatMap((s) => s.profiles ?? []);
    for (const [, file = ''] of textOf(page).matchAll(/--env-file (deploy\/\S+?)[`) ]/g))
      expect(isThere(file)).toBe(true);
    for (const [, profile = ''] of textOf(page).matchAll(/--profile (\w+)/g)) expect(profiles).toContain(profile);
  },
);
