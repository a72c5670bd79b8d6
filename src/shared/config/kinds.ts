// The kinds of settings. Each kind turns the text of a variable into a value, or into a problem that does not contain
// the text.
import { createHash } from 'node:crypto';
import { isFQDN, isIP, isURL } from 'class-validator';
import { isForbiddenAddress, isLoopbackHost, isPrivateAddress } from './addresses.js';
import { namesSeveralHosts, parseDatabaseUrl } from './database-url.js';
import { Secret } from './secret.js';
import { bad, good, type Kind, type Parsed } from './setting.js';

/** The roles of API keys, from weakest to strongest. Each role includes the roles before it. */
export const API_ROLES = ['read', 'signup', 'ops'] as const;
export type ApiRole = (typeof API_ROLES)[number];

/**
 * A bearer key of `API_KEYS`, with its name for the audit log. Memory has only the key's SHA-256 in hex. A long random
 * key needs no slow hash.
 */
export type ApiKey = { readonly name: string; readonly role: ApiRole; readonly digest: Secret };

export type GroupRole = { readonly group: string; readonly role: ApiRole };

/**
 * The least number of characters of a signing secret. With a shorter secret, somebody with one captured delivery could
 * find the secret by trying. Real secrets are about three times as long.
 */
const MIN_SECRET = 8;
const MIN_API_KEY = 32;

/** A value in quotes: `docker run --env-file` and some hosting panels pass quotes on. */
const QUOTED = /^(?:".*"|'.*'|`.*`|[“”„].*[“”]|[‘’‚].*[‘’]|«.*»)$/s;

export const IN_QUOTES = 'begins and ends with a quote: write it without quotes';
export const isQuoted = (text: string): boolean => QUOTED.test(text);

/** Splits a list at commas and removes blanks around each entry. `before`: the earlier entries. */
function list<T>(
  type: string,
  parse: (item: string, before: readonly T[]) => Parsed<T>,
  secret = false,
): Kind<readonly T[]> {
  const parseAll = (text: string): Parsed<readonly T[]> => {
    const values: T[] = [];
    const items = text.split(',').map((item) => item.trim());
    for (const [index, item] of items.entries()) {
      const parsed = parse(item, values);
      if (!parsed.ok) return items.length === 1 ? parsed : bad(`entry ${index + 1} ${parsed.problem}`);
      values.push(parsed.value);
    }
    return good(values);
  };
  return { type, secret, parse: parseAll };
}

/** The kind for a whole number in plain digits, from `min` to `max`, both included. */
export function integer(min: number, max: number, unit: string): Kind<number> {
  const parse = (text: string): Parsed<number> => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    return value >= min && value <= max ? good(value) : bad(`must be a whole number from ${min} to ${max}`);
  };
  return { type: `${unit}, ${min} to ${max}`, parse };
}

/** A setting with one of these words as its value. */
export function choice<const T extends string>(words: readonly T[]): Kind<T> {
  const parse = (text: string): Parsed<T> => {
    const found = words.find((word) => word === text);
    return found === undefined ? bad(`must be one of ${words.join(', ')}`) : good(found);
  };
  return { type: `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`, parse };
}

export const flag: Kind<boolean> = {
  type: 'true or false',
  parse: (text) => (text === 'true' || text === 'false' ? good(text === 'true') : bad('must be true or false')),
};

/** The kind for a text with this pattern. `form`: the pattern in words. */
export function matching(type: string, pattern: RegExp, form = type): Kind<string> {
  return { type, parse: (text) => (pattern.test(text) ? good(text) : bad(`must be ${form}`)) };
}

/** The kind for the address the daemon listens on. */
export const listenHost: Kind<string> = {
  type: 'host name or IP address',
  parse: (text) =>
    isIP(text) || isFQDN(text, { require_tld: false }) ? good(text) : bad('must be a host name or an IP address'),
};

/**
 * The kind for address ranges. Refuses the range of all addresses, because then any client could claim any address. An
 * IPv4 range also matches an IPv4 address on an IPv6 socket.
 */
