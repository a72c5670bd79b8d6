// Makes text from the MoR safe to show: one line, limited length, without any known secret.

const MAX_TEXT = 500;
// Control characters, line and paragraph separators, and marks that change the direction of text.
const UNSHOWABLE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;
// Patterns of secrets: an intent's client secret, with any processor's prefix; a bearer token with its scheme; Stripe's
// keys and signing secrets, even right after other letters.
const SEEMS_SECRET =
  /\b\w+_secret_\w+|\bBearer\s+[\w.~+/=-]+|\b(?:sk|rk)_\w{6,}|(?:sk|rk)_(?:test|live)_\w{6,}|whsec_\w{6,}/gi;

/** Makes a text safe to show. `secrets`: the values to remove; an empty string removes nothing. */
export function safeText(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) if (secret !== '') shown = shown.split(secret).join('[secret]');
  shown = shown.slice(0, MAX_TEXT * 10); // shorten after the search: the search would miss a cut secret
  shown = shown.replace(SEEMS_SECRET, '[secret]').replace(UNSHOWABLE, ' ').trim();
  return shown.length > MAX_TEXT ? `${shown.slice(0, MAX_TEXT - 3)}...` : shown;
}

/** The request id from the MoR's header. Null: the header is absent, or its value is no plain short word. */
export function safeRequestId(value: string | null): string | null {
  return value !== null && /^[\w.:/+=-]{1,128}$/.test(value) ? value : null;
}
