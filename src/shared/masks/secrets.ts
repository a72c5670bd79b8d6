// Keeps secrets out of the log: by a field's name, by a text's shape, and by the values of our settings.
import { isSecretName } from './names.js';

const CENSORED = '[secret]';
const MAX_DEPTH = 6;
const MAX_ITEMS = 100;

/**
 * Copies a value for the log. The copy has no secret field at any depth, and the size of a body in place of the body.
 * Cuts a value too deep or too long.
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
  // A class such as Secret may define its own form. The result passes the same checks.
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

// The only fields of an error in the log. HTTP clients add the whole request with its headers to an error, and database
// drivers add the row and the statement's parameters.
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

/** Describes an error for the log: type, message, stack, a few safe fields, and its causes three deep. */
export function describeError(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) {
    return { type: typeof error, message: typeof error === 'string' ? error : 'a value was thrown, not an Error' };
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

// Patterns of secrets in a message, a URL or a foreign error.
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)(\s+)[A-Za-z0-9._~+/=-]{6,}/gi, `$1$2${CENSORED}`],
  [/\b(sk|rk|whsec)_[A-Za-z0-9_]{6,}/g, `$1_${CENSORED}`], // Stripe's keys and signing secrets
  // Stripe's keys and signing secrets within a longer word
  [/(sk|rk)_(test|live)_[A-Za-z0-9]{6,}|(whsec)_[A-Za-z0-9]{16,}/g, `$1$3_${CENSORED}`],
  [/\b((?:pi|seti|cs|pm)_[A-Za-z0-9]+)_secret_[A-Za-z0-9]+/g, `$1_secret_${CENSORED}`], // client_secret of an intent
  [/\b(v[01]=)[0-9a-f]{32,}/gi, `$1${CENSORED}`], // signature headers
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, CENSORED], // JWTs
  [/([a-z][a-z0-9+.-]*:\/\/[^\s:/@"\\]*):[^\s@"\\]+@/gi, `$1:${CENSORED}@`], // user:password@ in a URL
  [/\b(client_secret|access_token|refresh_token|api_key|password)(=)[^\s&"\\]+/gi, `$1$2${CENSORED}`], // form bodies, query strings
];

/**
 * Masks secrets in text: known values first, then the patterns above. Leaves ids and numbers alone.
 * @param secrets known values; a value under 6 characters is ignored, since it would hide ordinary words
 */
export function textCensor(secrets: readonly string[]): (text: string) => string {
  // A secret may appear plain, in JSON, or in a URL. Longest first: one secret may begin with another.
  const forms = secrets
    .filter((value) => value.length >= 6)
    .flatMap((value) => [value, JSON.stringify(value).slice(1, -1), inUrl(value)]);
  const known = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => {
    let censored = known.reduce((remaining, form) => remaining.replaceAll(form, CENSORED), text);
    for (const [shape, replacement] of SHAPES) censored = censored.replace(shape, replacement);
    return censored;
  };
}

/**
 * Writes a secret as a URL contains it. Buffer first replaces an unpaired surrogate, because encodeURIComponent would
 * throw on it.
 */
function inUrl(value: string): string {
  return encodeURIComponent(Buffer.from(value).toString());
}
