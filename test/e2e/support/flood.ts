// Clients that hold connections open: each sends a head and its body except the last byte, and then nothing more.
import { execFileSync, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Flood = {
  /** The number of responses by status. `0` counts connections cut without a response. */
  readonly answered: ReadonlyMap<number, number>;
  end(): void;
};

type Report = { readonly sent: boolean; readonly answered: Readonly<Record<string, number>> };

/** Resolves when each of `count` connections has sent its part or is closed. */
export async function flood(
  url: string,
  target: { readonly path: string; readonly headers: Readonly<Record<string, string>>; readonly bytes: number },
  count: number,
): Promise<Flood> {
  const fields = Object.entries({ host: 'x', ...target.headers, 'content-length': String(target.bytes) });
  const head = `POST ${target.path} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  const strangers = fork(join(import.meta.dirname, 'flood-process.mjs'), [
    url,
    String(count),
    head,
    String(target.bytes),
  ]);
  let answered: ReadonlyMap<number, number> = new Map();
  await new Promise<void>((resolve, reject) => {
    strangers.on('message', (report: Report) => {
      answered = new Map(Object.entries(report.answered).map(([status, n]) => [Number(status), n]));
      if (report.sent) resolve();
    });
    strangers.on('exit', (code) => reject(new Error(`the strangers ended early, with exit code ${code}`)));
  });
  return {
    get answered() {
      return answered;
    },
    end: () => void strangers.kill('SIGKILL'),
  };
}

/** Memory of a process in MB: now, and the most so far. */
export function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mb = (name: string): number =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024);
  return { now: mb('VmRSS'), peak: mb('VmHWM') };
}

/** Throws if a process may not open this many files: with fewer connections the test would prove nothing. */
export function mustOpen(files: number): void {
  const limit = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }));
  if (limit < files) throw new Error(`only ${limit} files may be open here: raise it (ulimit -n ${files})`);
}
