// The connections to Stripe, the MoR and other targets: direct, or through the proxy of this host.
import { Agent, type Dispatcher, fetch, ProxyAgent, type RequestInit, type Response } from 'undici';
import { type Proxies, proxyFor } from './index.js';

type Limits = Pick<Agent.Options, 'connections' | 'pipelining' | 'keepAliveTimeout' | 'headersTimeout' | 'bodyTimeout'>;
type Connect = { readonly timeout?: number; readonly lookup?: LookupOf };
type LookupOf = NonNullable<Extract<Agent.Options['connect'], { lookup?: unknown }>['lookup']>;

export class WayOut {
  readonly #straight: Agent;
  readonly #through = new Map<string, ProxyAgent>();

  /**
   * Makes the HTTP agents for calls to Stripe, the MoR and others.
   * @param connect options of a direct connection, such as the DNS lookup; a proxy resolves names itself
   */
  constructor(
    private readonly proxies: Proxies,
    private readonly limits: Limits,
    private readonly connect: Connect = {},
  ) {
    this.#straight = new Agent({ ...limits, connect });
  }

  /**
   * Returns the connection for a target.
   * @param origin the origin of the target's URL
   */
  to(origin: string): Dispatcher {
    const proxy = proxyFor(this.proxies, new URL(origin));
    if (proxy === null) return this.#straight;
    const uri = proxy.url.reveal();
    const known = this.#through.get(uri);
    if (known !== undefined) return known;
    // Plain http also goes through a CONNECT tunnel. Without a tunnel a proxy's request for a password would look like
    // a reply of the target.
    const { timeout } = this.connect;
    const agent = new ProxyAgent({ ...this.limits, uri, ...(timeout === undefined ? {} : { proxyTls: { timeout } }) });
    this.#through.set(uri, agent);
    return agent;
  }

  /** Sends a request through the connection for its URL. Packages with a `fetch` option receive this function. */
  fetch(url: string, options: RequestInit): Promise<Response> {
    return fetch(url, { ...options, dispatcher: this.to(new URL(url).origin) });
  }

  /** Closes idle sockets. Requests under way still finish. */
  async close(): Promise<void> {
    await Promise.all([this.#straight, ...this.#through.values()].map((agent) => agent.close()));
  }

  /** Ends every socket at once. */
  async destroy(): Promise<void> {
    await Promise.all([this.#straight, ...this.#through.values()].map((agent) => agent.destroy()));
  }
}
