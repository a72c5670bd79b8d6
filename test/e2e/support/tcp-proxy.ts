// A network that can fail, in front of a server: connections pass, hang without a word, or are cut and refused.
import { createServer, type Server, type Socket, connect } from 'node:net';

/** How PostgreSQL ends an answer, but for the last byte, which tells of the transaction. */
const READY = Buffer.from('Z\0\0\0\u0005');

export type Mode = 'pass' | 'hang' | 'cut';

export class TcpProxy {
  private mode: Mode = 'pass';
  private toLose: { readonly asked: string; readonly done: string; left: number } | null = null;
  /** Answers that were lost so far. */
  lost = 0;
  /** What each client wrote, byte for byte. */
  readonly written: Buffer[][] = [];
  private readonly pairs = new Set<readonly [Socket, Socket]>();

  private constructor(
    private readonly server: Server,
    /** The address to use instead of the server's own. */
    readonly url: string,
  ) {}

  /** Stands in front of the host and port of `target`, a URL whose other parts are kept. */
  static async before(target: string): Promise<TcpProxy> {
    const { hostname, port } = new URL(target);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
    const url = new URL(target);
    url.hostname = '127.0.0.1';
    url.port = String(address.port);
    const proxy = new TcpProxy(server, url.toString());
    server.on('connection', (client) => proxy.join(client, connect(Number(port), hostname)));
    return proxy;
  }

  /** `hang`: bytes are held back on old and new connections and go on with `pass`. `cut`: all are reset, new ones too. */
  set(mode: Mode): void {
    this.mode = mode;
    for (const pair of this.pairs) this.apply(pair);
  }

  /**
   * The next `times` requests that hold the text `asked` get no answer: once the server has said `done`, it has carried them out, and
   * the connection is cut before anyone is told.
   */
  loseAnswers(asked: string, done: string, times: number): void {
    this.toLose = { asked, done, left: times };
  }

  async close(): Promise<void> {
    this.set('cut');
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private join(client: Socket, server: Socket): void {
    const pair = [client, server] as const;
    this.pairs.add(pair);
    const written: Buffer[] = [];
    this.written.push(written);
    let losing: string | null = null; // what the server has to say before the connection is cut
    let held: Buffer = Buffer.alloc(0); // its answer so far, which nobody has heard
    client.on('data', (chunk) => {
      written.push(chunk);
      if (losing === null && this.toLose !== null && this.toLose.left > 0 && chunk.includes(this.toLose.asked)) {
        this.toLose.left--;
        losing = this.toLose.done;
      }
      server.write(chunk);
    });
    server.on('data', (chunk) => {
      if (losing === null) return void client.write(chunk);
      held = Buffer.concat([held, chunk]);
      if (held.includes(losing)) {
        this.lost++;
        client.resetAndDestroy();
        server.destroy();
      } else if (held.subarray(-READY.length - 1, -1).equals(READY)) {
        // It refused instead: that is heard, and the next request loses its answer.
        if (this.toLose !== null) this.toLose.left++;
        client.write(held);
        losing = null;
        held = Buffer.alloc(0);
      }
    });
    for (const [from, to] of [pair, [server, client] as const]) {
      from.on('error', () => undefined);
      from.on('close', () => {
        to.destroy();
        this.pairs.delete(pair);
      });
    }
    this.apply(pair);
  }

  private apply([client, server]: readonly [Socket, Socket]): void {
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
