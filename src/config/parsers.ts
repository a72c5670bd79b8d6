// One function per kind of setting: the text of an environment variable becomes a value, or a problem that does not repeat it.
import { createHash } from 'node:crypto';
import { isFQDN, isIP, isURL } from 'class-validator';
import { isPrivateAddress } from './addresses.js';
import { namesSeveralHosts, parseDatabaseUrl } from './database-url.js';
import { Secret } from './secret.js';

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };
export type Parser<T> = (text: string) => Parsed<T>;

/** Each role includes the one before. */
export const API_ROLES = ['read', 'signup', 'ops'] as const;
export type ApiRole = (typeof API_ROLES)[number];

/**
 * One bearer key of `API_KEYS`. The name is what audit rows show. Of the key only its SHA-256 is kept, as hex: nothing of this process needs
 * the key itself, and what is not there no dump of its memory shows. Keys are random and long, so a plain hash is enough.
 */
export type ApiKey = { readonly name: string; readonly role: ApiRole; readonly digest: Secret };

/** Shorter secrets can be guessed offline from one captured delivery. Real ones are three times as long and more. */
const MIN_SECRET = 8;
const MIN_API_KEY = 32;

const good = <T>(value: T): Parsed<T> => ({ ok: true, value });
const bad = (problem: string): Parsed<never> => ({ ok: false, problem });

/** The pairs of quotes around a value: `docker run --env-file` and some panels pass them on as part of it. */
const QUOTED = /^(?:".*"|'.*'|`.*`|[“”„].*[“”]|[‘’‚].*[‘’]|«.*»)$/s;

/** A value, or an entry of a list, never begins and ends with the same quote: no key, secret, address or word of ours does. */
export const IN_QUOTES = 'begins and ends with a quote: write it without quotes';

/** Do quotes stand around the text? */
export const isQuoted = (text: string): boolean => QUOTED.test(text);

/** A whole number in plain digits, `min` to `max`, both included. */
export function integer(min: number, max: number): Parser<number> {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    return value >= min && value <= max ? good(value) : bad(`must be a whole number from ${min} to ${max}`);
  };
}

/** Exactly one of these words. */
export function choice<const T extends string>(words: readonly T[]): Parser<T> {
  return (text) => {
    const found = words.find((word) => word === text);
    return found === undefined ? bad(`must be one of ${words.join(', ')}`) : good(found);
  };
}

/** `true` or `false`. */
export const flag: Parser<boolean> = (text) =>
  text === 'true' || text === 'false' ? good(text === 'true') : bad('must be true or false');

/** Text of a given form; `form` says it in words. */
export function matching(pattern: RegExp, form: string): Parser<string> {
  return (text) => (pattern.test(text) ? good(text) : bad(`must be ${form}`));
}

/** An address to listen on: a host name or an IP address. */
export const listenHost: Parser<string> = (text) =>
  isIP(text) || isFQDN(text, { require_tld: false }) ? good(text) : bad('must be a host name or an IP address');

/**
 * IP addresses and ranges such as `10.0.0.0/8`, comma-separated. Not the range of all addresses: everybody could say who they are then.
 * An IPv4 address is written as one, also where the socket is IPv6.
 */
export const addressRanges: Parser<readonly string[]> = (text) => {
  const items = text.split(',').map((item) => item.trim());
  for (const [index, item] of items.entries()) {
    const [address = '', bits, ...rest] = item.split('/');
    const most = isIP(address, '4') ? 32 : isIP(address, '6') && !/%|^::ffff:/i.test(address) ? 128 : 0;
    const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= most);
    if (most === 0 || !fits || rest.length > 0) {
      return bad(`entry ${index + 1} must be an IP address, or a range such as 10.0.0.0/8 or fd00::/8`);
    }
  }
  return good(items);
};

/**
 * An http or https URL without user, password or fragment. `base`: a URL that paths are appended to, so it has no query and loses
 * its trailing slashes. `origin`: a base without a path. `endpoint`: called as it is.
 */
