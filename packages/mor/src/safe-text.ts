// Text that a peer sent, made safe to show: one line, bounded, with every secret we know of taken out.

const MAX_TEXT = 500;
// Control characters, line and paragraph separators, and marks that change the direction of text.
const UNSHOWABLE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;
// A client secret of an intent has this look whatever its processor prefix is; a bearer token may be echoed with its scheme; keys and signing
// secrets of Stripe begin so, whoever repeats them, also right behind other letters.
const LOOKS_SECRET =
  /\b\w+_secret_\w+|\bBearer\s+[\w.~+/=-]+|\b(?:sk|rk)_\w{6,}|(?:sk|rk)_(?:test|live)_\w{6,}|whsec_\w{6,}/gi;

/** `secrets` are values that must not appear; the empty string is passed over. */
export function safeText(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) if (secret !== '') shown = shown.split(secret).join('[secret]');
  shown = shown.slice(0, MAX_TEXT * 10); // cut only now: half a secret would not be found
  shown = shown.replace(LOOKS_SECRET, '[secret]').replace(UNSHOWABLE, ' ').trim();
  return shown.length > MAX_TEXT ? `${shown.slice(0, MAX_TEXT - 3)}...` : shown;
}

/** A request id as the peer gave it; null when there is none or it is no plain short word. */
export function safeRequestId(value: string | null): string | null {
  return value !== null && /^[\w.:/+=-]{1,128}$/.test(value) ? value : null;
}
