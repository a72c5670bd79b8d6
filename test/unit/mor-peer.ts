// The daemon's client of the MoR in front of the package's small real server.
import { type MorTransport } from '@crossbill/mor';
import { FixedClock as StandingClock, Peer } from '../../packages/mor/test/peer.js';
import { Secret } from '../../src/shared/config/secret.js';
import { Clock } from '../../src/shared/domain/ports/clock.js';
import { morClient, type MorOptions } from '../../src/frames/mor/options.js';
import { type CallReport } from '../../src/shared/observe/index.js';

export { json } from '../../packages/mor/test/peer.js';

export class FixedClock extends Clock {
  readonly #clock = new StandingClock();
  now(): Date {
    return this.#clock.now();
  }
  sleep(): Promise<void> {
    return Promise.resolve();
  }
}

export function optionsOf(peer: Peer, more: Partial<MorOptions> = {}): MorOptions {
  const { baseUrl, authUrl } = peer.options();
  return {
    baseUrl,
    authUrl,
    psp: 'cardpsp',
    setupCustomer: 'send',
    merchant: { clientId: 'merchant-1', clientSecret: new Secret('canary-client-secret') },
    partner: { clientId: 'partner-1', clientSecret: new Secret('canary-partner-secret') },
    relay: null,
    ...more,
  };
}

export type Rig = {
  peer: Peer;
  options: MorOptions;
  transport: MorTransport;
  clock: FixedClock;
  reports: CallReport[];
  close: () => Promise<void>;
};

/** A peer with a client of it; `close` ends both. */
export async function aRig(more: Partial<MorOptions> = {}): Promise<Rig> {
  const peer = await new Peer().start();
  const clock = new FixedClock();
  const reports: CallReport[] = [];
  const options = optionsOf(peer, { onCall: (one) => reports.push(one), ...more });
  const client = morClient(options, clock);
  const close = async (): Promise<void> => {
    await client.close();
    await peer.stop();
  };
  return { peer, options, transport: client.transport, clock, reports, close };
}
