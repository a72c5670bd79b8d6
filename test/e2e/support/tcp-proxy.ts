// A faulty network in front of a server: connections pass, hang without a word, or break and get refusals.
import { createServer, type Server, type Socket, connect } from 'node:net';

/** PostgreSQL's end of an answer, without the last byte, the transaction's state. */
const READY = Buffer.from('Z\0\0\0\u0005');

export type Mode = 'pass' | 'hang' | 'cut';

export class TcpProxy {
  private mode: Mode = 'pass';
  private toLose: { readonly asked: string; readonly done: string; left: number } | null = null;
  /** Lost answers so far. */
  lost = 0;
  /** Each client's bytes. */
  readonly written: Buffer[][] = [];
  private readonly pairs = new Set<readonly [Socket, Socket]>();

  private constructor(
    private readonly server: Server,
    /** The address to use instead of the server's own. */
    readonly url: string,
  ) {}

  /** Stands in front of the host and port of `target`; keeps the URL's other parts. */
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

  /** `hang`: holds bytes back on old and new connections until `pass`. `cut`: resets all, new ones too. */
  set(mode: Mode): void {
    this.mode = mode;
    for (const pair of this.pairs) this.apply(pair);
  }

  /**
   * The next `times` requests with the text `asked` get no answer: once the server says `done`, the requests have their
   * effect, and the connection breaks before anyone learns it.
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
    let losing: string | null = null; // the server's text before the cut
    let held: Buffer = Buffer.alloc(0); // its answer so far, unheard
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
        // It refused instead: the client hears this, and the next request loses its answer.
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
