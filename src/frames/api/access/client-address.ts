// The client's address, behind a trusted proxy or without one.
import { type Request } from 'express';
import { isIP } from 'node:net';

/**
 * Returns the client's address. Without a trusted proxy (TRUSTED_PROXIES) this is the socket's address. Behind a
 * trusted proxy it is the last address in X-Forwarded-For outside the trusted proxies, or the socket's address if that
 * entry is invalid.
 */
export function addressOf(req: Request): string {
  const peer = req.socket.remoteAddress ?? 'unknown';
  const address = req.ip !== undefined && isIP(req.ip) !== 0 ? req.ip : peer;
  return address.replace(/^::ffff:(?=\d+\.)/i, ''); // a socket for both versions writes IPv4 like this
}

/**
 * Takes the ports off the addresses in X-Forwarded-For, and the signs around them. Some load balancers write both, and
 * Express believes a bare address only.
 */
export function takePortsOff(req: Request): void {
  const header = req.headers['x-forwarded-for'];
  if (typeof header === 'string') req.headers['x-forwarded-for'] = header.split(',').map(bareAddress).join(', ');
}

function bareAddress(entry: string): string {
  const text = entry.trim().replace(/^"(.*)"$/, '$1');
  const [, v6, v4] = /^(?:\[([^\]]*)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/.exec(text) ?? [];
  return v6 ?? v4 ?? text;
}
