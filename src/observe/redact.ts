// Keeps secrets out of what is logged: by the name of a field, by the shape of a text, and by the very values of our settings.

const CENSORED = '[secret]';
const MAX_DEPTH = 6;
const MAX_ITEMS = 100;

// Names are compared in lower case without "_" and "-": `client_secret`, `clientSecret` and `Client-Secret` are one name.
const SECRET_NAMES = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'password',
  'passwd',
  'pwd',
  'apikey',
  'apikeys',
  'bearer',
  'databaseurl',
  'readdatabaseurl',
  'connectionstring',
  'dsn',
  'card',
  'cardnumber',
  'cvc',
  'iban',
]);
const SECRET_ENDINGS = ['secret', 'secrets', 'token', 'tokens', 'signature', 'signatures', 'privatekey'];

/** Does a field of this name hold something that is never logged? */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[_-]/g, '');
  return SECRET_NAMES.has(plain) || SECRET_ENDINGS.some((ending) => plain.endsWith(ending));
}

/**
 * A copy of a value that may be logged: fields with secret names are censored at any depth, errors are described (see
 * `describeError`), bodies are replaced by their size, and what is too deep or too long is cut.
 */
export function withoutSecrets(value: unknown, depth = 0): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return describeError(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= MAX_DEPTH) return '[deeper]';
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => withoutSecrets(item, depth + 1));
  if (value instanceof Map || value instanceof Set) return withoutSecrets([...value], depth);
  // A class that says how it is shown, such as Secret, is taken at its word, and the word is checked again.
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return withoutSecrets((value as { toJSON: () => unknown }).toJSON(), depth + 1);
  }
  const entries = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(
    entries.map(([name, inner]) => [
      name,
      isSecretName(name) && inner !== null ? CENSORED : withoutSecrets(inner, depth + 1),
    ]),
  );
}

// What an error may say besides its message. Everything else stays out: HTTP clients hang the whole request, with its headers,
// onto an error, and database drivers hang the row and the parameters of the statement.
const ERROR_FIELDS = [
  'code',
  'retry',
  'status',
  'statusCode',
  'requestId',
  'errno',
  'syscall',
  'address',
  'port',
  'constraint',
];

/** An error for the log: type, message, stack, a few safe fields, and its causes, three deep. Never request options, headers or rows. */
export function describeError(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) {
    return { type: typeof error, message: typeof error === 'string' ? error : 'something that is no Error was thrown' };
  }
  const described: Record<string, unknown> = { type: error.name, message: error.message, stack: error.stack };
  for (const field of ERROR_FIELDS) {
    const value: unknown = (error as unknown as Record<string, unknown>)[field];
    if (typeof value === 'string' || typeof value === 'number') described[field] = value;
  }
  if (depth < 3) {
    if (error.cause !== undefined) described['cause'] = describeError(error.cause, depth + 1);
    if (error instanceof AggregateError)
      described['errors'] = error.errors.slice(0, 5).map((one) => describeError(one, depth + 1));
  }
  return described;
}

// Shapes of secrets in running text: what a message, a URL or somebody else's error may carry along.
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)(\s+)[A-Za-z0-9._~+/=-]{6,}/gi, `$1$2${CENSORED}`],
  [/\b(sk|rk|whsec)_[A-Za-z0-9_]{6,}/g, `$1_${CENSORED}`], // Stripe's keys and signing secrets
  [/(sk|rk)_(test|live)_[A-Za-z0-9]{6,}|(whsec)_[A-Za-z0-9]{16,}/g, `$1$3_${CENSORED}`], // the same, behind letters that touch them
  [/\b((?:pi|seti|cs|pm)_[A-Za-z0-9]+)_secret_[A-Za-z0-9]+/g, `$1_secret_${CENSORED}`], // client_secret of an intent
  [/\b(v[01]=)[0-9a-f]{32,}/gi, `$1${CENSORED}`], // signature headers
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, CENSORED], // access tokens that are JWTs
  [/([a-z][a-z0-9+.-]*:\/\/[^\s:/@"\\]*):[^\s@"\\]+@/gi, `$1:${CENSORED}@`], // user:password@ in a URL
  [/\b(client_secret|access_token|refresh_token|api_key|password)(=)[^\s&"\\]+/gi, `$1$2${CENSORED}`], // form bodies, query strings
];

/**
 * A function that censors text: known values first, then the shapes above. An id or a number passes as it is.
 * @param secrets values that must never appear; those under 6 characters are left alone, since they would blot out ordinary words
 */
export function textCensor(secrets: readonly string[]): (text: string) => string {
  // A value appears as it is, as JSON writes it, or as a URL writes it. Longest first: one secret may begin another.
  const forms = secrets
    .filter((value) => value.length >= 6)
    .flatMap((value) => [value, JSON.stringify(value).slice(1, -1), inUrl(value)]);
  const known = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => {
    let censored = known.reduce((rest, form) => rest.replaceAll(form, CENSORED), text);
    for (const [shape, replacement] of SHAPES) censored = censored.replace(shape, replacement);
    return censored;
  };
}

/** Half a character pair, which no URL can carry, is what UTF-8 makes of it. */
function inUrl(value: string): string {
  return encodeURIComponent(Buffer.from(value).toString());
}
