// The options of the MoR's client, and the client made from them.
import { CONNECT_TIMEOUT_MS, HttpLine, type Line, listedCode, MorClient, SOCKET_LIMITS } from '@crossbill/mor';
import { NO_PROXIES, type Proxies, type Secret } from '../../shared/config/index.js';
import { type Clock } from '../../shared/domain/ports/clock.js';
import { type OnCall } from '../../shared/observe/index.js';
import { unsent } from '../../shared/domain/ports/call.js';
import { WayOut } from '../../shared/config/way-out.js';

/** One pair of client credentials (Documents 1 and 2, "Authentication"). */
export type MorCredentials = { readonly clientId: string; readonly clientSecret: Secret };

export type MorOptions = {
  /** The documents' `{base_url}`. */
  readonly baseUrl: string;
  /** The documents' `{auth_url}`. The client appends `/oauth2/token`. */
  readonly authUrl: string;
  /** The name of the processor in the paths of the routes (Document 3), and in `merchant_customer.<psp>_id`. */
  readonly psp: string;
  /** `send`: a setup intent includes the merchant's customer, as a payment intent does. */
  readonly setupCustomer: 'send' | 'omit';
  readonly merchant: MorCredentials;
  /** The partner's credentials. Null: onboarding (Document 1) is not available. */
  readonly partner: MorCredentials | null;
  /** The address for relayed events. Null: Crossbill relays no `invoice.created`. */
  readonly relay: { readonly url: string; readonly secret: Secret } | null;
  /** True: the client sends only reads. */
  readonly sendsNothing?: boolean;
  /** The longest time of one request with its reply, including a retry after a 401. Default: 10,000. */
  readonly timeoutMs?: number;
  readonly onCall?: OnCall;
  /** The proxies of this host. Absent: none. */
  readonly proxies?: Proxies;
  /** Sends the requests. Absent: real sockets. A simulation passes its own network. */
  readonly line?: Line;
};

/** The injection token of the application's `MorOptions`. */
export const MOR_OPTIONS = Symbol('MOR_OPTIONS');

const MAX_SOCKETS = 32;

/** Makes the connections, through the proxies of this host if it has any. */
export function lineOut(proxies: Proxies = NO_PROXIES, maxSockets = MAX_SOCKETS): HttpLine {
  return new HttpLine(
    new WayOut(proxies, { ...SOCKET_LIMITS, connections: maxSockets }, { timeout: CONNECT_TIMEOUT_MS }),
  );
}

/** Makes the client of the MoR's API, with metrics and the last check of what may leave. */
export function morClient(options: MorOptions, clock: Clock): MorClient {
  const { baseUrl, authUrl, psp, setupCustomer, merchant, partner, onCall, timeoutMs } = options;
  const credentials = ({ clientId, clientSecret }: MorCredentials) => ({
    clientId,
    clientSecret: () => clientSecret.reveal(),
  });
  return new MorClient({
    baseUrl,
    authUrl,
    psp,
    setupCustomer,
    merchant: credentials(merchant),
    partner: partner === null ? null : credentials(partner),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    line: options.line ?? lineOut(options.proxies),
    clock,
    // The last check: even after a wrong decision, shadow mode changes nothing.
    gate: (_call, wire) => (options.sendsNothing === true && wire.method !== 'GET' ? unsent() : null),
    onRequest: ({ call, code, ...report }) =>
      onCall?.({ peer: 'mor', name: call, code: code === null ? null : listedCode(code), ...report }),
  });
}