export const addressRanges = list<string>('IP addresses or ranges, comma-separated', (item) => {
  const [address = '', bits, ...rest] = item.split('/');
  const most = isIP(address, '4') ? 32 : isIP(address, '6') && !/%|^::ffff:/i.test(address) ? 128 : 0;
  const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= most);
  if (most > 0 && fits && rest.length === 0) return good(item);
  return bad('must be an IP address, or a range such as 10.0.0.0/8 or fd00::/8');
});

const URL_TYPE = 'http or https URL';

/**
 * The kind for a URL without user, password or fragment. `base`: Crossbill appends paths, so the URL has no query, and
 * the kind removes slashes at the end. `origin`: a base without a path. `endpoint`: the whole address of a call.
 */
export function httpUrl(form: 'base' | 'origin' | 'endpoint'): Kind<string> {
  const parse = (text: string): Parsed<string> => {
    const valid = isURL(text, {
      protocols: ['http', 'https'],
      require_protocol: true,
      require_valid_protocol: true,
      require_tld: false,
      allow_underscores: true,
      disallow_auth: true,
      allow_fragments: false,
      allow_query_components: form === 'endpoint',
    });
    if (!valid || !URL.canParse(text)) return bad('must be an http or https URL without user, password or fragment');
    const url = new URL(text);
    if (form === 'origin' && url.pathname !== '/') return bad('must have no path, only scheme, host and port');
    return good(form === 'endpoint' ? url.href : url.href.replace(/\/+$/, ''));
  };
  return { type: form === 'origin' ? `${URL_TYPE} without a path` : URL_TYPE, parse };
}

/** A base to which Crossbill appends `path`: the whole address of the call, as copied from a page, cannot be right. */
export function baseOf(path: string): Kind<string> {
  const { type, parse } = httpUrl('base');
  const wrong = `must not contain ${path}: Crossbill appends it`;
  return { type, parse: (text) => (new RegExp(`${path}([/?#]|$)`).test(text) ? bad(wrong) : parse(text)) };
}

const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase();

/**
 * True for a private host: this machine, a private network, or a name without public DNS. Production allows plain http
 * to a private host, because TLS often ends in front of a container. Production refuses plain http to a public host,
 * because everybody on the way could read a client secret.
 */
export function isPrivateHost(url: string): boolean {
  const host = hostOf(url);
  if (isIP(host)) return isPrivateAddress(host);
  return !host.includes('.') || /\.(localhost|local|internal)$/.test(host);
}

/** The kind for the relay's URL. The whole URL is a secret, because its query may contain a token. */
export const relayUrl: Kind<Secret> = { type: URL_TYPE, parse: (text) => asSecret(httpUrl('endpoint').parse(text)) };

/**
 * The kind for the URL of the merchant's receiver of notifications. It is a secret, because anybody with the URL of a
 * Slack channel can write there.
 */
export const receiverUrl: Kind<Secret> = {
  type: 'https URL, or http within the private network',
  secret: true,
  parse(text) {
    const parsed = httpUrl('endpoint').parse(text);
    if (!parsed.ok) return parsed;
    if (isForbiddenAddress(hostOf(parsed.value)))
      return bad('must not be a link-local, metadata, unspecified or multicast address');
    if (parsed.value.startsWith('https:') || isPrivateHost(parsed.value)) return asSecret(parsed);
    return bad(
      'must be https: plain http is for this machine and the private network only (10.…, 192.168.…, a name such as backend or backend.internal)',
    );
  },
};

const asSecret = (parsed: Parsed<string>): Parsed<Secret> => (parsed.ok ? good(new Secret(parsed.value)) : parsed);

/**
 * The kind for an https URL. Allows plain http only on this machine: a session must not cross the network unencrypted.
 */
function secureUrl(form: 'origin' | 'endpoint', whose: string): Kind<string> {
  const parse = (text: string): Parsed<string> => {
    const parsed = httpUrl(form).parse(text);
    if (!parsed.ok) return parsed;
    const { protocol, search, hostname } = new URL(parsed.value);
    if (search !== '') return bad('must have no query');
    if (protocol === 'https:' || isLoopbackHost(hostname)) return parsed;
    return bad(`must be https: plain http is for ${whose}this machine only (localhost, 127.0.0.1)`);
  };
  return { type: 'https URL, or http on this machine', parse };
}

