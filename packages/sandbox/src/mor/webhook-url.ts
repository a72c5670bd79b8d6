// The addresses a webhook may have (Document 2: HTTPS, public). Resolves no host names.
import { BlockList, isIP } from 'node:net';

const PRIVATE = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  PRIVATE.addSubnet(network, bits, 'ipv4');
}
// In order: unspecified and loopback, unique local, link local, site local, multicast. The rules for IPv4 also cover
// mapped IPv4 (::ffff:a.b.c.d).
for (const [network, bits] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
  ['64:ff9b::', 96],
] as const) {
  PRIVATE.addSubnet(network, bits, 'ipv6');
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Returns why the address is not allowed; null: allowed. If `strict` is false, loopback addresses are allowed over http
 * and https, for a daemon on the same machine.
 */
export function webhookUrlProblem(text: string, strict: boolean): string | null {
  if (!URL.canParse(text)) return 'is not a URL';
  const url = new URL(text);
  const host = url.hostname.toLowerCase().replace(/\.$/, '');
  if (!strict && LOOPBACK.has(host) && (url.protocol === 'http:' || url.protocol === 'https:')) return null;
  if (url.protocol !== 'https:') return 'must be HTTPS';
  if (url.username !== '' || url.password !== '') return 'must not hold credentials';
  const address = host.replace(/^\[|\]$/g, '');
  const family = isIP(address);
  if (family !== 0) {
    return PRIVATE.check(address, family === 6 ? 'ipv6' : 'ipv4') ? 'must resolve to a public address' : null;
  }
  const inner = !host.includes('.') || /(^|\.)(localhost|local|internal|intranet|lan|home|corp)$/.test(host);
  return inner ? 'must resolve to a public address' : null;
}
