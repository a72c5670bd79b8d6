// An identity provider that says of each person whatever a test sets, claim by claim, in correctly signed tokens.
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';

export type Said = {
  readonly idToken: Readonly<Record<string, unknown>>;
  readonly userinfo: Readonly<Record<string, unknown>> | null;
};

const CLIENT = 'crossbill';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export class ClaimsProvider {
  said: Said = { idToken: {}, userinfo: null };
  nonce = '';
  readonly asked: string[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((req, res) => {
      const path = new URL(req.url ?? '/', this.issuer).pathname;
      this.asked.push(path);
      req.resume();
      res.setHeader('content-type', 'application/json').end(JSON.stringify(this.#reply(path)));
    });
  }

  static async start(): Promise<ClaimsProvider> {
    const provider = new ClaimsProvider();
    await new Promise<void>((resolve) => provider.#server.listen(0, '127.0.0.1', resolve));
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #reply(path: string): object {
    switch (path) {
      case '/.well-known/openid-configuration':
        return {
          issuer: this.issuer,
          authorization_endpoint: `${this.issuer}/authorize`,
          token_endpoint: `${this.issuer}/token`,
          jwks_uri: `${this.issuer}/jwks`,
          ...(this.said.userinfo === null ? {} : { userinfo_endpoint: `${this.issuer}/userinfo` }),
        };
      case '/jwks':
        return { keys: [{ ...publicKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'one' }] };
      case '/token':
        return { access_token: randomUUID(), token_type: 'Bearer', expires_in: 300, id_token: this.#idToken() };
      default:
        return this.said.userinfo ?? {};
    }
  }

  #idToken(): string {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: this.issuer,
      aud: CLIENT,
      sub: 'u1',
      nonce: this.nonce,
      iat: now,
      exp: now + 300,
      ...this.said.idToken,
    };
    const text = `${base64({ alg: 'RS256', kid: 'one' })}.${base64(claims)}`;
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
  }
}

/** A started sign-in, without the cookie. */
export const aSignIn = () => {
  const made = (what: string): string => createHash('sha256').update(`${what} ${randomUUID()}`).digest('base64url');
  return { state: made('state'), nonce: made('nonce'), verifier: made('verifier'), to: '/console' };
};