/**
 * The kind for an identity provider's URL. The URL keeps a slash at the end: the provider's tokens must name exactly
 * this URL.
 */
export const issuer = secureUrl('endpoint', 'a provider on ');
/** The address of the console in people's browsers. */
export const consoleOrigin = secureUrl('origin', '');

export const emailDomain: Kind<string> = {
  type: 'domain',
  parse: (text) =>
    isFQDN(text, { require_tld: false }) ? good(text.toLowerCase()) : bad('must be a domain such as example.com'),
};

/** The kind for a database URL. It is a secret, because it may contain a password. */
export const databaseUrl: Kind<Secret> = {
  type: 'postgres:// or postgresql:// URL',
  secret: true,
  parse(text) {
    if (namesSeveralHosts(text))
      return bad(
        'names several hosts, and Crossbill connects to one: give the one address of the primary (a virtual IP, a DNS name or a proxy)',
      );
    if (parseDatabaseUrl(text) !== null && decodes(text)) return good(new Secret(text));
    return bad(
      'must be a postgres:// or postgresql:// URL (characters such as # / ? in a password are percent-encoded)',
    );
  },
};

function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The kind for a number of bytes, or a number with `b`, `kb` (1,024) or `mb` (1,048,576), in any case. At least 1 kb,
 * because a real event has at least this size.
 */
export const byteSize: Kind<number> = {
  type: 'size, 1kb to 64mb',
  parse(text) {
    const [, digits = '', unit = 'b'] = /^(\d{1,9})(b|kb|mb)?$/i.exec(text) ?? [];
    const bytes =
      digits === '' ? NaN : Number(digits) * ({ b: 1, kb: 1024, mb: 1024 * 1024 }[unit.toLowerCase()] ?? NaN);
    if (bytes >= 1024 && bytes <= 64 * 1024 * 1024) return good(bytes);
    return bad('must be a size from 1kb to 64mb, such as 1mb, 512kb or 1048576');
  },
};

/** The kind for a secret text. `refuse`: a further check; it returns the problem with the text, or null. */
function secretText(refuse: (text: string) => string | null = () => null): Kind<Secret> {
  const parse = (text: string): Parsed<Secret> => {
    const problem = whatIsWrongWithSecret(text) ?? refuse(text);
    return problem === null ? good(new Secret(text)) : bad(problem);
  };
  return { type: 'secret', secret: true, parse };
}

export const secret = secretText();

/**
 * The kind for Stripe's secret or restricted key. Refuses a publishable key or a webhook secret at the start: without
 * this check the mistake would show only at the first call to Stripe.
 */
export const stripeKey = secretText((text) => {
  if (/^(pk|whsec)_/.test(text)) return 'must be a secret or restricted key, not a publishable key or a webhook secret';
  return /^[\x21-\x7e]+$/.test(text) ? null : 'has characters not allowed in an HTTP header';
});

/** The kind for a list of secrets. During a rotation a signature may match any of them. Drops repeated secrets. */
function secrets(type: string, whatIsWrong: (item: string) => string | null): Kind<readonly Secret[]> {
  const all = list<string>(type, (item) => {
    const problem = whatIsWrong(item);
    return problem === null ? good(item) : bad(problem);
  });
  const parse = (text: string): Parsed<readonly Secret[]> => {
    const parsed = all.parse(text);
    return parsed.ok ? good([...new Set(parsed.value)].map((item) => new Secret(item))) : parsed;
  };
  return { type, secret: true, parse };
}

export const signingSecrets = secrets('secrets, comma-separated', whatIsWrongWithSecret);

/** The kind for secrets of Standard Webhooks ("Symmetric"): 24 to 64 random bytes in base64, after `whsec_`. */
export const notifySecrets = secrets('whsec_… secrets, comma-separated', (item) => {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(item) ?? [];
  const bytes = base64.length % 4 === 0 ? Buffer.from(base64, 'base64').length : 0;
  if (bytes >= 24 && bytes <= 64) return null;
  return 'must be whsec_ and 24 to 64 bytes in base64: echo "whsec_$(openssl rand -base64 32)" makes one';
});

const KEY_TYPE = 'name:role:key or name:role:sha256:hash, comma-separated';

