// Talks to the identity provider: its sign-in address, and its reply about the person. Uses OpenID Connect's
// authorization code flow with PKCE (RFC 7636). Crossbill asks only at a sign-in, so a dead provider does not stop the
// daemon's start.
import { Inject, Injectable } from '@nestjs/common';
import * as oidc from 'openid-client';
import {
  CONFIG,
  type Config,
  isLoopbackHost,
  NO_PROXIES,
  type Proxies,
  type Secret,
} from '../../../shared/config/index.js';
import { Clock } from '../../../shared/domain/ports/clock.js';
import { WayOut } from '../../../shared/config/way-out.js';
import { LOG, type Logger } from '../../../shared/observe/index.js';
import { type Person, personOf } from './people.js';
import { type SignIn } from './sso-cookie.js';

const TIMEOUT_SEC = 5;
/** Crossbill keeps the provider's discovery document (its addresses) for an hour, since it seldom changes. */
const KNOWN_FOR_MS = 3_600_000;

/** The error for a failed sign-in. The page shows its message. */
export class SignInFailed extends Error {
  readonly code = 'console.sign_in_failed';

  constructor(
    message: string,
    readonly status: 400 | 403 | 503,
  ) {
    super(message);
  }
}

type Registered = { readonly issuer: string; readonly clientId: string; readonly clientSecret: Secret };
type Known = { readonly provider: oidc.Configuration; readonly until: number };

@Injectable()
export class IdentityProvider {
  readonly #registered: Registered | null;
  readonly #proxies: Proxies;
  readonly #log: Logger;
  #known: Known | null = null;
  #asked: Promise<oidc.Configuration> | null = null;

  constructor(
    @Inject(CONFIG)
    config: Pick<Config, 'oidcIssuer' | 'oidcClientId' | 'oidcClientSecret'> & { readonly proxies?: Proxies },
    private readonly clock: Clock,
    @Inject(LOG) log: Logger,
  ) {
    this.#log = log;
    const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret } = config;
    const complete = issuer !== null && clientId !== null && clientSecret !== null;
    this.#proxies = config.proxies ?? NO_PROXIES;
    this.#registered = complete ? { issuer, clientId, clientSecret } : null;
  }

  /** The provider's host name, for people. Null: there is no provider. */
  get host(): string | null {
    return this.#registered === null ? null : new URL(this.#registered.issuer).host;
  }

  /** Makes the address of the provider's sign-in page. Rejects with SignInFailed. */
  async signInUrl({ state, nonce, verifier }: SignIn, redirectUri: string): Promise<URL> {
    return this.asking(async () => {
      const provider = await this.provider();
      // Some providers send groups only if asked; others refuse an unknown scope.
      const groups = provider.serverMetadata().scopes_supported?.includes('groups') === true;
      return oidc.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: groups ? 'openid email groups' : 'openid email',
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
    });
  }

  /**
   * Checks the provider's reply and returns the signed-in person. Rejects with SignInFailed.
   * @param reply the redirect URI with the provider's parameters
   */
  async personOf(reply: URL, { state, nonce, verifier }: SignIn): Promise<Person> {
    return this.asking(async () => {
      const provider = await this.provider();
      const tokens = await oidc.authorizationCodeGrant(provider, reply, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('no id token');
      const aheadSec = claims.iat - this.clock.now().getTime() / 1000;
      if (aheadSec > CLOCKS_MAY_DIFFER_SEC) throw new SignInFailed(CLOCKS, 400);
      // Some providers put these claims into the ID token; others return them only at the userinfo endpoint (OpenID
      // Connect Core 5.4).
      const whole = ['email', 'email_verified', 'groups'].every((name) => claims[name] !== undefined);
      if (whole || provider.serverMetadata().userinfo_endpoint === undefined) return personOf(claims);
      return personOf(claims, await oidc.fetchUserInfo(provider, tokens.access_token, claims.sub));
    });
  }

  private async provider(): Promise<oidc.Configuration> {
    if (this.#known !== null && this.clock.now().getTime() < this.#known.until) return this.#known.provider;
    this.#asked ??= this.discover().finally(() => (this.#asked = null));
    try {
      return await this.#asked;
    } catch (error) {
      this.#log.warn(
        { event: 'sso.unreachable', code: codeOf(error) },
        'the identity provider does not answer, or OIDC_ISSUER is wrong',
      );
      throw new SignInFailed(SILENT, 503);
    }
  }

  private async discover(): Promise<oidc.Configuration> {
    if (this.#registered === null) throw new Error('there is no identity provider');
    const { issuer, clientId, clientSecret } = this.#registered;
    const url = new URL(issuer);
    const provider = await oidc.discovery(url, clientId, undefined, authenticated(clientSecret), {
      timeout: TIMEOUT_SEC,
      ...this.#throughProxies(),
      execute: [
        oidc.enableNonRepudiationChecks, // also check the ID token's signature
        // Allows http for a provider on this machine only. The library marks the option as deprecated only to warn of
        // its use.
        ...(url.protocol === 'http:' && isLoopbackHost(url.hostname) ? [oidc.allowInsecureRequests] : []),
      ],
    });
    this.#known = { provider, until: this.clock.now().getTime() + KNOWN_FOR_MS };
    return provider;
  }

  /** Sends each request through the proxy for its host: the provider may use several hosts. */
  #throughProxies(): Pick<oidc.DiscoveryRequestOptions, typeof oidc.customFetch> {
    if (this.#proxies.http === null && this.#proxies.https === null) return {};
    const out = new WayOut(this.#proxies, {});
    return { [oidc.customFetch]: (url, options) => out.fetch(url, { ...options, body: options.body ?? null }) };
  }

  private async asking<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.failed(error);
    }
  }

  /** Logs only codes: the errors contain the provider's replies with tokens. */
  private failed(error: unknown): SignInFailed {
    if (error instanceof SignInFailed) return error;
    if (error instanceof oidc.AuthorizationResponseError) {
      const why = wordOf(error.error);
      return new SignInFailed(`The identity provider did not sign you in (${why}).`, 403);
    }
    if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant') return new SignInFailed(STALE, 400);
    if (error instanceof oidc.ResponseBodyError || error instanceof oidc.WWWAuthenticateChallengeError) {
      const why = error instanceof oidc.ResponseBodyError ? wordOf(error.error) : `HTTP ${error.status}`;
      this.#log.error({ event: 'sso.refused', why }, 'the identity provider refuses this console: check OIDC_CLIENT_…');
      return new SignInFailed(REFUSES_US, 503);
    }
    const code = codeOf(error);
    this.#log.warn({ event: 'sso.failed', code }, 'a sign-in at the identity provider failed');
    if (code === ANOTHER_TIME) return new SignInFailed(CLOCKS, 400);
    return NOT_OURS.has(code)
      ? new SignInFailed(
          'The answer of the identity provider does not belong to this sign-in. You are not signed in: begin again.',
          400,
        )
      : new SignInFailed(SILENT, 503);
  }
}

