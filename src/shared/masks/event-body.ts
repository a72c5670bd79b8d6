// Masks personal data, card numbers and secrets in an event's body, at any depth, for people to read.
import { maskCards } from './card-numbers.js';
import { isIdentifierName, isPersonalName, isSecretName } from './names.js';
import { textCensor } from './secrets.js';

const MASK = '[masked]';
const MAX_DEPTH = 40;
const MAX_MEMBERS = 2_000;

// Finds an e-mail address. The length limits keep the search fast in a long text without blanks.
const EMAIL = /[^\s@"'<>,;()]{1,64}@[^\s@"'<>,;()]{1,255}/g;

/** A copy of the value with masks for personal data and secrets. `null` stays `null`: an absent value is no secret. */
export function masked(value: unknown, name = '', depth = 0): unknown {
  if (typeof value === 'string') return withoutCards(name, value).replace(EMAIL, MASK);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '[deeper]';
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((item) => masked(item, name, depth + 1));
  const members = Object.entries(value).slice(0, MAX_MEMBERS);
  const hides = (of: string): boolean => isPersonalName(of) || isSecretName(of);
  return Object.fromEntries(
    members.map(([of, inner]) => [of, hides(of) && inner !== null ? MASK : masked(inner, of, depth + 1)]),
  );
}

function withoutCards(name: string, text: string): string {
  return isIdentifierName(name) ? text : maskCards(text);
}

/**
 * The body as the sender sent it, for a person with a reason to see personal data. Secrets and card numbers stay
 * masked.
 */
export function rawBody(body: Buffer): unknown {
  const text = textCensor([])(body.toString('utf8'));
  try {
    return withoutSecrets(JSON.parse(text));
  } catch {
    return maskCards(text);
  }
}

function withoutSecrets(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return withoutCards(name, value);
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([of, inner]: [string, unknown]) => [
      of,
      isSecretName(of) && inner !== null ? MASK : withoutSecrets(inner, of),
    ]),
  );
}
