// The setting of the reverse proxies that are believed.
import { addressRanges } from './parsers.js';
import { optionalList } from './setting.js';

export const trustedProxies = optionalList(
  {
    name: 'TRUSTED_PROXIES',
    type: 'IP addresses or ranges, comma-separated',
    example: '10.0.0.0/8, fd00::/8',
    description:
      'The reverse proxies in front of the daemon, whose X-Forwarded-For and X-Forwarded-Proto are believed: the client is the last address before them. It is who is slowed down at the console after wrong keys, and the source in the audit trail. Left out, that is whoever is connected.',
  },
  addressRanges,
);
