// Runs before every merchant route of Document 2: checks the token, then the body, then calls the handler.
import { type Reply, type SandboxRequest } from '../kernel/http.js';
import { type Kernel } from '../kernel/kernel.js';
import { isUuid } from './countries.js';
import { refuse } from './refusal.js';
import { type Account, type MorState } from './state.js';

export type Call = { readonly request: SandboxRequest; readonly account: Account; readonly body: unknown };

export type MerchantRoute = (method: string, path: string, handler: (call: Call) => Reply, malformed?: string) => void;

/** True if the body is no JSON, or came with curl's default type for `-d`: Document 2 asks for `application/json`. */
export function isUnreadable({ bodyBroken, raw, headers }: SandboxRequest): boolean {
  const form = (headers['content-type'] ?? '').toLowerCase().startsWith('application/x-www-form-urlencoded');
  return bodyBroken || (form && raw.length > 0);
}

/** Returns a function that adds merchant routes. `malformed` is the code for an unreadable body (400, field `body`). */
export function merchantRoutes(kernel: Kernel, mor: MorState): MerchantRoute {
  return (method, path, handler, malformed = 'invalid_argument') => {
    kernel.mor.add(method, path, (request) => {
      const account = mor.requireMerchant(request);
      if (isUnreadable(request)) throw refuse(400, malformed, 'body', 'must be JSON, sent as application/json');
      return handler({ request, account, body: request.body });
    });
  };
}

/** The path parameter. Throws 400 `invalid_argument` if it is no uuid (Document 2). */
export function uuidParam(request: SandboxRequest, name: string): string {
  const value = request.params[name] ?? '';
  if (!isUuid(value)) throw refuse(400, 'invalid_argument', name, 'must be a uuid');
  return value.toLowerCase();
}
