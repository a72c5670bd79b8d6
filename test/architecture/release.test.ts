// A release names its parts and its origin: the workflow has the steps, and the lock is enough for the bill of
// materials.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { verdictOf } from '../../tools/audit.mjs';
import { root, textOf } from '../docs/support.js';

type Job = {
  readonly needs?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly {
    readonly uses?: string;
    readonly run?: string;
    readonly with?: Readonly<Record<string, unknown>>;
  }[];
};
const { permissions, jobs } = parse(textOf('.github/workflows/release.yml')) as {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<'check' | 'npm' | 'image', Job>>;
};
const commands = (job: Job): string => job.steps.map(({ run = '' }) => run).join('\n');

it('the release workflow publishes only after every check, and has read permission by default', () => {
  expect(permissions).toEqual({ contents: 'read' });
  expect(commands(jobs.check)).toMatch(/^\.ci\/run\n\.ci\/run --long$/m);
  expect([jobs.npm.needs, jobs.image.needs]).toEqual(['check', 'check']);
});

it('the release workflow publishes both npm packages with provenance and signs a bill of materials', () => {
  const run = commands(jobs.npm);
  expect(run.match(/^ *npm publish .*--provenance/gm)).toHaveLength(2);
  expect(jobs.npm.permissions).toMatchObject({ 'id-token': 'write' });
  expect(run).toContain('npm run --silent sbom > crossbill.cdx.json');
  expect(run).toMatch(
    /cosign sign-blob --yes --bundle (\S+) crossbill\.cdx\.json\n[\s\S]*gh release upload .* crossbill\.cdx\.json \1/,
  );
  expect(jobs.npm.steps.some(({ uses = '' }) => uses.startsWith('sigstore/cosign-installer@'))).toBe(true);
});

it('the release workflow pushes the image with provenance and a bill of materials, and signs its digest', () => {
  const push = jobs.image.steps.find(({ uses = '' }) => uses.startsWith('docker/build-push-action@'));
  expect(push?.with).toMatchObject({ provenance: 'mode=max', sbom: true });
  expect(jobs.image.permissions).toMatchObject({ 'id-token': 'write', packages: 'write' });
  expect(commands(jobs.image)).toContain(
    'cosign sign --yes --recursive "ghcr.io/${{ github.repository }}@${{ steps.push.outputs.digest }}"',
  );
});

it('each workflow pins each action to a commit, and names its version', () => {
  for (const file of ['ci', 'release'])
    for (const [line] of textOf(`.github/workflows/${file}.yml`).matchAll(/^.*\buses:.*$/gm))
      expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

it('each image from elsewhere is pinned by its exact version and digest', () => {
  const named = [
    ...['ci', 'release'].flatMap((file) => [...textOf(`.github/workflows/${file}.yml`).matchAll(/container: (\S+)/g)]),
    ...textOf('Dockerfile').matchAll(/^(?:ARG \w*IMAGE=|FROM )([^$\s]\S+)/gm),
    ...['docker-compose.yml', 'deploy/caddy/compose.yml'].flatMap((file) => [
      ...textOf(file).matchAll(/image: (\S+)/g),
    ]),
  ].map(([, image = '']) => image);
  const foreign = named.filter((image) => !/^crossbill(-sandbox)?$/.test(image));
  expect(foreign.length).toBeGreaterThanOrEqual(7);
  for (const image of foreign) expect(image).toMatch(/^[\w/-]+:\d+(\.\d+)+[\w-]*@sha256:[0-9a-f]{64}$/);
});

it('each program of a published package names its interpreter in its first line', () => {
  for (const folder of ['.', ...['client', 'embedded-postgres', 'mor', 'sandbox'].map((name) => `packages/${name}`)]) {
    const { bin = {} } = JSON.parse(textOf(`${folder}/package.json`)) as { readonly bin?: Record<string, string> };
    for (const program of Object.values(bin)) {
      const source = `${folder}/${program.replace('dist/', 'src/').replace(/\.js$/, '.ts')}`;
      expect([source, textOf(source).split('\n')[0]]).toEqual([source, '#!/usr/bin/env node']);
    }
  }
});

it('the audit of dependencies fails on a critical vulnerability, and if the registry does not answer', () => {
  const holes = (severity: string): string =>
    JSON.stringify({
      vulnerabilities: { undici: { severity, range: '<7.5.0' } },
      metadata: { vulnerabilities: { [severity]: 1, total: 1 } },
    });
  expect(verdictOf(holes('critical'))).toMatchObject({ code: 1, line: expect.stringContaining('undici <7.5.0') });
  expect(verdictOf(holes('low'))).toMatchObject({ code: 0, line: expect.stringContaining('undici <7.5.0') });
  const none = JSON.stringify({ vulnerabilities: {}, metadata: { vulnerabilities: { total: 0 } } });
  expect(verdictOf(none)).toEqual({ code: 0, line: 'the registry knows no hole in any package of the run time' });
  for (const noReply of ['', 'not JSON', JSON.stringify({ message: '405 Method Not Allowed' })])
    expect(verdictOf(noReply)).toMatchObject({
      code: 2,
      line: expect.stringMatching(/did not answer .*Nothing was looked up/),
    });
  expect(textOf('tools/check.mjs')).toContain("'check:audit'");
  expect(commands(jobs.check)).toContain('npm run check:audit');
});

it('the bill of materials needs no network, and names every production package with version and hash', () => {
  const made = spawnSync(process.execPath, ['tools/sbom.mjs'], { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 });
  expect([made.status, made.stderr]).toEqual([0, '']);
  const bill = JSON.parse(made.stdout) as {
    readonly bomFormat: string;
    readonly metadata: { readonly component: { readonly name: string; readonly version: string } };
    readonly components: readonly { readonly purl: string; readonly hashes?: readonly unknown[] }[];
  };
  const { version } = JSON.parse(textOf('package.json')) as { readonly version: string };
  expect(bill.bomFormat).toBe('CycloneDX');
  expect(bill.metadata.component).toMatchObject({ name: 'crossbill', version });
  const named = new Map(
    bill.components.map((c) => [decodeURIComponent(c.purl.split('?')[0] ?? ''), c.hashes?.length ?? 0]),
  );
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<
      Record<
        string,
        { readonly version?: string; readonly dev?: boolean; readonly devOptional?: boolean; readonly link?: boolean }
      >
    >;
  };
  const missing = Object.entries(lock.packages)
    .filter(
      ([path, e]) => path.startsWith('node_modules/') && e.link !== true && e.dev !== true && e.devOptional !== true,
    )
    .map(([path, e]) => `pkg:npm/${path.slice(path.lastIndexOf('node_modules/') + 13)}@${e.version ?? ''}`)
    .filter((purl) => (named.get(purl) ?? 0) === 0);
  expect(missing).toEqual([]);
  expect(named.size).toBeGreaterThan(150);
});
