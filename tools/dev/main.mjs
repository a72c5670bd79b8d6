// `npm run dev`: the compiler in watch mode, the sandbox, and the daemon, which restarts after each change. Ctrl-C
// stops all three. Arguments go to the daemon's Node: `npm run dev -- --inspect`. Set SANDBOX_… and the daemon's
// settings in the environment. The sandbox keeps its customers and invoices over a restart of the daemon. After a
// change of the sandbox itself, start `npm run dev` again.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseEnv } from 'node:util';

/**
 * The folder of the database. The sandbox starts empty and repeats its ids, so the database starts empty too. A
 * database in DATABASE_URL stays as it is.
 */
const DATA_DIR = '.crossbill/dev';
const ENV_FILE = '.crossbill/dev.env';
/** Loaded into each child. Stops the child when this process ends in any way, because the pipe then closes. */
const WATCHER = `process.stdin.resume().once('close', () => process.kill(process.pid, 'SIGTERM'))`;
/**
 * npm passes Ctrl-C on although the terminal has sent it already. A signal this soon after the first is the same
 * Ctrl-C.
 */
const SAME_SIGNAL_MS = 1_000;

const say = (text) => console.log(`dev: ${text}`);
let ending = false;
let askedAt = -Infinity;
let sandbox = null;
let daemon = null;
let settings = null;

const nest = ['node_modules/.bin/nest', 'build', '--watch', '--watchAssets', '--preserveWatchOutput'];
const compiler = start(nest, process.env, 'pipe');
compiler.on('exit', (code) => ending || void end(`the compiler ended with exit code ${code}`, 1));
let builds = Promise.resolve();
createInterface({ input: compiler.stdout }).on('line', (line) => {
  const found = /Found (\d+) errors?\. Watching/.exec(line);
  if (found === null) return line.trim() === '' || /^\S*\[?[\d:]+ [AP]M/.test(line) ? undefined : console.log(line);
  if (found[1] !== '0') return say(`${found[1]} errors; ${daemon ? 'the daemon of before keeps running' : 'waiting'}`);
  builds = builds.then(afterBuild).catch((e) => end(e.message, 1));
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    const again = performance.now() - askedAt < SAME_SIGNAL_MS;
    askedAt = performance.now();
    if (!again) void end('stopping', 0);
  });
}

async function afterBuild() {
  if (ending) return;
  if (settings === null) await startSandbox();
  if (daemon !== null) {
    say('restarting the daemon');
    await stop(daemon);
  }
  if (!ending) startDaemon();
}

/**
 * Starts a program in a separate process group. So Ctrl-C reaches only this process, which stops the daemon before its
 * peers.
 */
function start(args, env, stdout) {
  const watched = ['--import', `data:text/javascript,${encodeURIComponent(WATCHER)}`, ...args];
  return spawn(process.execPath, watched, { env, stdio: ['pipe', stdout, 'inherit'], detached: true });
}

async function startSandbox() {
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.tools.json'], {
    stdio: 'inherit',
  });
  sandbox = start(['packages/sandbox/dist/main.js'], process.env, 'pipe');
  sandbox.once('exit', (code) => ending || void end(`the sandbox ended with exit code ${code}`, 1));
  const lines = [];
  await new Promise((resolve) => {
    createInterface({ input: sandbox.stdout }).on('line', (line) => {
      lines.push(line);
      if (line.startsWith('# control routes:')) resolve();
    });
  });
  rmSync(DATA_DIR, { recursive: true, force: true });
  mkdirSync(DATA_DIR, { recursive: true });
  settings = { CROSSBILL_DATA_DIR: DATA_DIR, ...parseEnv(lines.join('\n')) };
  const text = Object.entries(settings).map(([name, value]) => `${name}='${value}'\n`);
  writeFileSync(ENV_FILE, text.join(''), { mode: 0o600 });
  say(`sandbox: ${lines.at(-1).slice(2)}`);
  say(`console: http://127.0.0.1:${process.env.PORT ?? 3000}/console, key ${opsKey(settings.API_KEYS)}`);
  say(`command line: node dist/cli.js status --env-file ${ENV_FILE}`);
}

function opsKey(keys) {
  const [, key] = /:ops:([^,]+)/.exec(keys);
  return key;
}

function startDaemon() {
  const env = { ...settings, ...process.env };
  const child = start(['--enable-source-maps', ...process.argv.slice(2), 'dist/main.js'], env, 'inherit');
  daemon = child;
  child.once('exit', (code, signal) => {
    if (daemon !== child) return;
    daemon = null;
    say(`the daemon ended (${signal ?? `exit code ${code}`}); it starts again after the next change`);
  });
}

/** Sends SIGTERM and waits for the end. */
async function stop(child) {
  if (child === daemon) daemon = null;
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

async function end(why, code) {
  if (ending) {
    for (const child of [daemon, sandbox, compiler]) child?.kill('SIGKILL'); // a second Ctrl-C: kill at once
    process.exit(1);
  }
  ending = true;
  say(why);
  for (const child of [daemon, sandbox, compiler]) if (child !== null) await stop(child);
  process.exit(code);
}
