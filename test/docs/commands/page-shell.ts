// The shell for the commands of one page, one after the other: a real bash with `crossbill` as the command line of the
// sources.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Readable, type Writable } from 'node:stream';
import { cli } from '../../cli/rig.js';

export type Ran = { readonly code: number; readonly out: string; readonly err: string };

/** Reads each command whole, runs it in this very shell, and reports its exit code; its output goes into two files. */
const LOOP = `
crossbill() {
  local call code
  call=$(mktemp -d "$PAGE_CALLS/XXXXXX")
  printf '%s\\0' "$@" >"$call/argv"; env -0 >"$call/env"; printf '%s' "$PWD" >"$call/cwd"
  code=$(curl -sS "$PAGE_RIG/crossbill" -d "$call")
  cat "$call/out"; cat "$call/err" >&2
  return "$code"
}
node() { if [ "$1" = dist/cli.js ]; then shift; crossbill "$@"; else command node "$@"; fi; }
sleep() { curl -sS "$PAGE_RIG/sleep" -d "$1"; }
while IFS= read -r -d '' command <&3; do
  eval "$command" >"$PAGE_CALLS/out" 2>"$PAGE_CALLS/err" </dev/null
  printf '%s\\0' $? >&4
done
`;

export class PageShell {
  readonly folder = mkdtempSync(join(tmpdir(), 'crossbill-page-'));
  private readonly calls = mkdtempSync(join(tmpdir(), 'crossbill-calls-'));
  private readonly server: Server;
  private shell: ChildProcess | null = null;

  /** @param sleep replaces a wait of so many seconds: until nothing is under way, however long it takes */
  constructor(
    private readonly env: Readonly<Record<string, string>>,
    sleep: (seconds: number) => Promise<void>,
  ) {
    this.server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const body = Buffer.concat(parts).toString('utf8');
        const work = request.url === '/sleep' ? sleep(Number(body)).then(() => '') : this.crossbill(body).then(String);
        work.then(
          (text) => response.end(text),
          (error: unknown) => response.writeHead(500).end(String(error)),
        );
      });
    });
  }

  /** Writes a file the page supposes. */
  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8');
  }

  async open(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    const { port } = this.server.address() as AddressInfo;
    this.shell = spawn('bash', ['--noprofile', '--norc', '-c', LOOP], {
      cwd: this.folder,
      env: {
        PATH: process.env['PATH'],
        HOME: this.folder,
        PAGE_CALLS: this.calls,
        PAGE_RIG: `http://127.0.0.1:${port}`,
        ...this.env,
      },
      stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'],
    });
  }

  async run(command: string): Promise<Ran> {
    const [, , , into, from] = this.shell?.stdio ?? [];
    const said = once(from as Readable, 'data');
    (into as Writable).write(`${command}\0`);
    const [code] = (await said) as [Buffer];
    const file = (name: string): string => readFileSync(join(this.calls, name), 'utf8');
    return { code: Number.parseInt(code.toString(), 10), out: file('out'), err: file('err') };
  }

  async close(): Promise<void> {
    const ended = this.shell === null ? null : once(this.shell, 'exit');
    (this.shell?.stdio[3] as Writable | undefined)?.end();
    await ended;
    this.server.closeAllConnections();
    this.server.close();
    for (const folder of [this.folder, this.calls]) rmSync(folder, { recursive: true, force: true });
  }

  /** One call of the command line, with a consenting person at the terminal. */
  private async crossbill(call: string): Promise<number> {
    const listed = (name: string): string[] => readFileSync(join(call, name), 'utf8').split('\0').slice(0, -1);
    const env = Object.fromEntries(
      listed('env').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    const ran = await cli(listed('argv'), env, { cwd: readFileSync(join(call, 'cwd'), 'utf8'), reply: 'y' });
    writeFileSync(join(call, 'out'), ran.out);
    writeFileSync(join(call, 'err'), ran.err);
    return ran.code;
  }
}
