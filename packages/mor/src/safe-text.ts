// A peer's text, made safe to show: one line, bounded, without every secret known to us.

const MAX_TEXT = 500;
// Control characters, line and paragraph separators, and marks with an effect on the direction of text.
const UNSHOWABLE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;
// An intent's client secret has this look under any processor prefix; a peer may echo a bearer token with its scheme;
// Stripe's keys and signing secrets begin so, also right behind other letters.
const LOOKS_SECRET =
  /\b\w+_secret_\w+|\bBearer\s+[\w.~+/=-]+|\b(?:sk|rk)_\w{6,}|(?:sk|rk)_(?:test|live)_\w{6,}|whsec_\w{6,}/gi;

/** `secrets` are values to remove; skips the empty string. */
export function safeText(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) if (secret !== '') shown = shown.split(secret).join('[secret]');
  shown = shown.slice(0, MAX_TEXT * 10); // cut only now: a search would miss half a secret
  shown = shown.replace(LOOKS_SECRET, '[secret]').replace(UNSHOWABLE, ' ').trim();
  return shown.length > MAX_TEXT ? `${shown.slice(0, MAX_TEXT - 3)}...` : shown;
}

/** A request id as the peer gave it; null when there is none or it is no plain short word. */
export function safeRequestId(value: string | null): string | null {
  return value !== null && /^[\w.:/+=-]{1,128}$/.test(value) ? value : null;
}
