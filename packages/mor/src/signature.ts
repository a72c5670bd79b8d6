// Checks signatures of deliveries. Stripe and the MoR sign with `t=…,v1=…`, and the check runs over the received bytes.
import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';

/**
 * - `malformed`: the header does not follow the scheme.
 * - `mismatch`: no secret gives any of the header's MACs for this body.
 * - `stale`: a MAC is right, but `t` is outside the tolerance, before or after.
 * - `ok`: a MAC is right, and `t` is within the tolerance.
 */
export type SignatureState = 'malformed' | 'mismatch' | 'stale' | 'ok';

export type SignatureHeader = {
  /** The text from the header, unchanged: the signature covers this text. */
  readonly timestamp: string;
  /** Unix seconds. */
  readonly seconds: number;
  /** The `v1` entries, at least one. An entry with another length than 32 bytes matches no secret. */
  readonly macs: readonly Buffer[];
};

const MAX_HEADER_LENGTH = 4_096;
const MAX_MACS = 16; // one for each secret during a rotation; more would only cost time
const MAC_BYTES = 32;

/**
 * Reads a header `t=<Unix seconds>,v1=<hex>[,v1=<hex>]…`, with at most one blank after a comma. Skips entries of other
 * schemes (`v0`). Returns null in these cases: `t` is missing, repeated or not plain digits; `v1` is missing, too
 * frequent or not hex (two digits a byte); the header is too long, or has a blank elsewhere or a control character. A
 * proxy joins two headers with a comma and a blank: such a header has `t` twice.
 */
export function parseSignatureHeader(header: string): SignatureHeader | null {
  if (header.length > MAX_HEADER_LENGTH || /[^\x20-\x7e]/.test(header)) return null;
  let timestamp: string | null = null;
  const macs: Buffer[] = [];
  for (const [at, text] of header.split(',').entries()) {
    const entry = at > 0 && text.startsWith(' ') ? text.slice(1) : text;
    const equals = entry.indexOf('=');
    if (equals < 1 || entry.includes(' ')) return null;
    const scheme = entry.slice(0, equals);
    const value = entry.slice(equals + 1);
    if (scheme === 't') {
      if (timestamp !== null || !/^[0-9]+$/.test(value)) return null;
      timestamp = value;
    } else if (scheme === 'v1') {
      if (macs.length === MAX_MACS || !/^(?:[0-9a-f]{2})+$/i.test(value)) return null;
      macs.push(Buffer.from(value, 'hex'));
    }
  }
  if (timestamp === null || macs.length === 0) return null;
  return { timestamp, seconds: Number(timestamp), macs };
}

/** Checks the signatures of one endpoint. It keeps the secrets and shows them to nobody. */
export class SignatureCheck {
  readonly #keys: readonly KeyObject[];
  readonly #toleranceSec: number;

  /**
   * Any of the secrets may match (rotation). Throws if there are no secrets or a blank one: anybody can sign with a
   * blank secret.
   */
  constructor(secrets: readonly string[], toleranceSec: number) {
    if (secrets.length === 0 || secrets.some((secret) => secret.trim() === '')) {
      throw new Error('a webhook endpoint needs at least one signing secret, and none may be blank');
    }
    if (!Number.isSafeInteger(toleranceSec) || toleranceSec < 1) {
      throw new Error('the signature tolerance must be a whole number of seconds, at least 1');
    }
    this.#keys = secrets.map((secret) => createSecretKey(Buffer.from(secret, 'utf8')));
    this.#toleranceSec = toleranceSec;
  }

  /** The verdict on a header given as text. See `checkParsed`. */
  check(header: string, body: Buffer, now: Date): SignatureState {
    const parsed = parseSignatureHeader(header);
    return parsed === null ? 'malformed' : this.checkParsed(parsed, body, now);
  }

  /**
   * Tries every secret with every MAC, even after a match: the duration must not reveal the matching secret. Accepts a
   * timestamp exactly at the tolerance (Documents 2 and 3 refuse more than five minutes).
   */
  checkParsed(header: SignatureHeader, body: Buffer, now: Date): Exclude<SignatureState, 'malformed'> {
    let matches = 0;
    for (const key of this.#keys) {
      const expected = createHmac('sha256', key).update(`${header.timestamp}.`).update(body).digest();
      for (const mac of header.macs) {
        if (mac.length === MAC_BYTES) matches |= Number(timingSafeEqual(expected, mac));
      }
    }
    if (matches === 0) return 'mismatch';
    const ageSec = Math.floor(now.getTime() / 1_000) - header.seconds;
    return Math.abs(ageSec) <= this.#toleranceSec ? 'ok' : 'stale';
  }
}
