// Signature headers as Stripe and the MoR make them, written apart from the checking code.
import { createHmac } from 'node:crypto';

/** The lower-case hex HMAC-SHA256 over `{t}.{body}`. */
export function mac(body: Buffer | string, secret: string, t: number | string): string {
  return createHmac('sha256', secret)
    .update(Buffer.concat([Buffer.from(`${t}.`), Buffer.from(body)]))
    .digest('hex');
}

/**
 * A header value `t=…,v1=…`. `t`: Unix seconds, the time now if absent. `secret` may be several: one `v1` each, as
 * during a rotation.
 */
export function sign(
  body: Buffer | string,
  secret: string | readonly string[],
  { t = Math.floor(Date.now() / 1_000) }: { readonly t?: number | string } = {},
): string {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  return [`t=${t}`, ...secrets.map((one) => `v1=${mac(body, one, t)}`)].join(',');
}
