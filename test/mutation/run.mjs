// Plants each bug of the list in a copy of the project, runs the tests meant to notice it and perhaps the simulation,
// and prints the ones noticing it, with their seconds. Exit code 1 if no test noticed a bug; a run over its time has
// noticed nothing. By hand, next to other work with nice -n 10: node test/mutation/run.mjs [--tests-only] [--seeds N]
// [part of a name]…
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import ts from 'typescript';
import '../support/runtime/register.js';
import { mutants } from './mutants.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
const COPIED = [
  'src',
  'tools',
  'packages',
  'test',
  'migrations',
  'package.json',
  'jest.config.js',
  'jest.unit.config.js',
  'tsconfig.json',
  'tsconfig.build.json',
];
/** For the tests of one bug, and for its simulation; on a quiet machine they take a tenth of it. */
const LIMIT_MS = 600_000;
const LATE = '– not through –';
/** Invisible for a simulation, or without one. */
const NOT_ASKED = '–';

const { values: asked, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    /** Leaves the simulation out: seconds for each bug instead of half a minute. */
    'tests-only': { type: 'boolean', default: false },
    /** For bugs random seeds should notice. */
    seeds: { type: 'string', default: '50' },
  },
});
const SEEDS = ['--seeds', asked.seeds, '--from', '1'];
const copy = mkdtempSync(join(tmpdir(), 'crossbill-mutation-'));
const tell = (text) => process.stdout.write(`${text}\n`);

/** Runs a command in the copy. Returns its exit code (null: it took too long) and its output. */
function run(command, args, env) {
  return new Promise((done) => {
    const child = spawn(command, args, { cwd: copy, env: { ...process.env, ...env } });
    let text = '';
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, LIMIT_MS);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (some) => (text += some));
    child.on('close', (code) => {
      clearTimeout(timer);
      done({ code: late ? null : code, text });
    });
  });
}

const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);

/** The file as the built program has it. */
function build(file, text) {
  if (!/^(src|tools|packages\/(proof|bench)\/src)\//.test(file)) return;
  const compilerOptions = { ...options, noEmit: false, module: ts.ModuleKind.ESNext };
  const out = ts.transpileModule(text, { compilerOptions, fileName: join(copy, file) });
  const to = join(
    copy,
    file
      .replace(/^src/, 'dist')
      .replace(/^tools/, 'dist/tools')
      .replace(/^packages\/(proof|bench)\/src/, 'dist/$1')
      .replace(/\.ts$/, '.js'),
  );
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, out.outputText);
}

function plant(file, text) {
  writeFileSync(join(copy, file), text);
  build(file, text);
}

const byTests = async ({ tests }, url) => {
  const env = { TEST_DATABASE_URL: url };
  // Without a database, unless a test needs one.
  const config = tests.every((t) => t.startsWith('test/unit/')) ? ['--config', 'jest.unit.config.js'] : [];
  const { code, text } = await run('node', ['node_modules/jest/bin/jest.js', '--bail', ...config, ...tests], env);
  if (code === null) return LATE;
  if (code === 0) return null;
  return /●\s+(.+)/.exec(text)?.[1]?.split(' › ').at(-1) ?? `ends with ${code}`;
};

const bySimulation = async ({ name, simulate = SEEDS }, url) => {
  if (simulate === null || asked['tests-only']) return NOT_ASKED;
  const { code, text } = await run('node', ['dist/proof/simulate/main.js', ...simulate], { DATABASE_URL: url });
  if (code === null) return LATE;
  if (code === 0) return null;
  if (code === 2) throw new Error(`${name}: the simulation takes no such arguments`);
  return /FAILED .+\n {2}(.+)/.exec(text)?.[1] ?? `ends with ${code}: ${text.trim().split('\n').at(-1) ?? ''}`;
};

const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text.padEnd(length));

async function main() {
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  if (!asked['tests-only']) tell('building …');
  for (const folder of asked['tests-only'] ? [] : ['src', 'tools', 'packages/proof/src']) {
    for (const { parentPath, name } of readdirSync(join(copy, folder), { recursive: true, withFileTypes: true })) {
      const file = relative(copy, join(parentPath, name));
      if (name.endsWith('.ts')) build(file, readFileSync(join(copy, file), 'utf8'));
    }
  }
  const { startEmbeddedPostgres } = await import('../../packages/embedded-postgres/src/index.js');
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
  const log = { info: () => undefined, warn: () => undefined };
  const server = await startEmbeddedPostgres({ dataDir: join(copy, 'data'), log, settings });
  const missed = [];
  try {
    const chosen = mutants.filter((m) => wanted.length === 0 || wanted.some((part) => m.name.includes(part)));
    tell(`   s | ${cut('planted bug', 56)} | ${cut('noticed by the test', 60)} | noticed by the simulation`);
    for (const mutant of chosen) {
      const whole = readFileSync(join(copy, mutant.file), 'utf8');
      if (whole.split(mutant.find).length !== 2)
        throw new Error(`${mutant.name}: its text is not once in ${mutant.file}`);
      plant(
        mutant.file,
        whole.replace(mutant.find, () => mutant.replace),
      );
      const startedAt = Date.now();
      try {
        const found = [await byTests(mutant, server.adminUrl), await bySimulation(mutant, server.adminUrl)];
        if (found[0] === null || found[0] === LATE) missed.push(mutant.name);
        const [test, simulation] = found.map((f) => f ?? '– missed –');
        const seconds = String(Math.round((Date.now() - startedAt) / 1000)).padStart(4);
        tell(`${seconds} | ${cut(mutant.name, 56)} | ${cut(test, 60)} | ${cut(simulation, 90).trimEnd()}`);
      } finally {
        plant(mutant.file, whole);
      }
    }
    tell(
      `\n${chosen.length} bugs planted, ${missed.length} noticed by no test${missed.map((m) => `\n  ${m}`).join('')}`,
    );
  } finally {
    await server.stop();
  }
  return missed.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} finally {
  rmSync(copy, { recursive: true, force: true });
}
