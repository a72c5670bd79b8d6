// A merchant's receiver of notifications over real HTTP. It keeps the requests and replies as the test wants.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export type Heard = {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly at: number;
};

export type Reply = number | 'hang' | { readonly status: number; readonly headers: Readonly<Record<string, string>> };

export class NotifyReceiver {
  readonly heard: Heard[] = [];
  /** The reply to the next delivery, by default 200. */
  reply: (heard: Heard) => Reply = () => 200;
  private readonly server = createServer((req, res) => void this.take(req, res));

  static async open(): Promise<NotifyReceiver> {
    const receiver = new NotifyReceiver();
    await new Promise<void>((resolve) => receiver.server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook?shop=1`;
  }

  of(type: string): readonly Heard[] {
    return this.heard.filter((h) => (JSON.parse(h.body) as { type?: string }).type === type);
  }

  /** Verifies a notification with the library. Throws unless one of its signatures was made with this secret. */
  static verify(heard: Heard, secret: string): unknown {
    return new Webhook(secret).verify(heard.body, heard.headers);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    const headers = Object.fromEntries(Object.entries(req.headers).map(([k, v]) => [k, String(v)]));
    const heard = {
      id: headers['webhook-id'] ?? '',
      headers,
      body: Buffer.concat(parts).toString('utf8'),
      at: Date.now(),
    };
    this.heard.push(heard);
    const reply = this.reply(heard);
    if (reply === 'hang') return;
    const { status, headers: more } = typeof reply === 'number' ? { status: reply, headers: {} } : reply;
    res.writeHead(status, { ...more }).end('ok');
  }
}

/** A secret in the format of `openssl rand -base64 32`. */
export function newSecret(fill: number): string {
  return `whsec_${Buffer.alloc(32, fill).toString('base64')}`;
}
