// A real proxy for tunnels (CONNECT). It records the requests and connects each host name to a port of this machine.
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

export class ConnectProxy {
  /** The requested hosts and ports, in order. */
  readonly asked: string[] = [];
  readonly authorizations: (string | undefined)[] = [];
  /** The status the proxy answers with, instead of a tunnel; null: it opens tunnels. */
  refuses: number | null = null;
  readonly #server: Server;

  /** @param port the port where each tunnel ends */
  constructor(private readonly port: number) {
    this.#server = createServer((req, res) => {
      this.asked.push(`${req.method ?? ''} ${req.url ?? ''}`);
      res.writeHead(501).end();
    });
    this.#server.on('connect', (req, socket) => {
      this.asked.push(req.url ?? '');
      this.authorizations.push(req.headers['proxy-authorization']);
      socket.on('error', () => undefined);
      if (this.refuses !== null) {
        socket.end(`HTTP/1.1 ${this.refuses} Refused\r\ncontent-length: 0\r\n\r\n`);
        return;
      }
      const to = connect(this.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket.pipe(to).pipe(socket);
      });
      to.on('error', () => socket.destroy());
      to.on('close', () => socket.destroy());
      socket.on('close', () => to.destroy());
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
