// The pairs of `npm run matrix`, and the same versions everywhere.
import { spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import semver from 'semver';
import { root, textOf } from '../docs/support.js';

function pairs(...options: string[]): readonly string[] {
  const run = spawnSync(process.execPath, ['packages/proof/matrix/main.mjs', '--list', ...options], {
    cwd: root,
    encoding: 'utf8',
  });
  return [`exit code ${run.status ?? 'none'}`, ...`${run.stdout}${run.stderr}`.trim().split('\n')];
}

const SERVERS = ['14', '15', '15-debian', '16', '17', '18'];
const pair = (node: string, postgres: string): string => `Node ${node}, PostgreSQL ${postgres}`;

it('the test matrix runs every Node with the newest PostgreSQL, and every PostgreSQL with the newest Node', () => {
  const [ended, ...found] = pairs();
  expect(ended).toBe('exit code 0');
  expect([...found].sort()).toEqual(
    [...SERVERS.map((server) => pair('26', server)), ...['20', '22', '24'].map((node) => pair(node, '18'))].sort(),
  );
});

it('the matrix runs only the Node and PostgreSQL versions given as options', () => {
  expect(pairs('--node', '24', '--postgres', '15-debian')).toEqual(['exit code 0', pair('24', '15-debian')]);
  expect(pairs('--node', '22')).toEqual(['exit code 0', ...SERVERS.map((server) => pair('22', server))]);
  expect(pairs('--postgres', '9')).toEqual(['exit code 2', `--postgres: 9 is none of ${SERVERS.join(', ')}`]);
});

it("the short test matrix includes Debian's PostgreSQL 15 and the Docker image's Node version", () => {
  const found = pairs('--short');
  expect(found).toContainEqual(expect.stringMatching(/^Node \d+, PostgreSQL 15-debian$/));
  expect(found).toContainEqual(pair(textOf('.nvmrc').trim(), '18'));
});

it('the matrix, package.json, README.md and docs/evidence.md name the same Node versions', () => {
  const { engines } = JSON.parse(textOf('package.json')) as { engines: { node: string } };
  const page = textOf('docs/evidence.md');
  for (const range of engines.node.split(' || ')) {
    const lowest = semver.minVersion(range);
    expect(page).toContain(`${lowest?.major ?? ''}.${lowest?.minor ?? ''} `);
    expect(textOf('README.md')).toContain(`${lowest?.major ?? ''}.${lowest?.minor ?? ''} `);
    expect(pairs()).toContain(pair(String(lowest?.major), '18'));
  }
  expect(page).toContain(`| PostgreSQL | ${SERVERS[0] ?? ''} to ${SERVERS.at(-1) ?? ''} |`);
});