export function httpUrl(kind: 'base' | 'origin' | 'endpoint'): Parser<string> {
  return (text) => {
    const valid = isURL(text, {
      protocols: ['http', 'https'],
      require_protocol: true,
      require_valid_protocol: true,
      require_tld: false,
      allow_underscores: true,
      disallow_auth: true,
      allow_fragments: false,
      allow_query_components: kind === 'endpoint',
    });
    if (!valid || !URL.canParse(text)) return bad('must be an http or https URL without user, password or fragment');
    const url = new URL(text);
    if (kind === 'origin' && url.pathname !== '/') return bad('must have no path, only scheme, host and port');
    return good(kind === 'endpoint' ? url.href : url.href.replace(/\/+$/, ''));
  };
}

/**
 * Where plain http is acceptable in production: this machine, private networks and names that no public DNS resolves, since
 * TLS often ends in front of a container. Everywhere else a client secret would cross the internet in clear.
 */
export function isPrivateHost(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (isIP(host)) return isPrivateAddress(host);
  return !host.includes('.') || /\.(localhost|local|internal)$/.test(host);
}

/** A PostgreSQL connection URL. It may hold a password, so it is kept as a secret. */
export const databaseUrl: Parser<Secret> = (text) => {
  if (namesSeveralHosts(text)) {
    return bad(
      'names several hosts, and Crossbill connects to one: give the one address that leads to the primary (a virtual IP, a DNS name or a proxy)',
    );
  }
  return parseDatabaseUrl(text) !== null && decodes(text)
    ? good(new Secret(text))
    : bad('must be a postgres:// or postgresql:// URL (characters such as # / ? in a password are percent-encoded)');
};

/** A size in bytes: plain digits, or with `b`, `kb` (1,024) or `mb` (1,048,576), in either case. From 1 kb to 64 mb. */
export const byteSize: Parser<number> = (text) => {
  const match = /^(\d{1,9})(b|kb|mb)?$/i.exec(text);
  const unit = { b: 1, kb: 1024, mb: 1024 * 1024 }[(match?.[2] ?? 'b').toLowerCase()] ?? NaN;
  const bytes = Number(match?.[1] ?? NaN) * unit;
  // Below 1 kb no real event passes.
  return bytes >= 1024 && bytes <= 64 * 1024 * 1024
    ? good(bytes)
    : bad('must be a size from 1kb to 64mb, such as 1mb, 512kb or 1048576');
};

/** A secret that is used as it is. `refuse` adds a check of its own and says what is wrong, or null. */
export function secret(refuse: (text: string) => string | null = () => null): Parser<Secret> {
  return (text) => {
    const problem = whatIsWrongWithSecret(text) ?? refuse(text);
    return problem === null ? good(new Secret(text)) : bad(problem);
  };
}

/** Webhook secrets: comma-separated, any one may match, so that the old and the new one overlap while rotating. */
export const signingSecrets: Parser<readonly Secret[]> = (text) => {
  const items = text.split(',').map((item) => item.trim());
  for (const [index, item] of items.entries()) {
    const problem = whatIsWrongWithSecret(item);
    if (problem !== null) return bad(items.length === 1 ? problem : `entry ${index + 1} ${problem}`);
  }
  return good([...new Set(items)].map((item) => new Secret(item)));
};

/** One secret that signs what we send. */
export const signingSecret: Parser<Secret> = secret();

/** A Stripe key for servers. A publishable key or a webhook secret in its place is a mix-up that would only show at the first call. */
export const stripeKey: Parser<Secret> = secret((text) => {
  if (/^(pk|whsec)_/.test(text)) return 'must be a secret or restricted key, not a publishable key or a webhook secret';
  return /^[\x21-\x7e]+$/.test(text) ? null : 'has characters that cannot travel in a header';
});

