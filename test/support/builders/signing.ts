// Signature headers in the format of Stripe and the MoR, independent of the code that checks them.
import { createHmac } from 'node:crypto';

/** The HMAC-SHA256 over `{t}.{body}` in lower-case hex. */
export function mac(body: Buffer | string, secret: string, text: number | string): string {
  return createHmac('sha256', secret)
    .update(Buffer.concat([Buffer.from(`${text}.`), Buffer.from(body)]))
    .digest('hex');
}

/**
 * A header value `t=…,v1=…`. `t` is in Unix seconds; left out: now. Several secrets give one `v1` each, as during a
 * rotation.
 */
export function sign(
  body: Buffer | string,
  secret: string | readonly string[],
  { t = Math.floor(Date.now() / 1_000) }: { readonly t?: number | string } = {},
): string {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  return [`t=${t}`, ...secrets.map((one) => `v1=${mac(body, one, t)}`)].join(',');
}
