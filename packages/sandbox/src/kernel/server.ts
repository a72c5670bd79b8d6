// A thin node:http server around one side of the kernel.
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Kernel } from './kernel.js';
import { type Side } from './http.js';

const BODY_LIMIT = 8 * 1024 * 1024; // bytes

export type RunningServer = { readonly url: string; readonly port: number; close(): Promise<void> };

/** Listens on `port` at `host`. 0 chooses a free port. Rejects if another program has the port. */
export async function listen(kernel: Kernel, side: Side, port: number, host: string): Promise<RunningServer> {
  const server = createServer((req, res) => void serve(kernel, side, req, res));
  server.keepAliveTimeout = 65_000; // longer than the clients' timeouts, so no connection closes during a request
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  const bound = (server.address() as AddressInfo).port;
  return { url: `http://${host}:${bound}`, port: bound, close: () => closeServer(server) };
}

async function serve(kernel: Kernel, side: Side, req: IncomingMessage, res: ServerResponse): Promise<void> {
  try {
    const body = await readAll(req);
    if (body === null) {
      res.writeHead(413, { connection: 'close' }).end();
      return;
    }
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(req.headers)) {
      if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
    }
    const reply = await kernel.handle(side, { method: req.method ?? 'GET', target: req.url ?? '/', headers, body });
    if (reply.dropped) {
      res.destroy();
      return;
    }
    res.writeHead(reply.status, { ...reply.headers, 'content-length': String(reply.body.length) });
    res.end(reply.body);
  } catch {
    res.destroy(); // the caller closed the connection
  }
}

async function readAll(req: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_LIMIT) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
