// The signature in all webhooks of Stripe and the MoR: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "{t}.{raw body}">`.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The header value for one attempt. `atSec` is Unix seconds. */
export function signatureHeader(body: Buffer, secret: string, atSec: number): string {
  return `t=${atSec},v1=${mac(body, secret, String(atSec)).toString('hex')}`;
}

/** True if the header fits the body, and the time in the header is within `toleranceSec` of `nowSec`. */
export function signatureFits(
  body: Buffer,
  header: string,
  secret: string,
  nowSec: number,
  toleranceSec = 300,
): boolean {
  const parts = header.split(',').map((part) => part.split('='));
  const t = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d{1,12}$/.test(t) || Math.abs(nowSec - Number(t)) > toleranceSec) return false;
  const expected = mac(body, secret, t);
  return parts.some(([name, value]) => {
    if (name !== 'v1' || value === undefined || !/^[0-9a-f]{64}$/.test(value)) return false;
    return timingSafeEqual(Buffer.from(value, 'hex'), expected);
  });
}

function mac(body: Buffer, secret: string, text: string): Buffer {
  return createHmac('sha256', secret).update(`${text}.`).update(body).digest();
}
