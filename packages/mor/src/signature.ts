// The sender's proof: Stripe and the MoR put the signature `t=…,v1=…` on their deliveries; this checks it over the
// received bytes.
import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';

/**
 * - `malformed`: the header is none of the scheme's.
 * - `mismatch`: no secret makes any of its MACs over this body.
 * - `stale`: a MAC is right, and `t` is outside the tolerance on either side.
 * - `ok`: a MAC is right and `t` is near.
 */
export type SignatureVerdict = 'malformed' | 'mismatch' | 'stale' | 'ok';

export type SignatureHeader = {
  /** As in the header: the signature covers this text. */
  readonly timestamp: string;
  /** Unix seconds. */
  readonly seconds: number;
  /** The `v1` entries, at least one. One of another length than 32 bytes matches no secret. */
  readonly macs: readonly Buffer[];
};

const MAX_HEADER_LENGTH = 4_096;
const MAX_MACS = 16; // one per secret while secrets roll; more only costs us time
const MAC_BYTES = 32;

/**
 * Reads a header `t=<Unix seconds>,v1=<hex>[,v1=<hex>]…`, with at most one blank after a comma; skips entries of other
 * schemes (`v0`). Null: `t` is missing, double or not plain digits; `v1` is missing, too frequent or not hex (two digits a
 * byte); the header has another blank or control character, or is too long. A proxy joins two headers by a comma and a
 * blank: such a header has `t` twice.
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

/** Checks the signatures of one endpoint. Holds its secrets and shows them to nobody. */
export class SignatureCheck {
  readonly #keys: readonly KeyObject[];
  readonly #toleranceSec: number;

  /**
   * Any one of the secrets may match (rotation). Throws for no secrets or a blank one: anybody can sign with a blank
   * secret.
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

  /** The verdict on a header as text; see `checkParsed`. */
  check(header: string, body: Buffer, now: Date): SignatureVerdict {
    const parsed = parseSignatureHeader(header);
    return parsed === null ? 'malformed' : this.checkParsed(parsed, body, now);
  }

  /**
   * Tries every secret against every MAC, whatever matched before: the time taken never gives the matching one away.
   * Exactly at the tolerance is still near (Documents 2 and 3 refuse more than five minutes).
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
