// The token endpoint of Document 2, "Authentication": takes client credentials in a form, returns a bearer token for a
// day.
import { type Reply, type SandboxRequest } from '../kernel/http.js';
import { isObject } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { type Account, type Credentials, type MorState, type TokenKind } from './state.js';

export function addTokens(kernel: Kernel, mor: MorState): void {
  kernel.mor.add('POST', '/oauth2/token', (request) => reply(mor, request));
  kernel.control('POST', '/_sandbox/tokens/revoke', 'every token that was given out is invalid from now on', () => {
    mor.revokeTokens();
    return { status: 200, body: { revoked: true } };
  });
}

function reply(mor: MorState, request: SandboxRequest): Reply {
  const isForm = (request.headers['content-type'] ?? '').toLowerCase().startsWith('application/x-www-form-urlencoded');
  const form = isForm && isObject(request.body) ? request.body : {};
  if (!isForm || form['grant_type'] === undefined) return { status: 400, body: { error: 'invalid_request' } };
  if (form['grant_type'] !== 'client_credentials') return { status: 400, body: { error: 'unsupported_grant_type' } };
  const known: readonly [Credentials, TokenKind, Account][] = [
    [mor.merchantCredentials, 'merchant', 'main'],
    [mor.partnerCredentials, 'partner', 'main'],
    [mor.otherMerchantCredentials, 'merchant', 'other'],
    [mor.otherPartnerCredentials, 'partner', 'other'],
  ];
  const found = known.find(([c]) => c.clientId === form['client_id'] && c.clientSecret === form['client_secret']);
  if (found === undefined) return { status: 401, body: { error: 'invalid_client' } };
  return { status: 200, body: mor.issueToken(found[1], found[2]), headers: { 'cache-control': 'no-store' } };
}
