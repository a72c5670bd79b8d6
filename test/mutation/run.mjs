// Plants each bug of the list in a copy of the project, runs the tests that should notice and some simulated seeds, and prints
// who did. Run by hand: node test/mutation/run.mjs [part of a name]. Exit code 1 when a bug was noticed by nobody.
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';
import { mutants } from './mutants.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
const COPIED = ['src', 'test', 'migrations', 'package.json', 'jest.config.js', 'tsconfig.json', 'tsconfig.build.json'];
const LIMIT_MS = 240_000;
const SEEDS = ['--seeds', '20', '--from', '1'];

const wanted = process.argv[2] ?? '';
const copy = mkdtempSync(join(tmpdir(), 'crossbill-mutation-'));
const tell = (text) => process.stdout.write(`${text}\n`);

/** Runs a command in the copy. Gives its exit code and what it said; a run that takes too long counts as noticed. */
function run(command, args, env) {
  return new Promise((done) => {
    const child = spawn(command, args, { cwd: copy, env: { ...process.env, ...env } });
    let text = '';
    const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (some) => (text += some));
    child.on('close', (code) => {
      clearTimeout(timer);
      done({ code: code ?? 124, text });
    });
  });
}

const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);

/** The file as the built program has it. */
function build(file, text) {
  if (!file.startsWith('src/')) return;
  const compilerOptions = { ...options, noEmit: false, module: ts.ModuleKind.ESNext };
  const out = ts.transpileModule(text, { compilerOptions, fileName: join(copy, file) });
  writeFileSync(join(copy, file.replace(/^src/, 'dist').replace(/\.ts$/, '.js')), out.outputText);
}

function plant(file, text) {
  writeFileSync(join(copy, file), text);
  build(file, text);
}

const byTests = async ({ tests }, url) => {
  const env = {
    TEST_DATABASE_URL: url,
    NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning',
  };
  const { code, text } = await run('node', ['node_modules/jest/bin/jest.js', '--bail', ...tests], env);
  if (code === 0) return null;
  return /●\s+(.+)/.exec(text)?.[1]?.split(' › ').at(-1) ?? `ends with ${code}`;
};

const bySimulation = async ({ simulate = SEEDS }, url) => {
  const { code, text } = await run('node', ['dist/simulate/main.js', ...simulate], { DATABASE_URL: url });
  if (code === 0) return null;
  return /FAILED .+\n {2}(.+)/.exec(text)?.[1] ?? `ends with ${code}: ${text.trim().split('\n').at(-1) ?? ''}`;
};

const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text.padEnd(length));

async function main() {
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  tell('building …');
  const built = await run('node', ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noCheck'], {});
  if (built.code !== 0) throw new Error(`the copy does not build:\n${built.text}`);
  const { startEmbeddedPostgres } = await import(pathToFileURL(join(copy, 'dist/postgres/embedded-postgres.js')).href);
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
  const log = { info: () => undefined, warn: () => undefined };
  const server = await startEmbeddedPostgres({ dataDir: join(copy, 'data'), log, settings });
  const missed = [];
  try {
    const chosen = mutants.filter((m) => m.name.includes(wanted));
    tell(`${cut('planted bug', 56)} | ${cut('noticed by the test', 60)} | noticed by the simulation`);
    for (const mutant of chosen) {
      const whole = readFileSync(join(copy, mutant.file), 'utf8');
      if (whole.split(mutant.find).length !== 2)
        throw new Error(`${mutant.name}: its text is not once in ${mutant.file}`);
      plant(
        mutant.file,
        whole.replace(mutant.find, () => mutant.replace),
      );
      try {
        const found = [await byTests(mutant, server.adminUrl), await bySimulation(mutant, server.adminUrl)];
        if (found.every((f) => f === null)) missed.push(mutant.name);
        const [test, simulation] = found.map((f) => f ?? '– missed –');
        tell(`${cut(mutant.name, 56)} | ${cut(test, 60)} | ${cut(simulation, 90).trimEnd()}`);
      } finally {
        plant(mutant.file, whole);
      }
    }
    tell(
      `\n${chosen.length} bugs planted, ${missed.length} noticed by nobody${missed.map((m) => `\n  ${m}`).join('')}`,
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
