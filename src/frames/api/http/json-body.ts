// Parses a request's bytes to a JSON object. A number in an unusual form stays text, so it never becomes an amount.
import { parseBody } from '../../../shared/domain/events/json-body.js';

export type ParsedBody =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly reason: string };

/**
 * Parses a body. An empty body is `{}`. A top-level number that is not written in plain digits (`1e3`, `10.0`) stays
 * text. JSON.parse would turn it into an integer, and Crossbill must not guess a person's amount.
 */
export function parseJsonBody(bytes: Buffer): ParsedBody {
  if (bytes.length === 0) return { ok: true, value: {} };
  const parsed = parseBody(bytes);
  if (!parsed.ok) return parsed;
  const odd = oddNumbers(bytes.toString('utf8'));
  if (odd.length === 0) return parsed;
  return { ok: true, value: { ...parsed.value, ...Object.fromEntries(odd) } };
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]]|-?\d[\d.eE+-]*/g;

/**
 * Returns key and text of each number in the outermost object, except integers in plain digits. `text` must be valid
 * JSON.
 */
function oddNumbers(text: string): [string, string][] {
  const found: [string, string][] = [];
  let depth = 0;
  let key = '';
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (depth !== 1) continue;
    else if (token.startsWith('"')) key = String(JSON.parse(token));
    else if (!/^-?\d+$/.test(token)) found.push([key, token]);
  }
  return found;
}

/** Writes JSON with ordered keys and without blanks: bodies with the same meaning give the same text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`);
  return `{${members.join(',')}}`;
}
