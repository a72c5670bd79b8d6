// Binds a sign-in at the identity provider to the browser that began it: a short-lived signed cookie, from which state, nonce and the
// PKCE verifier are made again. None of the three is in it.
import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type CookieOptions, type Request, type Response } from 'express';
import { CONFIG, type Config, type Secret } from '../../config/index.js';
import { Clock } from '../../domain/ports/clock.js';
import { bodyOfClaims, claimsOfBody, keyFrom, mac, same, signedCookie } from '../cookies.js';
import { Sessions } from '../session.js';

export const SSO_COOKIE = 'crossbill_sso';
/** As long as somebody may take to sign in, a second factor included. */
const LIFE_MS = 10 * 60_000;

/** One sign-in on its way. */
export type SignIn = {
  readonly state: string;
  readonly nonce: string;
  /** 43 characters, as RFC 7636 wants at least. */
  readonly verifier: string;
  /** The page of the console where it leads. */
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

  /** @param to a page of the console */
  begin(req: Request, res: Response, to: string): SignIn {
    if (this.#key === null) throw new Error('a sign-in begins without an identity provider');
    const id = randomBytes(32).toString('base64url');
    const body = bodyOfClaims({ r: id, e: this.clock.now().getTime() + LIFE_MS, t: to });
    res.cookie(SSO_COOKIE, `${body}.${mac(this.#key, `cookie.${body}`)}`, { ...this.#traits(req), maxAge: LIFE_MS });
    return this.#signIn(this.#key, id, to);
  }

  /** The sign-in that this browser began, when the answer says its state; its cookie is gone then. Null: none, too late, or another's. */
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

  /** Lax: the provider's page sends the browser back with it. */
  #traits(req: Request) {
    return { ...this.sessions.traits(req), sameSite: 'lax', path: '/console/sso' } as const satisfies CookieOptions;
  }
}