/** `name:role:key` or `name:role:sha256:<hex>`, comma-separated. Names and keys are unique: an audit row must say who it was. */
export const apiKeys: Parser<readonly ApiKey[]> = (text) => {
  const keys: ApiKey[] = [];
  const seen = new Set<string>();
  for (const [index, item] of text.split(',').entries()) {
    const say = (problem: string): Parsed<never> => bad(`entry ${index + 1} ${problem}`);
    const [name, roleText, key, hash, ...rest] = item.trim().split(':');
    const hashed = key === 'sha256' && hash !== undefined;
    if (
      name === undefined ||
      roleText === undefined ||
      key === undefined ||
      rest.length > 0 ||
      (hash !== undefined && !hashed)
    ) {
      return say('must have the form name:role:key, without ":" in the key, or name:role:sha256:<hash of the key>');
    }
    const role = API_ROLES.find((known) => known === roleText);
    if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) return say('needs a name of 1 to 64 letters, digits, ".", "_" or "-"');
    if (role === undefined) return say(`needs a role: ${API_ROLES.join(', ')}`);
    const problem = hashed ? whatIsWrongWithHash(hash) : whatIsWrongWithKey(key);
    if (problem !== null) return say(problem);
    const digest = (hashed ? Buffer.from(hash, 'hex') : createHash('sha256').update(key).digest()).toString('hex');
    if (seen.has(`name ${name}`)) return say('has a name that was used before');
    if (seen.has(`key ${digest}`)) return say('has a key that was used before');
    seen.add(`name ${name}`).add(`key ${digest}`);
    keys.push({ name: copyOf(name), role, digest: new Secret(digest) });
  }
  return good(keys);
};

/** A part of a text holds on to the whole in V8: of this one, to the keys in it. */
function copyOf(part: string): string {
  return Buffer.from(part).toString();
}

/** Null: it will do. */
function whatIsWrongWithKey(key: string): string | null {
  if (isQuoted(key)) return `has a key that ${IN_QUOTES}`;
  if (key.length < MIN_API_KEY) return `needs a key of at least ${MIN_API_KEY} characters`;
  if (!/^[\x21-\x7e]+$/.test(key)) return 'has a key with blanks or characters that cannot travel in a header';
  return isPlaceholder(key) ? 'still has a placeholder for a key' : null;
}

/** Of an empty input: what comes out when the key did not reach the program that hashes. */
const HASH_OF_NOTHING = createHash('sha256').digest('hex');

/** Null: it will do. */
function whatIsWrongWithHash(hash: string): string | null {
  if (!/^[0-9a-f]{64}$/i.test(hash))
    return 'needs 64 hex digits after sha256:, as `printf %s "$KEY" | sha256sum` prints them';
  return hash.toLowerCase() === HASH_OF_NOTHING ? 'has the hash of an empty key' : null;
}

function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Null when the text can serve as a secret. An empty one is a secret that anybody can sign with. */
function whatIsWrongWithSecret(text: string): string | null {
  if (text === '') return 'is empty';
  if (isQuoted(text)) return IN_QUOTES;
  if (isPlaceholder(text)) return 'is still a placeholder';
  if (/\s/.test(text)) return 'has blanks or line breaks';
  return /[\p{Cc}\p{Cf}]/u.test(text) ? 'has characters that nobody sees: type it again' : null;
}

/** What a rehearsal may use and production may not: anybody would guess it. Null: it will do. */
export function tooWeak(secret: Secret): string | null {
  const text = secret.reveal();
  if (/^(secret|password)$/i.test(text)) return 'is still a placeholder';
  return text.length < MIN_SECRET ? `is shorter than ${MIN_SECRET} characters` : null;
}

/** What example files carry where a secret goes. Kept narrow: nobody's real secret may be refused. */
function isPlaceholder(text: string): boolean {
  return /^<.*>$|\.\.\.|…|(change|replace)[-_]?me|^your[-_]/i.test(text);
}
