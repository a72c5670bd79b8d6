// The caller: the owner of an API key from the settings, and the client's address.
import { isIP } from 'node:net';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { type Request } from 'express';
import { API_ROLES, type ApiRole } from '../../../shared/config/index.js';

export type Caller = { readonly name: string; readonly role: ApiRole };

const callers = new WeakMap<Request, Caller>();

export function setCaller(req: Request, caller: Caller): void {
  callers.set(req, caller);
}

/** The caller of a request. Null before the guard has let the caller in. */
export function callerOf(req: Request): Caller | null {
  return callers.get(req) ?? null;
}

/** True if the role is enough. Each role of API_ROLES includes the roles before it in that list. */
export function mayDo(has: ApiRole, needs: ApiRole): boolean {
  return API_ROLES.indexOf(has) >= API_ROLES.indexOf(needs);
}

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

/** Injects the caller into a route with a role: `@CurrentCaller() caller: Caller`. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const caller = callerOf(context.switchToHttp().getRequest<Request>());
  if (caller === null) throw new Error('a route without a role asks for its caller');
  return caller;
});
