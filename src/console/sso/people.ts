// Who of the people whom the identity provider knows may come in, and as what.
import { API_ROLES, type ApiRole, type GroupRole } from '../../config/index.js';
import { isObject } from '@crossbill/mor/read.js';

/** What the provider says of somebody, as far as it counts here. */
export type Person = {
  /** In lower case; null: not said, or no address. It is the name in the audit trail, so it counts only when it is verified. */
  readonly email: string | null;
  readonly verified: boolean;
  readonly groups: readonly string[];
};

/** From the claims of OpenID Connect Core 5.1, and `groups`, which providers agree on without a standard: one text or a list. */
export function personOf(claims: unknown): Person {
  if (!isObject(claims)) return { email: null, verified: false, groups: [] };
  const { email, email_verified: verified, groups } = claims;
  const list: readonly unknown[] = Array.isArray(groups) ? groups : [groups];
  const address = typeof email === 'string' ? email.toLowerCase() : '';
  return {
    email: address.length <= 255 && /^[^\s@\p{C}]{1,64}@[^\s@\p{C}]+$/u.test(address) ? address : null,
    verified: verified === true || verified === 'true', // some providers write the word as a text
    groups: list.filter((g) => typeof g === 'string'),
  };
}

/** The domain itself, not those below it. Null: any will do. */
export function isOfDomain(email: string, domain: string | null): boolean {
  return domain === null || email.slice(email.lastIndexOf('@') + 1) === domain;
}

/** Null: none of the groups has a role. */
export function highestRole(roles: readonly GroupRole[], groups: readonly string[]): ApiRole | null {
  const ranks = roles.filter((r) => groups.includes(r.group)).map((r) => API_ROLES.indexOf(r.role));
  return API_ROLES[Math.max(-1, ...ranks)] ?? null;
}
