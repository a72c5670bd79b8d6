// The caller: one of the API keys of the settings, and its address.
import { isIP } from 'node:net';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { type Request } from 'express';
import { API_ROLES, type ApiRole } from '../../config/index.js';

export type Caller = { readonly name: string; readonly role: ApiRole };

const callers = new WeakMap<Request, Caller>();

export function setCaller(req: Request, caller: Caller): void {
  callers.set(req, caller);
}

/** Null before somebody is let in. */
export function callerOf(req: Request): Caller | null {
  return callers.get(req) ?? null;
}

/** Each role includes the one before. */
export function mayDo(has: ApiRole, needs: ApiRole): boolean {
  return API_ROLES.indexOf(has) >= API_ROLES.indexOf(needs);
}

/**
 * The client's address: the socket's, or behind TRUSTED_PROXIES the last one in X-Forwarded-For outside their list. If
 * the entry there is no address, a trusted proxy passed it on unread: then only the proxy is known.
 */
export function addressOf(req: Request): string {
  const peer = req.socket.remoteAddress ?? 'unknown';
  return req.ip !== undefined && isIP(req.ip) !== 0 ? req.ip : peer;
}

/** `@CurrentCaller() caller: Caller` in a route with a role. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const caller = callerOf(context.switchToHttp().getRequest<Request>());
  if (caller === null) throw new Error('a route without a role asks for its caller');
  return caller;
});
