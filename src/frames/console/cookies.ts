// Signed cookies of the console: reads them, and compares their signatures in constant time.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { type Request } from 'express';
import { type Secret } from '../../shared/config/index.js';
import { isObject, type JsonObject } from '@crossbill/mor/read.js';

/** Derives a key for one purpose from a secret in the settings. */
export function keyFrom(secret: Secret, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret.reveal(), '', purpose, 32));
}

export function mac(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** Compares two texts in constant time, so the time reveals nothing about a signature. */
export function same(one: string, other: string): boolean {
  const [x, y] = [Buffer.from(one), Buffer.from(other)];
  return x.length === y.length && timingSafeEqual(x, y);
}

export const bodyOfClaims = (claims: JsonObject): string => Buffer.from(JSON.stringify(claims)).toString('base64url');

/** Reads the claims from a cookie's body. Null if they are no JSON object. Does not check the signature. */
export function claimsOfBody(body: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

const pairsOf = (req: Request): readonly string[] => (req.headers.cookie ?? '').split(';').map((pair) => pair.trim());

/** The names of a request's cookies, in the browser's order. */
export const cookieNames = (req: Request): readonly string[] => pairsOf(req).map((pair) => pair.split('=', 1)[0] ?? '');

/**
 * Splits the cookie of this name into body and signature. Null if the cookie is missing, present twice, or in another
 * form.
 */
export function signedCookie(req: Request, name: string): { readonly body: string; readonly signature: string } | null {
  const found = pairsOf(req)
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  const [body, signature, more] = found.length === 1 ? (found[0]?.split('.') ?? []) : [];
  return body === undefined || signature === undefined || more !== undefined ? null : { body, signature };
}
