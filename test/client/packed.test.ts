// The five published packages as npm packs them, each installed alone. As with pnpm, Plug'n'Play and linked installs, a
// package sees the packages it declares, and no other.
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { root, textOf } from '../docs/support.js';

const FOLDERS = {
  crossbill: '.',
  '@crossbill/client': 'packages/client',
  '@crossbill/embedded-postgres': 'packages/embedded-postgres',
  '@crossbill/mor': 'packages/mor',
  '@crossbill/sandbox': 'packages/sandbox',
} as const;
type Name = keyof typeof FOLDERS;
const NAMES = Object.keys(FOLDERS) as Name[];

type Manifest = {
  readonly repository: { readonly type: string; readonly url: string; readonly directory?: string };
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};
const run = promisify(execFile);
const env = { ...process.env, NODE_OPTIONS: '', npm_config_update_notifier: 'false' };
const dir = realpathSync(mkdtempSync(join(tmpdir(), 'crossbill-packed-')));
const installed = (name: Name): string => join(dir, name.replace('/', '-'), 'node_modules', name);

beforeAll(async () => {
  const from = NAMES.map((name) => `./${FOLDERS[name]}`);
  const pack = ['pack', '--ignore-scripts=false', '--json', '--pack-destination', dir, ...from];
  const { stdout } = await run('npm', pack, { cwd: root, env });
  const packed = JSON.parse(stdout) as { readonly name: Name; readonly filename: string }[];
  for (const { name, filename } of packed) {
    mkdirSync(installed(name), { recursive: true });
    await run('tar', ['-xzf', join(dir, filename), '-C', installed(name), '--strip-components=1']);
  }
  for (const name of NAMES) linkDependencies(name);
}, 300_000);
afterAll(() => rmSync(dir, { recursive: true }));

/** Shows a package its declared dependencies: our own as packed, all others as installed in the repository. */
function linkDependencies(name: Name): void {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(installed(name), 'package.json'), 'utf8'),
  ) as Manifest;
  for (const of of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const at = of in FOLDERS ? installed(of as Name) : join(root, 'node_modules', of);
    if (!existsSync(at)) continue; // the PostgreSQL of another platform
    const link = join(installed(name), 'node_modules', of);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(at, link);
  }
}

async function node(name: Name, ...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, args, { cwd: join(dir, name.replace('/', '-')), env });
  return stdout;
}
const imported = (name: Name, specifier: string): Promise<string> =>
  node(name, '--input-type=module', '-e', `console.log(Object.keys(await import('${specifier}')).join(' '))`);

it('each published package names its repository and folder, and builds itself before npm packs it', () => {
  const said = NAMES.map((name) => {
    const { repository, scripts } = JSON.parse(textOf(`${FOLDERS[name]}/package.json`)) as Manifest;
    expect(scripts['prepack']).toMatch(/npm run .*build/);
    return [repository.type, repository.url, repository.directory ?? '.'];
  });
  const [first = []] = said;
  expect(said).toEqual(NAMES.map((name) => ['git', first[1], FOLDERS[name]]));
});

it.each<[Name, string, string]>([
  ['@crossbill/mor', '@crossbill/mor', 'MorClient'],
  ['@crossbill/mor', '@crossbill/mor/read.js', 'parseListOf'],
  ['@crossbill/client', '@crossbill/client', 'createClient'],
  ['@crossbill/embedded-postgres', '@crossbill/embedded-postgres', 'startEmbeddedPostgres'],
  ['@crossbill/sandbox', '@crossbill/sandbox', 'startSandbox'],
])('the packed %s alone imports %s with its declared packages only', async (name, specifier, member) => {
  expect((await imported(name, specifier)).trim().split(' ')).toContain(member);
});

it('the packed programs run with their declared packages only', async () => {
  const { version } = JSON.parse(textOf('package.json')) as { readonly version: string };
  expect(await node('crossbill', join(installed('crossbill'), 'dist/cli.js'), '--version')).toBe(`${version}\n`);
  // The command line loads its parts late: this loads all modules of the daemon.
  expect(await imported('crossbill', join(installed('crossbill'), 'dist/app.module.js'))).toContain('AppModule');
  const sandbox = join(installed('@crossbill/sandbox'), 'dist/main.js');
  expect(await node('@crossbill/sandbox', sandbox, '--help')).toContain('Usage: crossbill-sandbox');
});

it.each<[Name, string]>([
  ['@crossbill/mor', 'MorClient'],
  ['@crossbill/embedded-postgres', 'startEmbeddedPostgres'],
  ['@crossbill/sandbox', 'startSandbox'],
])('the packed %s has the types of what it exports', async (name, member) => {
  const at = join(dir, name.replace('/', '-'));
  writeFileSync(join(at, 'package.json'), '{"type":"module"}');
  writeFileSync(join(at, 'use.ts'), `import { ${member} } from '${name}';\nexport const made: string = ${member};\n`);
  const options = { module: 'NodeNext', target: 'ES2022', strict: true, noEmit: true, skipLibCheck: true };
  const types = { types: ['node'], typeRoots: [join(root, 'node_modules/@types')] };
  writeFileSync(
    join(at, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...options, ...types }, files: ['use.ts'] }),
  );
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const said = await run(process.execPath, [tsc, '-p', at]).catch((error: { stdout: string }) => error);
  // One error: the export is no text. Without types it would be `any`, and fit.
  expect(said.stdout.match(/error TS\d+/g)).toEqual(['error TS2322']);
});
