// Binds a sign-in to its browser. A short-lived signed cookie holds a random id. Crossbill derives state, nonce and
// PKCE verifier from the id, and keeps none of them in the cookie.
import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type CookieOptions, type Request, type Response } from 'express';
import { CONFIG, type Config, type Secret } from '../../../shared/config/index.js';
import { Clock } from '../../../shared/domain/ports/clock.js';
import { bodyOfClaims, claimsOfBody, keyFrom, mac, same, signedCookie } from '../cookies.js';
import { Sessions } from '../session.js';

export const SSO_COOKIE = 'crossbill_sso';
/** The time for a sign-in with a second factor: ten minutes. */
const LIFE_MS = 10 * 60_000;

/** A sign-in under way. */
export type SignIn = {
  readonly state: string;
  readonly nonce: string;
  /** The PKCE verifier: 43 characters, the least RFC 7636 allows. */
  readonly verifier: string;
  /** The console page to open after the sign-in. */
  readonly to: string;
};

@Injectable()
export class SsoCookie {
  readonly #key: Buffer | null;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'oidcClientSecret'>,
    private readonly clock: Clock,
    private readonly sessions: Sessions,
  ) {
    const secret: Secret | null = config.oidcClientSecret;
    this.#key = secret === null ? null : keyFrom(secret, 'crossbill console sign-in by oidc');
  }

  /**
   * Begins a sign-in and sets its cookie.
   * @param to the console page to open after the sign-in
   */
  begin(req: Request, res: Response, to: string): SignIn {
    if (this.#key === null) throw new Error('a sign-in begins without an identity provider');
    const id = randomBytes(32).toString('base64url');
    const body = bodyOfClaims({ r: id, e: this.clock.now().getTime() + LIFE_MS, t: to });
    res.cookie(SSO_COOKIE, `${body}.${mac(this.#key, `cookie.${body}`)}`, { ...this.#traits(req), maxAge: LIFE_MS });
    return this.#signIn(this.#key, id, to);
  }

  /**
   * Returns the sign-in of this browser's cookie, and deletes the cookie. Null if the cookie is missing, forged or too
   * old, or if the provider's reply has another state.
   */
  take(req: Request, res: Response): SignIn | null {
    const cookie = signedCookie(req, SSO_COOKIE);
    if (this.#key === null || cookie === null) return null;
    if (!same(mac(this.#key, `cookie.${cookie.body}`), cookie.signature)) return null;
    const { r, e, t } = claimsOfBody(cookie.body) ?? {};
    if (typeof r !== 'string' || typeof e !== 'number' || typeof t !== 'string') return null;
    const { state } = req.query;
    const signIn = this.#signIn(this.#key, r, t);
    if (this.clock.now().getTime() >= e || typeof state !== 'string' || !same(state, signIn.state)) return null;
    res.clearCookie(SSO_COOKIE, this.#traits(req));
    return signIn;
  }

  #signIn(key: Buffer, id: string, to: string): SignIn {
    const made = (what: string): string => mac(key, `${what}.${id}`);
    return { state: made('state'), nonce: made('nonce'), verifier: made('verifier'), to };
  }

  /** SameSite is Lax: the browser must send the cookie on its way back from the provider's page. */
  #traits(req: Request) {
    return { ...this.sessions.traits(req), sameSite: 'lax', path: '/console/sso' } as const satisfies CookieOptions;
  }
}
