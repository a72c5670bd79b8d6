// Who sent this? The `t=…,v1=…` signature that Stripe and the MoR put on their deliveries, checked over the bytes as they came.
import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';

/**
 * - `malformed`: the header is none of the scheme's.
 * - `mismatch`: no secret makes any of its MACs over this body.
 * - `stale`: a MAC is right, and `t` is outside the tolerance on either side.
 * - `ok`: a MAC is right and `t` is near.
 */
export type SignatureVerdict = 'malformed' | 'mismatch' | 'stale' | 'ok';

export type SignatureHeader = {
  /** As it stands in the header: this text is what was signed. */
  readonly timestamp: string;
  /** Unix seconds. */
  readonly seconds: number;
  /** The `v1` entries, 32 bytes each, at least one. */
  readonly macs: readonly Buffer[];
};

const MAX_HEADER_LENGTH = 4_096;
const MAX_MACS = 16; // one per secret while secrets roll; more only costs us time
const MAC_BYTES = 32;

/**
 * Reads a header `t=<Unix seconds>,v1=<hex>[,v1=<hex>]…`; entries of other schemes (`v0`) are passed over. Null for anything else:
 * `t` missing, twice or not plain digits, a `v1` that is not 64 hex digits, no `v1`, too many, a blank
 * or control character anywhere, or too long.
 */
export function parseSignatureHeader(header: string): SignatureHeader | null {
  // A blank is how a proxy joins two headers into one: their entries must not be mixed.
  if (header.length > MAX_HEADER_LENGTH || /[^\x21-\x7e]/.test(header)) return null;
  let timestamp: string | null = null;
  const macs: Buffer[] = [];
  for (const entry of header.split(',')) {
    const equals = entry.indexOf('=');
    if (equals < 1) return null;
    const scheme = entry.slice(0, equals);
    const value = entry.slice(equals + 1);
    if (scheme === 't') {
      // 15 digits are exact as a number. A leading zero would give one moment two spellings.
      if (timestamp !== null || !/^(?:0|[1-9][0-9]{0,14})$/.test(value)) return null;
      timestamp = value;
    } else if (scheme === 'v1') {
      // Hex in either case is the same 32 bytes: an authentic delivery is not turned away for its spelling.
      if (macs.length === MAX_MACS || !/^[0-9a-f]{64}$/i.test(value)) return null;
      macs.push(Buffer.from(value, 'hex'));
    }
  }
  if (timestamp === null || macs.length === 0) return null;
  return { timestamp, seconds: Number(timestamp), macs };
}

/** Checks the signatures of one door. Holds the door's secrets and shows them to nobody. */
export class SignatureCheck {
  readonly #keys: readonly KeyObject[];
  readonly #toleranceSec: number;

  /**
   * Any one of the secrets may match (rotation). Throws when there is none or one is blank: a blank secret is one that anybody can
   * sign with.
   */
  constructor(secrets: readonly string[], toleranceSec: number) {
    if (secrets.length === 0 || secrets.some((secret) => secret.trim() === '')) {
      throw new Error('a webhook door needs at least one signing secret, and none may be blank');
    }
    if (!Number.isSafeInteger(toleranceSec) || toleranceSec < 1) {
      throw new Error('the signature tolerance must be a whole number of seconds, at least 1');
    }
    this.#keys = secrets.map((secret) => createSecretKey(Buffer.from(secret, 'utf8')));
    this.#toleranceSec = toleranceSec;
  }

  /** The verdict on a header as text; see `checkParsed`. */
  check(header: string, body: Buffer, now: Date): SignatureVerdict {
    const parsed = parseSignatureHeader(header);
    return parsed === null ? 'malformed' : this.checkParsed(parsed, body, now);
  }

  /**
   * Every secret is tried against every MAC, whatever matched before, so that the time taken says nothing about which one did.
   * Exactly at the tolerance is still near (Documents 2 and 3: older than five minutes is refused).
   */
  checkParsed(header: SignatureHeader, body: Buffer, now: Date): Exclude<SignatureVerdict, 'malformed'> {
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
