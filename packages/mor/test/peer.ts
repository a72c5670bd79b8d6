// A small real HTTP server in the role of the MoR's API and token service, for the client's tests.
import { MorClient, type MorCallReport, type MorOptions, type MorTransport } from '@crossbill/mor';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';

export const CANARY_SECRET = 'canary-client-secret-4711';

export class FixedClock {
  constructor(public time = new Date('2026-03-01T12:00:00Z')) {}
  now(): Date {
    return this.time;
  }
  forward(ms: number): void {
    this.time = new Date(this.time.getTime() + ms);
  }
}

export type Seen = { method: string; path: string; headers: IncomingMessage['headers']; body: string };
export type Reply = (req: Seen, res: ServerResponse) => void;

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return (_req, res) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end(JSON.stringify(body));
  };
}

/** Replies `/oauth2/token` with `tokenReply` and everything else with `reply`; keeps the requests. */
export class Peer {
  readonly calls: Seen[] = [];
  readonly tokenCalls: Seen[] = [];
  issued = 0;
  reply: Reply = json(200, {});
  tokenReply: Reply = (_req, res) => {
    this.issued += 1;
    json(200, { access_token: `canary-token-${this.issued}`, expires_in: 86400, token_type: 'Bearer' })(_req, res);
  };
  #server: Server | null = null;

  async start(): Promise<this> {
    this.#server = createServer((req, res) => {
      const parts: Buffer[] = [];
      req.on('data', (part: Buffer) => parts.push(part));
      req.on('end', () => {
        const seen = {
          method: req.method ?? '',
          path: req.url ?? '',
          headers: req.headers,
          body: Buffer.concat(parts).toString(),
        };
        const isToken = seen.path === '/auth/oauth2/token';
        (isToken ? this.tokenCalls : this.calls).push(seen);
        (isToken ? this.tokenReply : this.reply)(seen, res);
      });
    });
    await new Promise<void>((resolve) => this.#server?.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    return (this.#server?.address() as AddressInfo).port;
  }

  options(more: Partial<MorOptions> = {}): MorOptions {
    return {
      baseUrl: `http://127.0.0.1:${this.port}/`,
      authUrl: `http://127.0.0.1:${this.port}/auth`,
      merchant: { clientId: 'merchant-1', clientSecret: () => CANARY_SECRET },
      partner: { clientId: 'partner-1', clientSecret: () => 'canary-partner-secret' },
      ...more,
    };
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise<void>((resolve) => this.#server?.close(() => resolve()));
  }
}

export type Rig = {
  peer: Peer;
  client: MorClient;
  transport: MorTransport;
  clock: FixedClock;
  reports: MorCallReport[];
  close: () => Promise<void>;
};

/** A peer with a client of it; `close` ends both. */
export async function aRig(more: Partial<MorOptions> = {}): Promise<Rig> {
  const peer = await new Peer().start();
  const clock = new FixedClock();
  const reports: MorCallReport[] = [];
  const client = new MorClient(peer.options({ clock, onRequest: (one) => reports.push(one), ...more }));
  const close = async (): Promise<void> => {
    await client.close();
    await peer.stop();
  };
  return { peer, client, transport: client.transport, clock, reports, close };
}
