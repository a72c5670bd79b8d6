// A faulty network: connections to one of several servers pass, break, hang silently, or lose their answers.
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * `cut`: resets every connection, new ones too. `hang`: holds back the bytes of old and new connections until `pass`.
 * `lose-answers`: requests arrive and take effect, and the first byte of an answer resets the connection.
 */
export type Mode = 'pass' | 'cut' | 'hang' | 'lose-answers';

export type Target = { readonly host: string; readonly port: number };

const HOST = '127.0.0.1';
/** The last message of a PostgreSQL answer, ReadyForQuery, without its final byte (the state of the transaction). */
const READY = Buffer.from('Z\0\0\0\u0005');
/** The proxy waits this long for a server. Then it tries the next server, as a load balancer does. */
const CONNECT_WITHIN_MS = 2_000;

type Pair = { readonly client: Socket; readonly server: Socket };

export function targetOf(url: string): Target {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

export class TcpProxy {
  private mode: Mode = 'pass';
  private turn = 0;
  private readonly pairs = new Set<Pair>();
  private readonly waiting = new Set<Socket>();
  private toLose: { readonly asked: string; readonly done: string; left: number } | null = null;
  /** How many answers `loseReplies` has lost so far. */
  lost = 0;
  /** The bytes each client has sent. Null: the proxy does not keep them. */
  written: Map<Socket, Buffer[]> | null = null;

  private constructor(
    private readonly server: Server,
    readonly port: number,
    private targets: readonly Target[],
  ) {}

  /** Listens on its own port and connects to the targets in turn. It skips a target that refuses. */
  static async before(targets: readonly Target[]): Promise<TcpProxy> {
    const server = createServer({ pauseOnConnect: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, HOST, resolve);
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
    const proxy = new TcpProxy(server, address.port, targets);
    server.on('connection', (client) => proxy.join(client));
    return proxy;
  }

  get url(): string {
    return `http://${HOST}:${this.port}`;
  }

  /** The same URL through this proxy: only host and port differ. */
  through(url: string): string {
    const led = new URL(url);
    led.hostname = HOST;
    led.port = String(this.port);
    return led.toString().replace(/\/$/, url.endsWith('/') ? '/' : '');
  }

  set(mode: Mode): void {
    this.mode = mode;
    for (const pair of this.pairs) this.apply(pair);
    if (mode === 'cut') for (const client of this.waiting) client.resetAndDestroy();
  }

  /** Leads new connections to these targets from now on, and resets the open connections. */
  lead(targets: readonly Target[]): void {
    this.targets = targets;
    for (const { client, server } of this.pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  /**
   * Breaks the connections of the next `times` requests that contain the text `asked`, when the server answers `done`.
   * The request has its effect, and the client does not learn it.
   */
  loseReplies(asked: string, done: string, times: number): void {
    this.toLose = { asked, done, left: times };
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.set('cut');
    await closed;
  }

  private join(client: Socket): void {
    client.on('error', () => undefined);
    if (this.mode === 'cut') return void client.resetAndDestroy();
    this.waiting.add(client);
    const order = this.targets.map((_, i) => this.targets[(this.turn + i) % this.targets.length]);
    this.turn += 1;
    const tryNext = (): void => {
      const target = order.shift();
      if (target === undefined || client.destroyed) {
        this.waiting.delete(client);
        client.resetAndDestroy();
        return;
      }
      const server = connect({ ...target, noDelay: true });
      const timer = setTimeout(() => server.destroy(new Error('too late')), CONNECT_WITHIN_MS);
      server.once('error', () => {
        clearTimeout(timer);
        tryNext();
      });
      server.once('connect', () => {
        clearTimeout(timer);
        server.removeAllListeners('error');
        this.waiting.delete(client);
        this.pass({ client, server });
      });
    };
    tryNext();
  }

  private pass(pair: Pair): void {
    const { client, server } = pair;
    this.pairs.add(pair);
    client.setNoDelay(true);
    let losing: string | null = null; // the answer that causes the cut
    let held: Buffer = Buffer.alloc(0); // the answer so far, held back from the client
    client.on('data', (chunk) => {
      this.written?.set(client, [...(this.written.get(client) ?? []), chunk]);
      if (losing === null && this.toLose !== null && this.toLose.left > 0 && chunk.includes(this.toLose.asked)) {
        this.toLose.left--;
        losing = this.toLose.done;
      }
      hold(client, server, chunk, () => this.apply(pair));
    });
    server.on('data', (chunk) => {
      if (losing === null && this.mode !== 'lose-answers') return hold(server, client, chunk, () => this.apply(pair));
      if (losing !== null) held = Buffer.concat([held, chunk]);
      if (losing === null || held.includes(losing)) {
        if (losing !== null) this.lost++;
        client.resetAndDestroy();
        server.destroy();
      } else if (held.subarray(-READY.length - 1, -1).equals(READY)) {
        // The server refused the request. The client gets this refusal, and the next such request loses its answer.
        if (this.toLose !== null) this.toLose.left++;
        client.write(held);
        losing = null;
        held = Buffer.alloc(0);
      }
    });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('error', () => undefined);
      from.on('end', () => to.end());
      from.on('close', () => {
        to.destroy();
        this.pairs.delete(pair);
      });
    }
    if (client.destroyed) return void server.destroy();
    this.apply(pair);
  }

  private apply({ client, server }: Pair): void {
    if (this.mode === 'cut') {
      client.resetAndDestroy();
      server.destroy();
    } else if (this.mode === 'hang') {
      client.pause();
      server.pause();
    } else {
      client.resume();
      server.resume();
    }
  }
}

/** Writes the bytes, and reads no more until the other side has taken them. */
function hold(from: Socket, to: Socket, chunk: Buffer, goOn: () => void): void {
  if (to.write(chunk)) return;
  from.pause();
  to.once('drain', goOn);
}
