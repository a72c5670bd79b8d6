// Writes requests: the same arguments always give the same bytes.
import { type WireRequest } from './outcome.js';

/**
 * JSON text with the keys of every object sorted: equal values give equal bytes. Leaves out absent (`undefined`)
 * members. Writes a bigint as a plain integer.
 */
export function encodeJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map((item) => encodeJson(item ?? null)).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => `${JSON.stringify(name)}:${encodeJson(member)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

export function wireGet(path: string): WireRequest {
  return { method: 'GET', path, body: null };
}

export function wireDelete(path: string): WireRequest {
  return { method: 'DELETE', path, body: null };
}

/** `body` null: a request without a body (Document 1, submit). */
export function wireWith(method: 'POST' | 'PUT' | 'PATCH', path: string, body: unknown): WireRequest {
  return { method, path, body: body === null ? null : encodeJson(body) };
}

/**
 * Escapes an id as one segment of a path. Escapes the ids "." and ".." twice, because a server would read either as a
 * step to another path. Throws a RangeError for an empty id: the path would be another route.
 */
export function segment(id: string): string {
  if (id === '') throw new RangeError('an id in a path must not be empty');
  // Buffer replaces half a surrogate pair. encodeURIComponent alone would throw.
  const escaped = encodeURIComponent(Buffer.from(id).toString());
  return escaped === '.' || escaped === '..' ? escaped.replaceAll('.', '%252E') : escaped;
}

/** A query string with these values in this order. Leaves out null and undefined. */
export function query(values: Readonly<Record<string, string | number | null | undefined>>): string {
  const parts = Object.entries(values)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}
