// Who is logged in, kept in the cookie: signed with a key that is made from the API key, so that every replica can check it and
// removing or changing the API key ends its sessions. Only those that were logged out are kept elsewhere.
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { type Caller } from '../api/access/caller.js';
import { type ApiKey, CONFIG, type Config } from '../config/index.js';
import { isJsonObject } from '../domain/events/json-body.js';
import { Clock } from '../domain/ports/clock.js';
import { EndedSessions } from '../domain/ports/ended-sessions.js';

export type Session = Caller & {
  /** A random name. Not a secret: without the signature it opens nothing. */
  readonly id: string;
  /** What every form of this session carries and no other site can know. */
  readonly formToken: string;
  readonly expiresAt: Date;
};

export const COOKIE = 'crossbill_console';
const LIFE_MS = 8 * 3_600_000;
/** The clocks of two replicas differ by less than this. */
const SKEW_MS = 60_000;

@Injectable()
export class Sessions {
  readonly #keys: ReadonlyMap<string, { readonly caller: Caller; readonly secret: Buffer }>;
  readonly #production: boolean;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'apiKeys' | 'production'>,
    private readonly clock: Clock,
    private readonly ended: EndedSessions,
  ) {
    this.#production = config.production;
    this.#keys = new Map(
      config.apiKeys.map(({ name, role, key }: ApiKey) => [
        name,
        {
          caller: { name, role },
          secret: Buffer.from(hkdfSync('sha256', key.reveal(), '', 'crossbill console session', 32)),
        },
      ]),
    );
  }

  /** Logs the caller in: the cookie is never to be read by a script, nor sent by another site's page. */
  start(req: Request, res: Response, caller: Caller): void {
    const now = this.clock.now().getTime();
    const claims = { n: caller.name, i: now, e: now + LIFE_MS, r: randomBytes(16).toString('base64url') };
    const body = Buffer.from(JSON.stringify(claims)).toString('base64url');
    const secret = this.#keys.get(caller.name)?.secret;
    if (secret === undefined) throw new Error('a session begins with a key of the settings');
    res.cookie(COOKIE, `${body}.${mac(secret, `session.${body}`)}`, { ...this.#traits(req), maxAge: LIFE_MS });
  }

  /** Ends it here and in every copy of its cookie. Rejects, and leaves it as it is, when that could not be written down. */
  async end(req: Request, res: Response, session: Session): Promise<void> {
    await this.ended.end(session.id, session.expiresAt);
    res.clearCookie(COOKIE, this.#traits(req));
  }

  /** Null: no cookie, one that we did not sign, one whose time or API key is gone, or one that was logged out. */
  async of(req: Request): Promise<Session | null> {
    const session = this.signed(req);
    return session === null || (await this.ended.isEnded(session.id)) ? null : session;
  }

  private signed(req: Request): Session | null {
    const cookie = cookieOf(req);
    const [body, signature, more] = cookie?.split('.') ?? [];
    if (body === undefined || signature === undefined || more !== undefined) return null;
    const claims = claimsOf(body);
    const entry = claims === null ? undefined : this.#keys.get(claims.name);
    if (claims === null || entry === undefined) return null;
    if (!same(mac(entry.secret, `session.${body}`), signature)) return null;
    const now = this.clock.now().getTime();
    if (now >= claims.expiresMs || claims.issuedMs > now + SKEW_MS || claims.expiresMs - claims.issuedMs > LIFE_MS) {
      return null;
    }
    // The role is the key's of today, not the one it had when the session began.
    const { id, expiresMs } = claims;
    return { ...entry.caller, id, formToken: mac(entry.secret, `form.${body}`), expiresAt: new Date(expiresMs) };
  }

  #traits(req: Request) {
    const secure = this.#production || req.secure;
    return { httpOnly: true, sameSite: 'strict', secure, path: '/console' } as const;
  }
}

/** Compares in a time that tells nothing. */
export function same(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}

function mac(secret: Buffer, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

/** The one cookie of our name; null when there is none, or more than one. */
function cookieOf(req: Request): string | null {
  const found = (req.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${COOKIE}=`))
    .map((pair) => pair.slice(COOKIE.length + 1));
  return found.length === 1 ? (found[0] ?? null) : null;
}

function claimsOf(body: string): { id: string; name: string; issuedMs: number; expiresMs: number } | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
    if (!isJsonObject(value)) return null;
    const { n, i, e, r } = value;
    if (typeof n !== 'string' || typeof i !== 'number' || typeof e !== 'number' || typeof r !== 'string') return null;
    return { id: r, name: n, issuedMs: i, expiresMs: e };
  } catch {
    return null;
  }
}