const REFUSES_US =
  'The identity provider does not accept this console: its client id, secret or redirect address is wrong. Sign in with an API key.';
const SILENT = 'The identity provider does not answer: sign in with an API key.';
export const STALE = 'This sign-in was used already, took too long, or began in another window. Begin again.';

const CLOCKS =
  "The clocks of the identity provider and of Crossbill's machine differ, so you are not signed in. Set both clocks right, then sign in again.";
/**
 * The greatest accepted difference between our clock and the provider's, in seconds. openid-client uses it for `nbf`
 * and `exp`, and does not check `iat`.
 */
const CLOCKS_MAY_DIFFER_SEC = 30;
/** openid-client's error code if `nbf` is in the future, or `exp` in the past. */
const ANOTHER_TIME = 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED';

/** openid-client's codes for a wrong claim (nonce, audience, issuer) or signature. */
const NOT_OURS: ReadonlySet<string> = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
]);

/** The code of openid-client's error or, without such a code, of an error among its causes, such as `ECONNREFUSED`. */
function codeOf(error: unknown): string {
  for (let at = error; typeof at === 'object' && at !== null; at = 'cause' in at ? at.cause : null) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return error instanceof Error ? error.name : 'unknown';
}

/**
 * The text of an OAuth error code. Anybody can put a code into an address, so the page repeats only plausible codes.
 */
const wordOf = (code: string): string => (/^[a-z_]{1,40}$/.test(code) ? code : 'unknown error');

/** Sends the client secret in the header, or in the form if the provider asks for it (OpenID Connect Discovery 3). */
function authenticated(secret: Secret): oidc.ClientAuth {
  return (provider, ...rest) => {
    const methods = provider.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const by = methods.includes('client_secret_basic') ? oidc.ClientSecretBasic : oidc.ClientSecretPost;
    by(secret.reveal())(provider, ...rest);
  };
}
