// Reads the usual variables for a proxy: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in upper or lower case. A variable in
// lower case takes precedence.
import { BlockList, isIP, isIPv6 } from 'node:net';
import { isLoopbackHost } from './addresses.js';
import { type SettingProblem } from './config-error.js';
import { Secret } from './secret.js';

export type Proxy = { readonly name: string; readonly url: Secret };

export type Proxies = {
  /** The proxy for plain http. Null: none. */
  readonly http: Proxy | null;
  readonly https: Proxy | null;
  readonly except: readonly string[];
};

export const NO_PROXIES: Proxies = { http: null, https: null, except: [] };

type Environment = Readonly<Record<string, string | undefined>>;

export function proxiesOf(env: Environment): {
  readonly proxies: Proxies;
  readonly problems: readonly SettingProblem[];
} {
  const problems: SettingProblem[] = [];
  const read = (name: string): Proxy | null => {
    const given = [name.toLowerCase(), name].find((one) => (env[one] ?? '').trim() !== '');
    if (given === undefined) return null;
    const text = (env[given] ?? '').trim();
    const url = text.includes('://') ? text : `http://${text}`;
    if (URL.canParse(url) && isProxyUrl(new URL(url))) return { name: given, url: new Secret(url) };
    problems.push({
      name: given,
      problem: 'must be the http or https URL of a proxy, such as http://proxy.internal:3128',
    });
    return null;
  };
  const except = (env['no_proxy'] ?? env['NO_PROXY'] ?? '').split(/[,\s]+/).filter((entry) => entry !== '');
  return { proxies: { http: read('HTTP_PROXY'), https: read('HTTPS_PROXY'), except }, problems };
}

function isProxyUrl({ protocol, hostname, pathname, search, hash, username, password }: URL): boolean {
  const plainHost = hostname !== '' && !/["'`]/.test(hostname);
  return (
    /^https?:$/.test(protocol) &&
    plainHost &&
    unescaped(username + password) !== null &&
    pathname === '/' &&
    search === '' &&
    hash === ''
  );
}

/** The proxy for requests to this URL. Null: no proxy. Requests to this machine never use a proxy. */
export function proxyFor({ http, https, except }: Proxies, url: URL): Proxy | null {
  const proxy = url.protocol === 'https:' ? https : http;
  if (proxy === null || isLoopbackHost(url.hostname)) return null;
  const host = oneSpelling(url.hostname);
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return except.some((entry) => names(entry.toLowerCase(), host, port)) ? null : proxy;
}

/**
 * True if an entry of NO_PROXY matches: `*`, a name (with all names below it), an address, or a range of addresses. A
 * name or an IPv4 address may end with a port.
 */
function names(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const bare = isIPv6(entry) || entry.includes('/') ? [entry, undefined] : /^(.+?)(?::(\d+))?$/.exec(entry)?.slice(1);
  const [name = '', onPort] = bare ?? [];
  if (onPort !== undefined && onPort !== port) return false;
  if (name.includes('/')) return isWithin(name, host);
  const plain = oneSpelling(name.replace(/^\*?\./, ''));
  return host === plain || (isIP(host) === 0 && host.endsWith(`.${plain}`));
}

/** A host in the one spelling for a comparison: without brackets or a dot at the end, short, and in ASCII. */
function oneSpelling(host: string): string {
  const bare = host.replace(/^\[|\]$|\.$/g, '');
  const url = `http://${isIPv6(bare) ? `[${bare}]` : bare}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : bare.toLowerCase();
}

function isWithin(range: string, host: string): boolean {
  const [address = '', bits = ''] = range.split('/');
  const [version, ofHost] = [isIP(address), isIP(host)];
  if (version === 0 || version !== ofHost || !/^\d{1,3}$/.test(bits) || Number(bits) > (version === 6 ? 128 : 32))
    return false;
  const family = version === 6 ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(address, Number(bits), family);
  return list.check(host, family);
}

/** The address of a proxy for display, without user and password. */
export function shownProxy({ name, url }: Proxy): string {
  const { protocol, host } = new URL(url.reveal());
  return `${protocol}//${host} (${name})`;
}

/** The passwords of the proxies, as written and as sent, to mask them in the log. */
export function proxyPasswords({ http, https }: Proxies): readonly string[] {
  return [http, https].flatMap((proxy) => {
    const password = proxy === null ? '' : new URL(proxy.url.reveal()).password;
    return password === '' ? [] : [password, unescaped(password) ?? password];
  });
}

function unescaped(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
