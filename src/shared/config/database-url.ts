// Reads a PostgreSQL connection URL. PostgreSQL accepts `postgres://user@/name?host=/run/postgresql` (a socket), but
// the URL standard demands a host after the `@`.

const NO_HOST = 'no-host.invalid';

/** Parses a connection URL into its parts, still percent-encoded. Null: the text is no connection URL. */
export function parseDatabaseUrl(text: string): URL | null {
  const whole = text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?]|$)/, `$1${NO_HOST}`);
  return /^postgres(ql)?:\/\/\S+$/.test(text) && URL.canParse(whole) ? new URL(whole) : null;
}

/** The host of the URL. Empty for a Unix socket. */
export function hostOf(url: URL): string {
  return url.hostname === NO_HOST ? '' : url.hostname;
}

/** True for a URL with several hosts. libpq accepts `h1:5432,h2:5432` and `?host=h1,h2`. */
export function namesSeveralHosts(text: string): boolean {
  const authority = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#@]*)/.exec(text)?.[1] ?? '';
  const hosts = [...text.matchAll(/[?&](?:host|hostaddr|port)=([^&#]*)/g)].map((m) => m[1] ?? '');
  return [authority, ...hosts].some((part) => part.replace(/%2c/gi, ',').includes(','));
}

/** Every form of the password in the URL, to mask it in the log. */
export function passwordsIn(text: string): string[] {
  const url = parseDatabaseUrl(text);
  if (url === null) return [];
  const found = [url.password, decodeURIComponent(url.password), url.searchParams.get('password') ?? ''];
  return found.filter((password) => password !== '');
}

/** Host and database for display, without user, password and options. Null: the text is no connection URL. */
export function shownDatabaseUrl(text: string): string | null {
  const url = parseDatabaseUrl(text);
  if (url === null) return null;
  const socket = url.searchParams.get('host');
  const host = socket ?? `${hostOf(url)}${url.port === '' ? '' : `:${url.port}`}`;
  return `${url.protocol}//${host.startsWith('/') ? encodeURIComponent(host) : host}${url.pathname}`;
}

/** The URL with another database name, on the same server with the same user. */
export function withDatabase(text: string, name: string): string {
  const url = parseDatabaseUrl(text);
  if (url === null) throw new Error('not a PostgreSQL connection URL');
  url.pathname = `/${encodeURIComponent(name)}`;
  url.searchParams.delete('dbname');
  return url.toString().replace(`@${NO_HOST}`, '@');
}
