// The client of the MoR in front of the sandbox, over real HTTP.
import { type MorTransport } from '@crossbill/mor';
import { Secret } from '../../src/shared/config/secret.js';
import { morClient } from '../../src/frames/mor/options.js';
import { type Sandbox, startSandbox } from '@crossbill/sandbox/sandbox.js';
import { type CallFailure, type CallOutcome } from '../../src/shared/domain/ports/call.js';
import { FixedClock } from '../unit/mor-peer.js';

export type MorRig = {
  readonly sandbox: Sandbox;
  readonly transport: MorTransport;
  readonly clock: FixedClock;
  control(path: string, body?: object, method?: string): Promise<unknown>;
  close(): Promise<void>;
};

export async function aMorRig(timeoutMs = 10_000): Promise<MorRig> {
  const sandbox = await startSandbox({ seed: 'contract' });
  const clock = new FixedClock();
  const credentials = ({ clientId, clientSecret }: { clientId: string; clientSecret: string }) => ({
    clientId,
    clientSecret: new Secret(clientSecret),
  });
  const client = morClient(
    {
      baseUrl: sandbox.morUrl,
      authUrl: sandbox.morUrl,
      psp: 'cardpsp',
      setupCustomer: 'send',
      merchant: credentials(sandbox.secrets.merchant),
      partner: credentials(sandbox.secrets.partner),
      relay: null,
      timeoutMs,
    },
    clock,
  );
  return {
    sandbox,
    transport: client.transport,
    clock,
    async control(path, body = {}, method = 'POST') {
      const reply = await fetch(`${sandbox.morUrl}/_sandbox${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
      });
      const text = await reply.text();
      if (!reply.ok) throw new Error(`${path}: ${reply.status} ${text}`);
      return text === '' ? null : (JSON.parse(text) as unknown);
    },
    async close() {
      await client.close();
      await sandbox.close();
    },
  };
}

export function valueOf<T>(outcome: CallOutcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new Error(`${outcome.kind}: ${outcome.message} ${JSON.stringify(outcome.errors)}`);
}

export function failureOf(outcome: CallOutcome<unknown>): CallFailure {
  if (outcome.ok) throw new Error('expected a failure');
  return outcome;
}