/** The kind for API_KEYS. Each name and each key must be unique, so a row of the audit log names one caller. */
export const apiKeys = list<ApiKey>(
  KEY_TYPE,
  (item, before) => {
    const [name, roleText, key, hash, ...rest] = item.split(':');
    const hashed = key === 'sha256' && hash !== undefined;
    if (name === undefined || key === undefined || rest.length > 0 || (hash !== undefined && !hashed))
      return bad('must have the form name:role:key, without ":" in the key, or name:role:sha256:<hash of the key>');
    const role = API_ROLES.find((known) => known === roleText);
    if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) return bad('needs a name of 1 to 64 letters, digits, ".", "_" or "-"');
    if (role === undefined) return bad(`needs a role: ${API_ROLES.join(', ')}`);
    const problem = hashed ? whatIsWrongWithHash(hash) : whatIsWrongWithKey(key);
    if (problem !== null) return bad(problem);
    const digest = (hashed ? Buffer.from(hash, 'hex') : createHash('sha256').update(key).digest()).toString('hex');
    if (before.some((k) => k.name === name)) return bad('has the name of an earlier entry');
    if (before.some((k) => k.digest.reveal() === digest)) return bad('has the key of an earlier entry');
    // Copies the name. In V8 a part of a text keeps the whole text in memory, and the whole text contains the key.
    return good({ name: Buffer.from(name).toString(), role, digest: new Secret(digest) });
  },
  true,
);

/** The kind for the roles of the identity provider's groups. The name of a group may contain "=", but no ",". */
export const groupRoles = list<GroupRole>('group=role, comma-separated', (item, before) => {
  const at = item.lastIndexOf('=');
  const group = item.slice(0, Math.max(0, at)).trim();
  const role = API_ROLES.find((known) => known === item.slice(at + 1).trim());
  if (group === '') return bad('must have the form group=role');
  if (isQuoted(group)) return bad(`has a group that ${IN_QUOTES}`);
  if (group.length > 128) return bad('has a group of more than 128 characters');
  if (role === undefined) return bad(`needs a role: ${API_ROLES.join(', ')}`);
  return before.some((r) => r.group === group) ? bad('has the group of an earlier entry') : good({ group, role });
});

/** The problem with the key. Null: it has none. */
function whatIsWrongWithKey(key: string): string | null {
  if (isQuoted(key)) return `has a key that ${IN_QUOTES}`;
  if (key.length < MIN_API_KEY) return `needs a key of at least ${MIN_API_KEY} characters`;
  if (!/^[\x21-\x7e]+$/.test(key)) return 'has a key with blanks, or with characters not allowed in an HTTP header';
  return isPlaceholder(key) ? 'still has a placeholder for a key' : null;
}

/** The hash of an empty key, as from `sha256sum` without input. */
const HASH_OF_NOTHING = createHash('sha256').digest('hex');

function whatIsWrongWithHash(hash: string): string | null {
  if (!/^[0-9a-f]{64}$/i.test(hash))
    return 'needs 64 hex digits after sha256:, as `printf %s "$KEY" | sha256sum` prints them';
  return hash.toLowerCase() === HASH_OF_NOTHING ? 'has the hash of an empty key: hash the key itself' : null;
}

/** Returns the problem with a secret, or null. Refuses an empty secret, since anybody can sign with it. */
function whatIsWrongWithSecret(text: string): string | null {
  if (text === '') return 'is empty';
  if (isQuoted(text)) return IN_QUOTES;
  if (isPlaceholder(text)) return 'is still a placeholder';
  if (/\s/.test(text)) return 'has blanks or line breaks';
  return /[\p{Cc}\p{Cf}]/u.test(text) ? 'has invisible characters: type it again' : null;
}

/** Returns the problem with a secret too weak for production, or null. Rehearsals may use weak secrets. */
export function tooWeak(text: string): string | null {
  if (/^(secret|password)$/i.test(text)) return 'is still a placeholder';
  return text.length < MIN_SECRET ? `is shorter than ${MIN_SECRET} characters` : null;
}

/** True for placeholders from example files. The pattern is narrow, so it refuses no real secret. */
function isPlaceholder(text: string): boolean {
  return /^<.*>$|\.\.\.|…|(change|replace)[-_]?me|^your[-_]/i.test(text);
}
