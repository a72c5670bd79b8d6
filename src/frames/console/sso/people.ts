// Decides which people of the identity provider may use the console, and in which role.
import { API_ROLES, type ApiRole, type GroupRole } from '../../../shared/config/index.js';
import { isObject, type JsonObject } from '@crossbill/mor/read.js';

/** The provider's claims about a person, as far as Crossbill uses them. */
export type Person = {
  /**
   * The e-mail address in lower case. Null: missing, or no address. The audit trail names the person by the address, so
   * the provider must have verified it.
   */
  readonly email: string | null;
  readonly verified: boolean;
  readonly groups: readonly string[];
  /**
   * `elsewhere`: the person has more groups than the provider puts into its reply, so the reply has only a pointer to
   * them. `no`: the reply has neither.
   */
  readonly groupsSent: 'yes' | 'elsewhere' | 'no';
};

/**
 * Reads the claims of OpenID Connect Core 5.1, and `groups`. No standard defines `groups`: providers send a text or a
 * list. The address and its verification come from one source, because two sources may mean two addresses: from the ID
 * token if it has both, otherwise from the reply of the userinfo endpoint if that has an address.
 */
export function personOf(idToken: unknown, userinfo: unknown = null): Person {
  const token = isObject(idToken) ? idToken : {};
  const info = isObject(userinfo) ? userinfo : {};
  const isWhole = token['email'] !== undefined && token['email_verified'] !== undefined;
  const { email, email_verified: verified } = isWhole || info['email'] === undefined ? token : info;
  const groups = token['groups'] ?? info['groups'] ?? null;
  const list: readonly unknown[] = Array.isArray(groups) ? groups : [groups];
  const address = typeof email === 'string' ? email.toLowerCase() : '';
  return {
    email: address.length <= 255 && /^[^\s@\p{C}]{1,64}@[^\s@\p{C}]+$/u.test(address) ? address : null,
    verified: verified === true || verified === 'true', // some providers send text
    groups: list.filter((g) => typeof g === 'string'),
    groupsSent: groups !== null ? 'yes' : [token, info].some(pointsToGroups) ? 'elsewhere' : 'no',
  };
}

/**
 * True if the provider says where a person's groups are instead of sending them: as a distributed claim (OpenID Connect
 * Core 5.6.2), or as Entra's `hasgroups` (Microsoft, "Configure group claims", overage).
 */
function pointsToGroups({ _claim_names: elsewhere, hasgroups }: JsonObject): boolean {
  return (isObject(elsewhere) && elsewhere['groups'] !== undefined) || hasgroups === true || hasgroups === 'true';
}

/** True for an address of this domain, without its subdomains. A null domain accepts any. */
export function isOfDomain(email: string, domain: string | null): boolean {
  return domain === null || email.slice(email.lastIndexOf('@') + 1) === domain;
}

/** The highest role of these groups. Null if no group has a role. */
export function highestRole(roles: readonly GroupRole[], groups: readonly string[]): ApiRole | null {
  const ranks = roles.filter((r) => groups.includes(r.group)).map((r) => API_ROLES.indexOf(r.role));
  return API_ROLES[Math.max(-1, ...ranks)] ?? null;
}
