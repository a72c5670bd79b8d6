// The programs of a pair: jest and the demo. Each writes its output to a file.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const running = new Set();

/** Ends the running programs when a signal ends this process. The server ends when its input closes. */
export function onInterrupt(then) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      for (const child of running) end(child);
      then();
    });
  }
}

const TELL_EVERY_MS = 60_000;

/** Runs jest. Returns its counts and the names of the failed tests. */
export async function tests(node, url, paths, log, tell) {
  const file = `${log}.json`;
  rmSync(file, { force: true });
  const args = ['node_modules/jest/bin/jest.js', ...paths, '--json', `--outputFile=${file}`];
  const progress = setInterval(() => tell(filesDone(`${log}.tests.log`)), TELL_EVERY_MS);
  const how = await run(node, args, `${log}.tests.log`, 60, { TEST_DATABASE_URL: url }).finally(() =>
    clearInterval(progress),
  );
  let found;
  try {
    found = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new Error(`jest ended without a result (${how}); see ${log}.tests.log`);
  }
  const failures = found.testResults.flatMap((f) => {
    const name = f.name.slice(ROOT.length);
    if (f.assertionResults.length === 0 && f.status === 'failed') return [`${name} could not be loaded`];
    return f.assertionResults.filter((t) => t.status === 'failed').map((t) => `${name}: ${t.fullName}`);
  });
  return {
    passed: found.numPassedTests,
    failed: found.numFailedTests + found.numRuntimeErrorTestSuites,
    skipped: found.numPendingTests + found.numTodoTests,
    failures,
  };
}

function filesDone(log) {
  const ended = [...readFileSync(log, 'utf8').matchAll(/^(PASS|FAIL) /gm)].map(([, how]) => how);
  return `${ended.length} files done, ${ended.filter((how) => how === 'FAIL').length} of them failed`;
}

/** Returns null if the demo ended clean. Otherwise returns how it ended, and keeps the daemon's log. */
export async function demo(node, url, log) {
  const folder = await mkdtemp(join(tmpdir(), 'crossbill-matrix-run-'));
  try {
    const args = ['packages/sandbox/dist/demo/main.js', '--once', '--customers', '6', '--months', '2'];
    const how = await run(node, args, `${log}.demo.log`, 10, { DATABASE_URL: url, CROSSBILL_DATA_DIR: folder });
    if (how === 'exit code 0') return null;
    await copyFile(join(folder, 'daemon.log'), `${log}.daemon.log`).catch(() => undefined);
    return `${how}; see ${log}.demo.log and .daemon.log`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs a program, and the processes it starts, on this Node. Returns how it ended, in words. */
function run(node, args, log, minutes, environment) {
  const { DATABASE_URL, TEST_DATABASE_URL, NODE_OPTIONS, ...own } = process.env; // the matrix sets these three
  const env = { ...own, ...environment, PATH: [dirname(node), own.PATH].join(delimiter) };
  const output = openSync(log, 'w');
  const child = spawn(node, args, { cwd: ROOT, env, detached: true, stdio: ['ignore', output, output] });
  closeSync(output);
  running.add(child);
  let tooLong = false;
  const timer = setTimeout(() => {
    tooLong = true;
    end(child);
  }, minutes * 60_000);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      running.delete(child);
      const how = code === null ? String(signal) : `exit code ${code}`;
      resolve(tooLong ? `not done after ${minutes} minutes` : how);
    });
  });
}

/** Ends the process and all its children. */
function end(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Ignore: the process has ended already.
  }
}
