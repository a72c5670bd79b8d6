// The built command line as a process of its own, on a pseudo-terminal (util-linux's `script`) or through pipes.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CLI = join(import.meta.dirname, '../../dist/cli.js');
const DAEMON = join(import.meta.dirname, '../../dist/main.js');
const RUN_MANY = join(import.meta.dirname, 'run-many.mjs');

export type Seen = { readonly code: number | null; readonly out: string; readonly err: string };

export type Job = {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Over the environment of all. */
  readonly env?: Readonly<Record<string, string>>;
};

export type RunOptions = {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Typed on a terminal; Ctrl-C is `\u0003`, Ctrl-D is `\u0004`. */
  readonly reply?: string;
  /** Its output before the typed answer; left out: a question. */
  readonly after?: string;
};

/** macOS has another `script`. */
export const hasTerminals =
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true;

/** A person's view: stdout and stderr as one text, in `out`. Line ends are those of a file. */
export function onTerminal(argv: readonly string[], options: RunOptions): Promise<Seen> {
  return run('script', ['-qefc', shell([process.execPath, CLI, ...argv]), '/dev/null'], options);
}

/** The same of the daemon; the answer ends it. */
export function daemonOnTerminal(options: Required<RunOptions>): Promise<Seen> {
  // `exec`: else the shell between gets Ctrl-C too, and its exit code would count.
  return run('script', ['-qefc', `exec ${shell([process.execPath, DAEMON])}`, '/dev/null'], options);
}

/**
 * Many commands, one after the other. `terminal`: all of it is one, and `out` is a person's view. `terminal, out to a
 * file`: only stdin and stderr are, and `out` is the file. `pipe`: nothing is.
 */
export async function runMany(
  way: 'terminal' | 'terminal, out to a file' | 'pipe',
  jobs: readonly Job[],
  options: RunOptions,
): Promise<readonly Seen[]> {
  const [list, file] = [join(options.cwd, 'jobs.json'), join(options.cwd, 'out.txt')];
  writeFileSync(list, JSON.stringify(jobs));
  const argv = [RUN_MANY, list];
  const command = shell([process.execPath, ...argv]);
  const ran =
    way === 'pipe'
      ? await run(process.execPath, argv, options)
      : await run('script', ['-qefc', way === 'terminal' ? command : `${command} > ${file}`, '/dev/null'], options);
  if (ran.code !== 0) throw new Error(`run-many ended with ${ran.code}: ${ran.out}${ran.err}`);
  const out = parts(way === 'terminal, out to a file' ? readFileSync(file, 'utf8') : ran.out);
  const err = way === 'pipe' ? parts(ran.err) : [];
  return jobs.map((_, i) => ({ code: out[i]?.code ?? null, out: out[i]?.text ?? '', err: err[i]?.text ?? '' }));
}

function parts(text: string): { readonly text: string; readonly code: number }[] {
  return [...text.matchAll(/([^]*?)#### (\d+)\n/g)].map(([, said = '', code]) => ({ text: said, code: Number(code) }));
}

function run(
  program: string,
  argv: readonly string[],
  { env, cwd, reply, after = '[y/N]' }: RunOptions,
): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...argv], {
      cwd,
      env: { PATH: process.env['PATH'], HOME: cwd, SHELL: '/bin/sh', TERM: 'xterm-256color', ...env },
      stdio: ['pipe', 'pipe', 'pipe'], // a `script` without input would end the command's input as well
    });
    const seen = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      seen.out += text;
      if (reply !== undefined && seen.out.includes(after)) child.stdin.end(reply);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (seen.err += text));
    child.stdin.on('error', () => undefined);
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out: visible(seen.out.replaceAll('\r\n', '\n')), err: seen.err }));
  });
}

/** What stays on a terminal: `\u001b[K` erases what stood before it on its line. */
const visible = (text: string): string => text.replaceAll(/^[^\n]*\r\u001b\[K/gm, '');

const shell = (words: readonly string[]): string => words.map((w) => `'${w.replaceAll("'", `'\\''`)}'`).join(' ');
