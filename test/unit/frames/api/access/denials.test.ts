// Strangers in the audit trail: on record, and bounded, since its rows can never be deleted.
import { expect, it } from '@jest/globals';
import { SILENT_LOG } from '../../../../support/fakes/silent-log.js';
import { Denials } from '../../../../../src/frames/api/access/denials.js';
import { AuditLog } from '../../../../../src/shared/domain/ports/audit-log.js';
import { ManualClock } from '../../../../support/fakes/clock.js';

type Entry = Parameters<AuditLog['write']>[0];

class KeptLog extends AuditLog {
  readonly rows: Entry[] = [];
  override write(entry: Entry): Promise<void> {
    this.rows.push(entry);
    return Promise.resolve();
  }
}

function setUp() {
  const [log, clock] = [new KeptLog(), new ManualClock()];
  const denials = new Denials(log, clock, SILENT_LOG);
  const stranger = (source: string): Promise<void> =>
    denials.record({ actor: 'unknown', role: null, action: 'refund.create', target: null, source, status: 401 });
  return { log, clock, denials, stranger };
}

it('the audit log records only the first hundred refused requests of an address each minute, and counts the others', async () => {
  const { log, clock, stranger } = setUp();
  for (let n = 0; n < 110; n++) await stranger('10.0.0.1');
  expect(log.rows).toHaveLength(100);
  clock.advance(60_000);
  await stranger('10.0.0.1');
  expect(log.rows.at(-1)?.detail).toEqual({ more_not_written: 10 });
});

it('the audit log limits the refused requests without a known API key, but records each refused request with a known key', async () => {
  const { log, clock, denials, stranger } = setUp();
  for (let n = 0; n < 2_000; n++) await stranger(`2001:db8::${n.toString(16)}`);
  expect(log.rows).toHaveLength(1_500);
  const known = { actor: 'anna', role: 'read', action: 'refund.create', target: null, source: '10.0.0.2' } as const;
  await denials.record({ ...known, status: 403 });
  expect(log.rows.at(-1)).toMatchObject({ actor: 'anna', outcome: 'denied' });
  clock.advance(60_000);
  await stranger('2001:db8::1');
  expect(log.rows.at(-1)?.detail).toEqual({ more_not_written: 500 });
});

it('the audit log only counts the refused requests above the limit of an address, and records again in the next minute', async () => {
  const { log, clock, denials, stranger } = setUp();
  for (let n = 0; n < 99; n++) await stranger('10.0.0.1');
  expect(denials.full('10.0.0.1')).toBe(false);
  await stranger('10.0.0.1');
  expect([denials.full('10.0.0.1'), denials.full('10.0.0.1'), denials.full('10.0.0.2')]).toEqual([true, true, false]);
  clock.advance(60_000);
  expect(denials.full('10.0.0.1')).toBe(false);
  await stranger('10.0.0.1');
  expect(log.rows.at(-1)?.detail).toEqual({ more_not_written: 2 });
});

it('the audit log keeps counting the refused requests of an address while other addresses use up all rows of the minute', async () => {
  const { log, clock, stranger } = setUp();
  for (let n = 0; n < 110; n++) await stranger('10.0.0.1');
  clock.advance(60_000);
  for (let n = 0; n < 1_500; n++) await stranger(`2001:db8::${n.toString(16)}`);
  await stranger('10.0.0.1');
  clock.advance(60_000);
  await stranger('10.0.0.1');
  expect(log.rows.at(-1)?.detail).toEqual({ more_not_written: 11 });
});

it('the audit log keeps the count of refused requests of an address after ten thousand other addresses', async () => {
  const { log, clock, stranger } = setUp();
  for (let n = 0; n < 110; n++) await stranger('10.0.0.1');
  for (let n = 0; n < 10_000; n++) await stranger(`2001:db8::${n.toString(16)}`);
  clock.advance(60_000);
  await stranger('2001:db8::0');
  expect(log.rows.at(-1)?.detail).toEqual({ more_not_written: 10 + 10_000 - 1_400 });
});
