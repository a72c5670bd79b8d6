// `npm run build`: compiles the packages, the daemon and the tools. `-- client` compiles packages/client too. Shows
// progress, because a first build without output seems to hang.
import { spawn } from 'node:child_process';

const STEPS = [
  ...['embedded-postgres', 'mor', 'sandbox'].map((name) => [`packages/${name}`, 'tsc', ['-p', `packages/${name}`]]),
  ['the daemon', 'nest', ['build']],
  ['the tools', 'tsc', ['-p', 'tsconfig.tools.json']],
  ...['proof', 'bench'].map((name) => [`packages/${name}`, 'tsc', ['-p', `packages/${name}`]]),
  ...(process.argv.includes('client')
    ? [['the client', 'npm', ['run', '--silent', '--prefix', 'packages/client', 'build']]]
    : []),
];
const EVERY_MS = 500;

/** Runs a program with this process's output and returns its exit code. npm puts node_modules/.bin on the PATH. */
function run(program, args) {
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
for (const [what, program, args] of STEPS) {
  step = what;
  process.exitCode = await run(program, args);
  if (process.exitCode !== 0) break;
}
if (timer !== null) {
  clearInterval(timer);
  stderr.write('\r\u001b[K');
}
