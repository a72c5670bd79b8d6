// A page on this machine. It passes a client secret to the merchant's browser and receives the result. The secret never
// reaches a terminal.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { html } from '../../console/html.js';
import { Interrupted } from './state.js';

/** The browser's result. An id is null if the browser did not send it, or if the intent takes no money. */
export type Confirmed = { readonly chargeId: string | null; readonly paymentId: string | null };

type Shown = {
  readonly about: string;
  readonly card: string;
  readonly clientSecret: string;
  readonly asksCharge: boolean;
};

const FORM_LIMIT_BYTES = 4_096;
const ID = /^[A-Za-z0-9_-]{1,255}$/;
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
};

export class ConfirmPage {
  private server: Server | null = null;
  private path = '';
  private shown: Shown | null = null;
  private report: (confirmed: Confirmed) => void = () => undefined;
  private result: Promise<Confirmed> = new Promise(() => undefined);

  constructor(private readonly merchantPage: string | null) {}

  /** Opens the page and returns its secret address. */
  async open(shown: Shown): Promise<string> {
    this.shown = shown;
    this.path = `/${randomBytes(16).toString('hex')}`;
    this.result = new Promise((resolve) => (this.report = resolve));
    if (this.server === null) {
      this.server = createServer((req, res) => void this.replyTo(req, res));
      this.server.listen(0, '127.0.0.1');
      await once(this.server, 'listening');
    }
    const address = this.server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}${this.path}`;
  }

  /** Waits for the browser's result, without a time limit. Throws Interrupted if the person stops the rehearsal. */
  async reply(signal: AbortSignal): Promise<Confirmed> {
    const ended = once(signal, 'abort').then(() => Promise.reject(new Interrupted()));
    return signal.aborted ? Promise.reject(new Interrupted()) : Promise.race([this.result, ended]);
  }

  async close(): Promise<void> {
    this.server?.closeAllConnections();
    if (this.server !== null) await new Promise((resolve) => this.server?.close(resolve));
    this.server = null;
  }

  private async replyTo(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { shown } = this;
    if (shown === null || req.url !== this.path) return void res.writeHead(404).end();
    if (req.method !== 'POST') return void res.writeHead(200, HEADERS).end(this.page(shown));
    const form = new URLSearchParams(await bodyOf(req));
    const chargeId = form.get('charge_id')?.trim() ?? '';
    const paymentId = form.get('payment_id')?.trim() ?? '';
    const wrong =
      [chargeId, paymentId].some((id) => id !== '' && !ID.test(id)) || (shown.asksCharge && chargeId === '');
    if (wrong) return void res.writeHead(400, HEADERS).end(this.page(shown, 'Enter an id such as ch_… or pay_….'));
    res.writeHead(200, HEADERS).end(html`<p>Thank you. Go back to the terminal.</p>`.toString());
    this.shown = null;
    this.report({ chargeId: chargeId || null, paymentId: paymentId || null });
  }

  private page({ about, card, clientSecret, asksCharge }: Shown, problem = ''): string {
    const own = this.merchantPage;
    const lead = own === null ? null : `${own}#client_secret=${encodeURIComponent(clientSecret)}`;
    return html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <title>Crossbill rehearsal</title>
        </head>
        <body>
          <h1>${about}</h1>
          <p>${card}</p>
          <ol>
            <li>
              Confirm this client secret on your own page, with the MoR's publishable key:<br />
              <input readonly size="80" value="${clientSecret}" />
              ${lead !== null && html`<br /><a href="${lead}" target="_blank" rel="noreferrer">Open your page with it</a>`}
            </li>
            <li>
              <form method="post">
                ${
                  asksCharge &&
                  html`Charge id of the browser's result: <input name="charge_id" required /><br />
                    Payment id, if the result names one: <input name="payment_id" /><br />`
                }
                <button>Confirmed</button>
              </form>
            </li>
          </ol>
          <p role="alert">${problem}</p>
        </body>
      </html>`.toString();
  }
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of req) {
    text += String(part);
    if (text.length > FORM_LIMIT_BYTES) return '';
  }
  return text;
}
