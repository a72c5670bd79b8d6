// Kinds of IP addresses: of this machine, of private networks, and forbidden ones.
import { BlockList, isIP, isIPv6 } from 'node:net';

type Range = readonly [address: string, bits: number];

function listOf(ranges: readonly Range[]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of ranges) list.addSubnet(address, bits, isIPv6(address) ? 'ipv6' : 'ipv4');
  return list;
}

const PRIVATE = listOf([
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['::1', 128],
  ['fc00::', 7],
]);

const LOOPBACK = listOf([
  ['127.0.0.0', 8],
  ['::1', 128],
]);

// Forbidden addresses. In the first five ranges a cloud gives out the machine's own credentials: the link-local ranges,
// and single addresses of EC2 (AWS, "Use IMDS"), Alibaba (ECS, "instance metadata") and Oracle. The remaining ranges
// (unspecified, multicast, reserved) name no single machine.
const NEVER = listOf([
  ['169.254.0.0', 16],
  ['fe80::', 10],
  ['fd00:ec2::254', 128],
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['0.0.0.0', 8],
  ['::', 128],
  ['224.0.0.0', 3],
  ['ff00::', 8],
]);

const within = (list: BlockList, address: string): boolean => {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4');
};

/** True for an address of this machine or of a private network (RFC 1918, RFC 4193). */
export const isPrivateAddress = (address: string): boolean => within(PRIVATE, address);

/** True for a link-local, metadata, unspecified or multicast address. */
export const isForbiddenAddress = (address: string): boolean => within(NEVER, address);

/** True if the host of a URL is this machine. */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase();
  return host === 'localhost' || host.endsWith('.localhost') || within(LOOPBACK, host);
}
