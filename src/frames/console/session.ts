// The session of a logged-in person, in a signed cookie. The signing key comes from the API key's hash, or from the
// identity provider's client secret, so a removed or changed key ends its sessions. The daemon also asks the database
// at every request if the session has ended, so a logout counts in every replica.
import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type CookieOptions, type Request, type Response } from 'express';
import { addressOf } from '../api/access/client-address.js';
import { type Caller } from '../api/access/caller.js';
import { type ApiKey, CONFIG, type Config, isLoopbackHost } from '../../shared/config/index.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { ConsoleSessions } from './console-sessions.js';
import { bodyOfClaims, claimsOfBody, keyFrom, mac, same, signedCookie } from './cookies.js';
import { highestRole, isOfDomain } from './sso/people.js';

export type Session = Caller & {
  /** A random id. It is no secret: nobody gets in without the signature. */
  readonly id: string;
  /** The secret in every form of this session. Other sites do not know it. */
  readonly formToken: string;
  readonly expiresAt: Date;
};

export const COOKIE = 'crossbill_console';
const LIFE_MS = 8 * 3_600_000;
/** The greatest accepted difference between two replicas' clocks. */
const SKEW_MS = 60_000;

type Settings = Pick<Config, 'apiKeys' | 'production' | 'oidcClientSecret' | 'oidcRoles' | 'oidcEmailDomain'>;

/** The person, and the key of the cookie's signature. */
type Signer = { readonly caller: Caller; readonly key: Buffer };

@Injectable()
export class Sessions {
  readonly #keys: ReadonlyMap<string, Signer>;
  readonly #oidcKey: Buffer | null;

  constructor(
    @Inject(CONFIG) private readonly config: Settings,
    private readonly clock: Clock,
    private readonly sessions: ConsoleSessions,
  ) {
    this.#keys = new Map(
      config.apiKeys.map(({ name, role, digest }: ApiKey) => [
        name,
        { caller: { name, role }, key: keyFrom(digest, 'crossbill console session') },
      ]),
    );
    this.#oidcKey =
      config.oidcClientSecret === null ? null : keyFrom(config.oidcClientSecret, 'crossbill console session by oidc');
  }

  /**
   * Logs a person in. No script can read the cookie, and no other site's page can send it.
   * @param name the name of an API key, or an e-mail address after a login through the identity provider
   * @param groups the person's groups at the identity provider; null after a login with an API key
   */
  async start(req: Request, res: Response, name: string, groups: readonly string[] | null = null): Promise<void> {
    const signer = this.#signer(name, groups);
    if (signer === null) throw new Error('a session begins with a key of the settings, or a group of them');
    const [beganAt, id] = [this.clock.now(), randomBytes(16).toString('base64url')];
    const endsAt = new Date(beganAt.getTime() + LIFE_MS);
    await this.sessions.begin({ id, name, source: addressOf(req), beganAt, endsAt });
    const ours = groups?.filter((g) => this.config.oidcRoles.some(({ group }) => group === g));
    const claims = { n: name, i: beganAt.getTime(), e: endsAt.getTime(), r: id, ...(ours && { g: ours }) };
    const body = bodyOfClaims(claims);
    res.cookie(COOKIE, `${body}.${mac(signer.key, `session.${body}`)}`, { ...this.traits(req), maxAge: LIFE_MS });
  }

  /**
   * Ends the session, even for a copied cookie, and deletes this browser's cookie. If the database can't store the end,
   * the method rejects, and the session stays open.
   */
  async end(req: Request, res: Response, session: Session): Promise<void> {
    await this.sessions.end(session.id);
    res.clearCookie(COOKIE, this.traits(req));
  }

  /**
   * The session of a request. Null if the cookie is missing, forged, expired or ended, or if its API key or group is
   * gone.
   */
  async of(req: Request): Promise<Session | null> {
    const session = this.signed(req);
    return session !== null && (await this.sessions.isOpen(session.id)) ? session : null;
  }

  /** The cookie's flags: https only in production, and only for the console's pages. */
  traits(req: Request) {
    const secure = this.config.production || req.secure;
    return { httpOnly: true, sameSite: 'strict', secure, path: '/console' } as const satisfies CookieOptions;
  }

  /**
   * False if the browser will drop the session's cookie: over plain http it keeps no Secure cookie, except from this
   * machine (RFC 6265bis, 5.7). A form's Origin names the browser's scheme, with any proxy in front.
   */
  keeps(req: Request): boolean {
    const { origin = '' } = req.headers;
    const isPlain = URL.canParse(origin) && new URL(origin).protocol === 'http:';
    return !(isPlain && this.traits(req).secure && !isLoopbackHost(new URL(origin).hostname));
  }

  private signed(req: Request): Session | null {
    const cookie = signedCookie(req, COOKIE);
    const claims = cookie === null ? null : claimsOf(cookie.body);
    const signer = claims === null ? null : this.#signer(claims.name, claims.groups);
    if (cookie === null || claims === null || signer === null) return null;
    if (!same(mac(signer.key, `session.${cookie.body}`), cookie.signature)) return null;
    const now = this.clock.now().getTime();
    const { id, issuedMs, expiresMs } = claims;
    if (now >= expiresMs || issuedMs > now + SKEW_MS || expiresMs - issuedMs > LIFE_MS) return null;
    const formToken = mac(signer.key, `form.${cookie.body}`);
    return { ...signer.caller, id, formToken, expiresAt: new Date(expiresMs) };
  }

  /** Finds the person, with the role from the present settings instead of the role at login. */
  #signer(name: string, groups: readonly string[] | null): Signer | null {
    if (groups === null) return this.#keys.get(name) ?? null;
    const role = highestRole(this.config.oidcRoles, groups);
    if (this.#oidcKey === null || role === null || !isOfDomain(name, this.config.oidcEmailDomain)) return null;
    return { caller: { name, role }, key: this.#oidcKey };
  }
}

type Claims = {
  readonly id: string;
  readonly name: string;
  readonly groups: readonly string[] | null;
  readonly issuedMs: number;
  readonly expiresMs: number;
};

function claimsOf(body: string): Claims | null {
  const { n, i, e, r, g } = claimsOfBody(body) ?? {};
  if (typeof n !== 'string' || typeof i !== 'number' || typeof e !== 'number' || typeof r !== 'string') return null;
  const groups = Array.isArray(g) ? g.filter((group) => typeof group === 'string') : null;
  return { id: r, name: n, groups, issuedMs: i, expiresMs: e };
}
