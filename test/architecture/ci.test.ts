// The forge's workflow runs a person's own commands, on the same versions.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { root, textOf } from '../docs/support.js';

type Pair = { readonly node: string; readonly postgres: string };
type Step = { readonly uses?: string; readonly run?: string };
type Job = {
  readonly container: string;
  readonly steps: readonly Step[];
  readonly strategy?: {
    readonly matrix: {
      readonly node: readonly string[];
      readonly postgres: readonly string[];
      readonly include: readonly Pair[];
    };
  };
};

const { jobs } = parse(textOf('.github/workflows/ci.yml')) as { readonly jobs: Readonly<Record<string, Job>> };

it('the CI workflow runs `.ci/run` in one job and the long tests in another job', () => {
  expect(jobs['check']?.steps.map(({ run }) => run)).toContain('.ci/run');
  expect(jobs['long']?.steps.map(({ run }) => run)).toContain('.ci/run --long');
  expect(() => accessSync(join(root, '.ci/run'), constants.X_OK)).not.toThrow();
});

it('the short and the long test runs of the CI workflow together run every test', () => {
  expect(textOf('.ci/run')).toMatch(/--long \][^]*^ *npm run test:long [^]*^else[^]*^ *npm test /m);
  const listed = (script: string): string[] =>
    spawnSync('npm', ['run', '--silent', script, '--', '--listTests'], { cwd: root, encoding: 'utf8' })
      .stdout.split('\n')
      .filter((line) => line.endsWith('.test.ts'));
  const [short, long] = [listed('test'), listed('test:long')];
  expect(long).toHaveLength(textOf('test/support/long.js').match(/^ {2}'/gm)?.length ?? 0); // each named file is there
  const all = spawnSync(process.execPath, ['node_modules/jest/bin/jest.js', '--listTests'], {
    cwd: root,
    encoding: 'utf8',
  });
  const every = all.stdout.split('\n').filter((line) => line.endsWith('.test.ts'));
  expect([...short, ...long].sort()).toEqual(every.sort());
});

it('the CI workflow runs each pair of Node and PostgreSQL versions from `npm run matrix` in its own job', () => {
  const { node = [], postgres = [], include = [] } = jobs['matrix']?.strategy?.matrix ?? {};
  const pairs = [...node.flatMap((n) => postgres.map((p) => ({ node: n, postgres: p }))), ...include];
  const listed = spawnSync(process.execPath, ['packages/proof/matrix/main.mjs', '--list'], {
    cwd: root,
    encoding: 'utf8',
  });
  const shown = pairs.map((pair) => `Node ${pair.node}, PostgreSQL ${pair.postgres}`);
  expect(shown.sort()).toEqual(listed.stdout.trim().split('\n').sort());
  expect(jobs['matrix']?.steps.at(-1)?.run).toBe(
    'npm run matrix -- --node ${{ matrix.node }} --postgres ${{ matrix.postgres }}',
  );
});

it("the CI workflow runs on the Docker image's Node version", () => {
  const image = /^ARG NODE_IMAGE=(\S+)-slim@/m.exec(textOf('Dockerfile'))?.[1];
  for (const job of Object.values(jobs)) expect(job.container.split('@')[0]).toBe(image);
});
