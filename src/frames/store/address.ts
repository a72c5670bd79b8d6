// Turns a connection URL into the options of pg. The parameters mean the same as in libpq: docs/install.md explains them.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { type ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { hostOf, namesSeveralHosts, parseDatabaseUrl } from '../../shared/config/database-url.js';
import { DatabaseRefused, sqlState } from './database-errors.js';

/** Host, port, database and user. pg fills in missing parts: from PGHOST, PGUSER and so on, then with localhost. */
export type Address = Pick<
  pg.ClientConfig,
  'host' | 'port' | 'user' | 'password' | 'database' | 'options' | 'ssl' | 'sslnegotiation'
>;

/**
 * Parses a connection URL. Ignores libpq parameters without a meaning for pg.
 * @throws DatabaseRefused if the URL is unusable, or names an unreadable file
 */
export function addressOf(text: string): Address {
  const url = parseDatabaseUrl(text);
  if (namesSeveralHosts(text) || url === null) {
    throw new DatabaseRefused(
      'url',
      url === null
        ? 'DATABASE_URL is no postgres:// URL'
        : 'DATABASE_URL names several hosts, and Crossbill connects to one',
      'Give a postgres:// URL with one address for the primary: a virtual IP, a DNS name or a proxy',
    );
  }
  const asked = url.searchParams;
  const given = (name: string, inUrl: string): string | undefined =>
    asked.get(name) || decodeURIComponent(inUrl) || undefined;
  const host = given('host', hostOf(url).replace(/^\[(.*)\]$/, '$1'));
  const port = given('port', url.port);
  const user = given('user', url.username);
  if (user === undefined) pg.defaults.user ??= systemUser();
  return {
    host,
    port: port === undefined ? undefined : Number(port),
    user,
    password: given('password', url.password),
    database: given('dbname', url.pathname.slice(1)),
    options: asked.get('options') ?? undefined,
    sslnegotiation: asked.get('sslnegotiation') === 'direct' ? 'direct' : undefined,
    // No TLS on a Unix socket, as in libpq: the traffic stays on this machine.
    ssl: host?.startsWith('/') === true ? false : tlsOf(asked),
  };
}

/**
 * The name of this process's user in the operating system. As in libpq, this name is the default if no setting names a
 * user. pg would read USER instead, but a service or a container has no USER.
 */
function systemUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined; // a numeric user without a name
  }
}

/**
 * The TLS option of pg. Undefined: the URL has no TLS parameter, so PGSSLMODE decides. Without PGSSLMODE the connection
 * is not encrypted.
 */
function tlsOf(asked: URLSearchParams): boolean | ConnectionOptions | undefined {
  const mode = modeOf(asked);
  if (mode === undefined) return undefined;
  if (mode === 'disable') return false;
  const root = rootOf(asked, mode);
  const own = { ...fileOf(asked, 'sslcert', 'cert'), ...fileOf(asked, 'sslkey', 'key') };
  switch (mode) {
    case 'require':
      // As in libpq: with a root certificate, `require` means verify-ca, "for backward compatibility".
      return root === undefined
        ? { ...own, rejectUnauthorized: false }
        : { ...own, ca: root, checkServerIdentity: () => undefined };
    case 'verify-ca':
      if (root === undefined)
        throw tls(
          'sslmode=verify-ca needs a CA, and DATABASE_URL names none',
          'Add sslrootcert=/path/to/ca.pem to DATABASE_URL, or use sslmode=verify-full for a certificate of a public CA (docs/install.md)',
        );
      return { ...own, ca: root, checkServerIdentity: () => undefined };
    case 'verify-full':
      return { ...own, ...(root === undefined ? {} : { ca: root }) };
  }
}

type Mode = 'disable' | 'require' | 'verify-ca' | 'verify-full';

function modeOf(asked: URLSearchParams): Mode | undefined {
  const mode = asked.get('sslmode') ?? asked.get('ssl');
  switch (mode) {
    case null: // no mode: a certificate in the URL implies encryption
      return asked.has('sslrootcert') ? 'verify-full' : asked.has('sslcert') ? 'require' : undefined;
    case 'disable':
    case 'require':
    case 'verify-ca':
    case 'verify-full':
      return mode;
    case 'false':
    case '0':
      return 'disable';
    case 'true': // for pg and many other clients, `true` also means full verification
    case '1':
      return 'verify-full';
    case 'no-verify':
      return 'require';
    default:
      throw tls(
        ['allow', 'prefer'].includes(mode)
          ? `sslmode=${mode} does not always encrypt`
          : 'DATABASE_URL has an unknown sslmode',
        'Use disable, require, verify-ca or verify-full (docs/install.md)',
      );
  }
}

/** The certificate authority to trust. Undefined: Node's list of public authorities. */
function rootOf(asked: URLSearchParams, mode: Mode): string | undefined {
  const path = asked.get('sslrootcert');
  if (path === null || path === '') return undefined;
  if (path === 'system') {
    if (mode === 'verify-full') return undefined;
    throw tls(
      `sslrootcert=system with sslmode=${mode} would trust any server with a public certificate`,
      'Use sslrootcert=system with sslmode=verify-full only (docs/install.md)',
    );
  }
  const text = read('sslrootcert', path);
  try {
    new X509Certificate(text);
  } catch (e) {
    throw tls(`sslrootcert=${path} holds no certificate`, 'Give a file in PEM form (docs/install.md)', e);
  }
  return text;
}

function fileOf(asked: URLSearchParams, name: string, as: 'cert' | 'key'): Partial<Record<'cert' | 'key', string>> {
  const path = asked.get(name);
  return path === null || path === '' ? {} : { [as]: read(name, path) };
}

function read(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (e) {
    throw tls(
      `${name}=${path} cannot be read (${sqlState(e) ?? 'no reason given'})`,
      'Give the path of a file readable by this process (docs/install.md)',
      e,
    );
  }
}

const tls = (whatIsWrong: string, whatToDo: string, cause?: unknown): DatabaseRefused =>
  new DatabaseRefused('tls', whatIsWrong, whatToDo, cause);
