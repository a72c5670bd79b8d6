// The settings of signing in to the console at the company's own identity provider.
import { isFQDN } from 'class-validator';
import { isLoopbackHost } from './addresses.js';
import {
  API_ROLES,
  type ApiRole,
  httpUrl,
  IN_QUOTES,
  isQuoted,
  matching,
  type Parsed,
  type Parser,
  secret,
} from './parsers.js';
import { optional, optionalList } from './setting.js';

/** Whoever is in this group has this role. */
export type GroupRole = { readonly group: string; readonly role: ApiRole };

const bad = (problem: string): Parsed<never> => ({ ok: false, problem });
const url = httpUrl('endpoint');

/** Kept as it is written, slash at the end and all: it is compared with what the provider calls itself. */
const issuer: Parser<string> = (text) => {
  const parsed = url(text);
  if (!parsed.ok) return parsed;
  const { protocol, search, hostname } = new URL(parsed.value);
  if (search !== '') return bad('must have no query');
  if (protocol === 'http:' && !isLoopbackHost(hostname)) {
    return bad('must be https: plain http is for a provider on this very machine (localhost, 127.0.0.1)');
  }
  return parsed;
};

/** Where people's browsers reach the console. In clear a session would cross the network: only on this very machine. */
const consoleOrigin: Parser<string> = (text) => {
  const parsed = httpUrl('origin')(text);
  if (!parsed.ok) return parsed;
  const { protocol, hostname, search } = new URL(parsed.value);
  if (search !== '') return bad('must have no query');
  if (protocol === 'http:' && !isLoopbackHost(hostname)) {
    return bad('must be https: plain http is for this very machine (localhost, 127.0.0.1)');
  }
  return parsed;
};

/** `group=role`. A group may have "=" in its name; a "," it may not. */
const groupRoles: Parser<readonly GroupRole[]> = (text) => {
  const roles: GroupRole[] = [];
  for (const [index, item] of text.split(',').entries()) {
    const say = (problem: string): Parsed<never> => bad(`entry ${index + 1} ${problem}`);
    const at = item.lastIndexOf('=');
    const group = item.slice(0, Math.max(0, at)).trim();
    const role = API_ROLES.find((known) => known === item.slice(at + 1).trim());
    if (group === '') return say('must have the form group=role');
    if (isQuoted(group)) return say(`has a group that ${IN_QUOTES}`);
    if (group.length > 128) return say('has a group of more than 128 characters');
    if (role === undefined) return say(`needs a role: ${API_ROLES.join(', ')}`);
    if (roles.some((r) => r.group === group)) return say('has a group that was named before');
    roles.push({ group, role });
  }
  return { ok: true, value: roles };
};

const domain: Parser<string> = (text) =>
  isFQDN(text, { require_tld: false })
    ? { ok: true, value: text.toLowerCase() }
    : bad('must be a domain such as example.com');

export const signIn = {
  oidcIssuer: optional(
    {
      name: 'OIDC_ISSUER',
      type: 'https URL, or http on this machine',
      example: 'https://login.example.com/realms/staff',
      description:
        'The identity provider (OpenID Connect) at which people sign in to the console; API keys keep working. Its redirect URI is CONSOLE_URL with the path /console/sso/callback. Left out: API keys only.',
    },
    issuer,
  ),
  oidcClientId: optional(
    {
      name: 'OIDC_CLIENT_ID',
      type: 'text',
      example: 'crossbill',
      description: 'The client that was registered for the console at the identity provider.',
    },
    matching(/^[\x21-\x7e]{1,255}$/, '1 to 255 characters without blanks'),
  ),
  oidcClientSecret: optional(
    {
      name: 'OIDC_CLIENT_SECRET',
      type: 'secret',
      secret: true,
      emptyIsUnset: true,
      example: '<client secret>',
      description: 'Its secret. Changing it ends the sessions that began at the identity provider.',
    },
    secret(),
  ),
  oidcRoles: optionalList(
    {
      name: 'OIDC_ROLES',
      type: 'group=role, comma-separated',
      example: 'finance=read, billing-ops=ops',
      description:
        "Which of the provider's groups (the claim groups) have which role: read, signup or ops. The highest one counts; whoever is in none of them is not let in.",
    },
    groupRoles,
  ),
  oidcEmailDomain: optional(
    {
      name: 'OIDC_EMAIL_DOMAIN',
      type: 'domain',
      example: 'example.com',
      description: 'Only people with a verified e-mail address of this domain are let in. Left out: of any domain.',
    },
    domain,
  ),
  consoleUrl: optional(
    {
      name: 'CONSOLE_URL',
      type: 'https URL, or http on this machine',
      example: 'https://billing.example.com',
      description:
        'Scheme, host and port at which browsers reach the console. The identity provider sends people back there: it is never taken from what a request says of its host. Needed with OIDC_ISSUER in production; elsewhere left out it is http://127.0.0.1 with the port on which the daemon listens.',
    },
    consoleOrigin,
  ),
};
