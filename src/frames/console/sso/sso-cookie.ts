// Binds a sign-in to its browser. A short-lived signed cookie holds a random id. Crossbill derives state, nonce and
// PKCE verifier from the id, and keeps none of them in the cookie. Each sign-in has a cookie of its own, so two tabs may
// sign in at once.
import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type CookieOptions, type Request, type Response } from 'express';
import { CONFIG, type Config, type Secret } from '../../../shared/config/index.js';
import { Clock } from '../../../shared/domain/ports/clock.js';
import { bodyOfClaims, claimsOfBody, cookieNames, keyFrom, mac, same, signedCookie } from '../cookies.js';
import { Sessions } from '../session.js';

export const SSO_COOKIE = 'crossbill_sso_';
/**
 * The most sign-ins under way in one browser. Another site can begin sign-ins too, by a redirect, and too many cookies
 * would make the headers too large.
 */
const MOST = 5;
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
    const signIn = this.#signIn(this.#key, id, to);
    // A browser sends its oldest cookies first (RFC 6265, 5.4).
    const under = cookieNames(req).filter((name) => name.startsWith(SSO_COOKIE));
    for (const name of under.slice(0, Math.max(0, under.length - MOST + 1))) res.clearCookie(name, this.#traits(req));
    const signed = `${body}.${mac(this.#key, `cookie.${body}`)}`;
    res.cookie(nameOf(signIn.state), signed, { ...this.#traits(req), maxAge: LIFE_MS });
    return signIn;
  }

  /**
   * Returns the sign-in of this browser's cookie, and deletes the cookie. Null if the cookie is missing, forged or too
   * old, or if the provider's reply has another state.
   */
  take(req: Request, res: Response): SignIn | null {
    const { state } = req.query;
    if (this.#key === null || typeof state !== 'string' || !/^[\w-]{43}$/.test(state)) return null;
    const cookie = signedCookie(req, nameOf(state));
    if (cookie === null) return null;
    if (!same(mac(this.#key, `cookie.${cookie.body}`), cookie.signature)) return null;
    const { r, e, t } = claimsOfBody(cookie.body) ?? {};
    if (typeof r !== 'string' || typeof e !== 'number' || typeof t !== 'string') return null;
    const signIn = this.#signIn(this.#key, r, t);
    if (this.clock.now().getTime() >= e || !same(state, signIn.state)) return null;
    res.clearCookie(nameOf(state), this.#traits(req));
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

/** The name of a sign-in's cookie. The name is no secret; the whole state must fit too. */
const nameOf = (state: string): string => SSO_COOKIE + state.slice(0, 16);
