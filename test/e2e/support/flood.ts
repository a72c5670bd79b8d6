// Strangers who hold connections open: each sends a head and all of its body but the last byte, and then nothing more.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';

export type Flood = {
  /** How many were answered with this status, by status; `0` is those that were only cut off. */
  readonly answered: ReadonlyMap<number, number>;
  /** Connections of the flood that are still open. */
  readonly open: number;
  end(): void;
};

/** Resolves when each of `count` connections has handed over what it will ever send, or has lost its connection. */
export async function flood(
  url: string,
  target: { readonly path: string; readonly headers: Readonly<Record<string, string>>; readonly bytes: number },
  count: number,
): Promise<Flood> {
  const { hostname, port } = new URL(url);
  const fields = Object.entries({ host: 'x', ...target.headers, 'content-length': String(target.bytes) });
  const head = `POST ${target.path} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  const all = Buffer.concat([Buffer.from(head), Buffer.alloc(target.bytes - 1, 'x')]);
  const answered = new Map<number, number>();
  const open = new Set<Socket>();
  const tell = (status: number): void => void answered.set(status, (answered.get(status) ?? 0) + 1);
  const one = (): Promise<void> =>
    new Promise((resolve) => {
      let status = 0;
      const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
      open.add(socket);
      socket.once('data', (chunk: Buffer) => {
        status = Number(/^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1'))?.[1]);
        tell(status);
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        if (status === 0) tell(0);
        resolve();
      });
      socket.write(all, () => resolve());
    });
  await Promise.all(Array.from({ length: count }, one));
  return {
    answered,
    get open() {
      return open.size;
    },
    end: () => open.forEach((socket) => socket.destroy()),
  };
}

/** Memory of a process in MB: what it holds, and the most that it ever held. */
export function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mb = (name: string): number =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024);
  return { now: mb('VmRSS'), peak: mb('VmHWM') };
}

/** `wanted`, or as many as this process may have open beside its other files. Fewer than 2,000 would show nothing: then it throws. */
export function mostConnections(wanted: number): number {
  const limit = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }));
  const most = Number.isNaN(limit) ? wanted : Math.min(wanted, limit - 500);
  if (most < 2_000) throw new Error(`only ${limit} files may be open here: raise it (ulimit -n 6000)`);
  return most;
}
