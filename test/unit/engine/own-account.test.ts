// An event that names an account, against the account of the key.
import { expect, it } from '@jest/globals';
import { type BillingAccountFacts, type BillingReader } from '../../../src/shared/domain/ports/billing-reader.js';
import { type CallOutcome } from '../../../src/shared/domain/ports/call.js';
import { OwnAccount } from '../../../src/engine/own-account.js';
import { ManualClock } from '../../support/fakes/clock.js';
import { LaneHarness, MemoryLaneRepository } from '../../support/rigs/lane-harness.js';
import { reported } from '../../support/builders/reported.js';

const OWN = 'acct_own';

function world(...replies: (number | 'account')[]) {
  const clock = new ManualClock();
  let reads = 0;
  const readAccount = (): Promise<CallOutcome<BillingAccountFacts>> => {
    const reply = replies[Math.min(reads++, replies.length - 1)] ?? 'account';
    const base = { requestId: null };
    if (reply === 'account')
      return Promise.resolve({ ok: true, value: { accountId: OWN, country: null }, status: 200, ...base });
    const failure = { code: null, message: 'no', errors: [], retryAfterMs: null, replayed: false, ...base };
    const kind = reply === 403 ? 'stopped' : 'unknown';
    return Promise.resolve({ ok: false, kind, status: reply, ...failure });
  };
  const account = new OwnAccount({ readAccount } as BillingReader, clock);
  const h = LaneHarness.inMemory({ clock, account });
  const take = (run: string, named: string): Promise<void> => {
    const body = Buffer.from(reported('02-own-account', run, 1_790_000_000, named));
    const at = { source: 'stripe', type: 'invoice.created', status: 'received', reason: null } as const;
    return h.take({ ...at, eventId: `evt_own${run}`, lane: `in_own${run}`, body, receivedAt: clock.now() });
  };
  const status = async (run: string): Promise<string | undefined> => (await h.state(`in_own${run}`)).invoice?.status;
  const { repository } = h.backend;
  if (!(repository instanceof MemoryLaneRepository)) throw new Error('the lanes are not in memory');
  return { clock, h, take, status, events: repository.events, reads: () => reads };
}

it('Crossbill accepts Stripe events of the API key’s own account, and reads the account once', async () => {
  const w = world('account');
  await w.take('1', OWN);
  await w.take('2', OWN);
  expect([await w.status('1'), await w.status('2'), w.reads()]).toEqual(['expected', 'expected', 1]);
});

it('Crossbill ignores a Stripe event of another account', async () => {
  const w = world('account');
  await w.take('1', 'acct_other');
  expect([await w.status('1'), w.reads()]).toEqual([undefined, 1]);
  expect(w.events).toMatchObject([{ status: 'ignored' }]);
});

it('a Stripe event with an account id waits until Crossbill has read its own account from Stripe', async () => {
  const w = world(500, 'account');
  await w.take('1', OWN);
  await w.h.drain();
  expect([await w.status('1'), w.reads()]).toEqual([undefined, 1]);
  w.clock.advance(15_000);
  await w.h.drain();
  expect([await w.status('1'), w.reads()]).toEqual(['expected', 2]);
});

it('Crossbill parks a Stripe event with an account id if the API key has no right to read its account', async () => {
  const w = world(403, 'account');
  await w.take('1', OWN);
  expect([await w.status('1'), w.reads()]).toEqual([undefined, 1]);
  expect(w.events).toMatchObject([{ eventId: 'evt_own1', status: 'parked' }]);
  w.clock.advance(15_000);
  for (const e of w.events) e.status = 'received';
  await w.h.drain();
  expect(await w.status('1')).toBe('expected');
});
