// `npm run build`: compiles the packages, the daemon and the tools. `-- client` compiles packages/client too. A step
// without a changed source is skipped. Shows progress, because a first build without output seems to hang.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * `reads`: the folders and files of a step's sources. `stamp`: a file next to the output with the hash of all sources
 * so far. A step may import the output of each earlier step, so its stamp contains theirs.
 */
const tscOf = (name) => ({
  what: `packages/${name}`,
  run: ['tsc', '-p', `packages/${name}`],
  reads: [`packages/${name}/src`, `packages/${name}/tsconfig.json`, `packages/${name}/package.json`],
  stamp: `packages/${name}/dist/.stamp`,
});
const STEPS = [
  ...['embedded-postgres', 'mor', 'sandbox'].map(tscOf),
  {
    what: 'the daemon',
    run: ['nest', 'build'],
    reads: ['src', 'tsconfig.build.json', 'nest-cli.json', 'package.json'],
    stamp: 'dist/.stamp',
  },
  {
    what: 'the tools',
    run: ['tsc', '-p', 'tsconfig.tools.json'],
    reads: ['tools', 'tsconfig.tools.json'],
    stamp: 'dist/tools/.stamp',
  },
  { ...tscOf('proof'), stamp: 'dist/proof/.stamp' },
  { ...tscOf('bench'), stamp: 'dist/bench/.stamp' },
  ...(process.argv.includes('client')
    ? [{ ...tscOf('client'), run: ['npm', 'run', '--silent', '--prefix', 'packages/client', 'build'] }]
    : []),
];
/** A change of these files changes every step: the compiler, its options, the dependencies. */
const COMMON = ['package-lock.json', 'tsconfig.json', 'tools/build.mjs'];
const EVERY_MS = 500;

/** Adds the names and bytes of all files below a path to the hash. */
function addTo(hash, path) {
  if (statSync(path).isDirectory()) for (const name of readdirSync(path).sort()) addTo(hash, `${path}/${name}`);
  else hash.update(`${path}\0`).update(readFileSync(path));
}

/** Runs a program with this process's output and returns its exit code. npm puts node_modules/.bin on the PATH. */
function run([program, ...args]) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit', shell: process.platform === 'win32' });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

const startedAt = performance.now();
let step = '';
const { stderr } = process;
/** Uses stderr, because programs such as npm start reserve stdout for their readers. */
const say = () => stderr.write(`\rBuilding ${step}  ${Math.round((performance.now() - startedAt) / 1000)} s\u001b[K`);
const timer = stderr.isTTY ? setInterval(say, EVERY_MS) : null;
const hash = createHash('sha256').update(process.version);
for (const path of COMMON) addTo(hash, path);
for (const { what, run: command, reads, stamp } of STEPS) {
  step = what;
  for (const path of reads) addTo(hash, path);
  const now = hash.copy().digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === now) continue;
  process.exitCode = await run(command);
  if (process.exitCode !== 0) break;
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, now);
}
if (timer !== null) {
  clearInterval(timer);
  stderr.write('\r\u001b[K');
}
