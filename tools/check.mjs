// `npm run check`: runs all checks without a database at the same time, since one core alone would take three times as
// long. Only the audit needs the network. If nobody answers (2), it says so, and a release does not pass its own gate.
import { spawn } from 'node:child_process';

const PARTS = [
  'check:lint',
  'check:types',
  'check:features',
  'test:unit',
  'check:format',
  'check:prose',
  'check:audit',
];

/** Runs a check. Returns its output and whether it passed. */
function run(script) {
  return new Promise((resolve) => {
    const child = spawn('npm', ['run', '--silent', script], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
    child.on('error', (error) => resolve({ ok: false, said: error.message }));
    child.on('close', (code) => resolve({ ok: code === 0 || (code === 2 && script === 'check:audit'), said }));
  });
}

const failed = [];
await Promise.all(
  PARTS.map(async (script) => {
    const { ok, said } = await run(script);
    process.stdout.write(`${ok ? 'ok' : 'failed'}: ${script}\n${said}`); // the whole output when a check ends
    if (!ok) failed.push(script);
  }),
);
process.exitCode = failed.length === 0 ? 0 : 1;
