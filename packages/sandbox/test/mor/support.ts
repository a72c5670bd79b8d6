// One MoR side of the sandbox over real HTTP, on a standing clock, with its webhooks caught.
import { afterAll, beforeAll } from '@jest/globals';
import { Kernel } from '../../src/kernel/kernel.js';
import { type RunningServer, listen } from '../../src/kernel/server.js';
import { morPlugins } from '../../src/mor/plugins.js';
import { type Credentials, MorState } from '../../src/mor/state.js';
import { addTokens } from '../../src/mor/tokens.js';
import { type Row, rows } from './rows.js';

export const NOW = '2026-03-02T10:00:00.000Z';

/** An answer; `body` is its JSON, or an empty object. Tests read it loosely on purpose. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Reply = { status: number; body: any; headers: Headers };
export type Who = 'merchant' | 'otherMerchant' | 'partner' | 'otherPartner' | 'nobody';
export type Caught = { url: string; headers: Record<string, string>; body: Buffer };

export class Mor {
  readonly caught: Caught[] = [];
  /** How receivers answer, by URL; 200 by default. */
  readonly receiver = new Map<string, number | null>();
  private readonly seen = new Set<string>();
  private readonly tokens = new Map<Who, string>();
  private server!: RunningServer;
  readonly kernel: Kernel;
  readonly state: MorState;

  constructor() {
    this.kernel = new Kernel({
      seed: 'test',
      clock: { source: () => Date.parse(NOW), manual: true },
      transport: async (url, headers, body) => {
        this.caught.push({ url, headers, body });
        const status = this.receiver.get(url);
        return status === undefined ? 200 : status;
      },
    });
    this.state = new MorState(this.kernel, 'cardpsp');
    addTokens(this.kernel, this.state);
    for (const plugin of morPlugins) plugin(this.kernel, this.state);
  }

  static async start(): Promise<Mor> {
    const mor = new Mor();
    mor.server = await listen(mor.kernel, 'mor', 0, '127.0.0.1');
    mor.state.baseUrl = mor.server.url;
    await mor.signIn();
    return mor;
  }

  /** Fresh tokens for everybody: they last a day of the clock. */
  private async signIn(): Promise<void> {
    const all: [Who, Credentials][] = [
      ['merchant', this.state.merchantCredentials],
      ['partner', this.state.partnerCredentials],
      ['otherMerchant', this.state.otherMerchantCredentials],
      ['otherPartner', this.state.otherPartnerCredentials],
    ];
    for (const [who, { clientId, clientSecret }] of all) {
      const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
      const response = await fetch(`${this.server.url}/oauth2/token`, {
        method: 'POST',
        body: new URLSearchParams(form),
      });
      const token = (await response.json()) as { access_token: string };
      this.tokens.set(who, token.access_token);
    }
  }

  /** One call. A string body goes out unchanged, anything else as JSON; notes the answer for `uncovered`. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    who: Who = path.startsWith('/partner') ? 'partner' : 'merchant',
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const token = this.tokens.get(who);
    const response = await fetch(this.server.url + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed: unknown = text === '' ? {} : JSON.parse(text);
    const code = (parsed as { code?: string }).code ?? '';
    const pattern = this.kernel.mor.match(method, path.split('?')[0] ?? '')?.pattern ?? path;
    this.seen.add(`${method} ${pattern} ${response.status} ${code}`.trim());
    return { status: response.status, body: parsed, headers: response.headers };
  }

  control(path: string, body: unknown): Promise<Reply> {
    return this.call('POST', `/_sandbox${path}`, body, 'nobody');
  }

  async advance(seconds: number): Promise<void> {
    await this.kernel.clock.advance(seconds * 1000);
    await this.signIn();
  }

  /** The deliveries to webhook endpoints, parsed, oldest first. */
  events(url?: string): { id: string; type: string; created: string; data: Record<string, unknown> }[] {
    return this.caught
      .filter((one) => url === undefined || one.url === url)
      .map((one) => JSON.parse(one.body.toString()) as { id: string; type: string; created: string; data: never });
  }

  /** The rows of an area without a call so far. */
  uncovered(area: Row['area']): string[] {
    return rows
      .filter((row) => row.area === area)
      .map((row) => `${row.endpoint} ${row.status} ${row.code}`.trim())
      .filter((row) => !this.seen.has(row));
  }

  close(): Promise<void> {
    this.kernel.clock.close();
    return this.server.close();
  }
}

/** The fields an error names, in order. */
export function fieldsOf(reply: Reply): string[] {
  return (reply.body as { errors: { field: string }[] }).errors.map(({ field }) => field);
}

export const address = { line1: '1 Main Street', city: 'London', postalCode: 'N1 1AA', country: 'GB' };
export const evidence = { billingCountry: 'GB', ipAddress: '203.0.113.7' };
export const line = { merchantLineItemReference: 'l1', productCode: 'p1', title: 'Plan', unitPrice: 100, quantity: 1 };

type Body = Record<string, unknown>;

/** A calculation request for one digital line in Great Britain; `change` replaces members of the top level. */
export function cart(change: Body = {}, customer: Body = {}): Body {
  return {
    currency: 'GBP',
    customer: { legalName: 'Buyer Ltd', billingAddress: address, ...customer },
    lineItems: [line],
    evidence,
    ...change,
  };
}

/** One digital line for a buyer in a country, with the evidence it needs. */
export function cartIn(country: string, currency: string, more: Body = {}, customer: Body = {}): Body {
  const billingAddress = { line1: '1 Main', city: 'Town', postalCode: '10115', country, ...(more['address'] as Body) };
  const { address: _address, ...rest } = more;
  const proof = country === 'US' || country === 'BR' ? {} : { evidence: { ...evidence, billingCountry: country } };
  return {
    ...cart({ currency, evidence: undefined, ...proof, ...rest }),
    customer: { legalName: 'Buyer', billingAddress, ...customer },
  };
}

export const brazilian = {
  legalName: undefined,
  firstName: 'Ana',
  lastName: 'Souza',
  taxIdentifiers: [{ type: 'BR_CPF', code: '529.982.247-25' }],
};

/** One MoR side for all tests. */
export function morForAll(use: (mor: Mor) => unknown): void {
  let mor: Mor;
  beforeAll(async () => {
    mor = await Mor.start();
    await use(mor);
  });
  afterAll(() => mor.close());
}
