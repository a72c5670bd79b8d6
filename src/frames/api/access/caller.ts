// The caller of a request: the owner of an API key from the settings.
import { type ApiRole } from '../../../shared/config/index.js';
import { type Request } from 'express';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

export type Caller = { readonly name: string; readonly role: ApiRole };

const callers = new WeakMap<Request, Caller>();

export function setCaller(req: Request, caller: Caller): void {
  callers.set(req, caller);
}

/** The caller of a request. Null before the guard has let the caller in. */
export function callerOf(req: Request): Caller | null {
  return callers.get(req) ?? null;
}

/** Injects the caller into a route with a role: `@CurrentCaller() caller: Caller`. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const caller = callerOf(context.switchToHttp().getRequest<Request>());
  if (caller === null) throw new Error('a route without a role asks for its caller');
  return caller;
});
