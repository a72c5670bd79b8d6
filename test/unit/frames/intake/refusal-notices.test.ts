// When a webhook endpoint refuses deliveries, somebody hears of it: at once, and then once an hour.
import { expect, it } from '@jest/globals';
import { type NewNotification, type NotifyAs, type Notice } from '../../../../src/shared/domain/notification.js';
import { type EndpointOutcome } from '../../../../src/frames/intake/options.js';
import { RefusalNotices } from '../../../../src/frames/intake/refusal-notices.js';
import { putDown } from '../../../../src/features/notifications/rules/all.js';
import { turn } from '../../../support/fakes/fake-inbox.js';
import { STANDARD } from '../../../support/builders/notify-as.js';

const START = Date.UTC(2026, 10, 22, 9, 59);
const MINUTE = 60_000;

function setUp(as: NotifyAs | null = STANDARD) {
  const notice: NewNotification[] = [];
  const lines: Readonly<Record<string, unknown>>[] = [];
  const database = { gone: false };
  const store = {
    add: (some: readonly NewNotification[]) => {
      if (database.gone) return Promise.reject(new Error('gone'));
      for (const one of some) if (!notice.some((known) => known.id === one.id)) notice.push(one);
      return Promise.resolve();
    },
  };
  const log = { error: (line: (typeof lines)[number]) => void lines.push(line) };
  const putDownAs = as === null ? null : (of: Notice, at: Date): NewNotification => putDown(of, as, at);
  const notices = new RefusalNotices(store, putDownAs, log);
  const saw = async (
    outcome: EndpointOutcome,
    afterMs: number,
    { signed = true, of = notices } = {},
  ): Promise<void> => {
    of.saw('mor_payments', outcome, signed, new Date(START + afterMs));
    await turn();
  };
  const facts = () => notice.map((one) => (JSON.parse(one.body) as { data: Record<string, unknown> }).data);
  return {
    told: notice,
    lines,
    database,
    notices,
    saw,
    facts,
    replica: () => new RefusalNotices(store, putDownAs, log),
  };
}

it('Crossbill notifies the operator of the first refused webhook immediately, and then each hour of the count', async () => {
  const { saw, facts, lines } = setUp();
  for (const at of [0, 1, 59 * MINUTE, 60 * MINUTE, 61 * MINUTE]) await saw('signature_mismatch', at);
  const notice = { endpoint: 'mor_payments', reason: 'signature_mismatch' };
  expect(facts()).toEqual([
    expect.objectContaining({ ...notice, refused: 1, since: new Date(START).toISOString() }),
    expect.objectContaining({ ...notice, refused: 3, since: new Date(START + 1).toISOString() }),
  ]);
  expect(lines).toEqual([1, 3].map((refused) => expect.objectContaining({ event: 'webhooks.refusing', refused })));
});

it('the notification of wrong signatures names the setting to compare', async () => {
  const { saw, facts } = setUp();
  await saw('signature_mismatch', 0);
  expect(facts()[0]?.['check']).toContain('MOR_PAYMENT_WEBHOOK_SECRETS');
});

it('each replica notifies of refused webhooks after its start; afterwards all replicas together notify once an hour', async () => {
  const { saw, told: notice, replica } = setUp();
  const [a, b] = [replica(), replica()];
  await saw('signature_mismatch', 0, { of: a });
  await saw('signature_mismatch', 1, { of: b });
  expect(notice).toHaveLength(2);
  await saw('signature_mismatch', 62 * MINUTE, { of: a });
  await saw('signature_mismatch', 63 * MINUTE, { of: b });
  expect(notice).toHaveLength(3);
});

it.each([
  ['signature_missing', false],
  ['too_large', false],
  ['stopping', true],
  ['aborted', true],
  ['stored', true],
] as const)(
  'Crossbill sends no notification of a webhook with the outcome %s (signed: %s)',
  async (outcome, signed) => {
    const { saw, told: notice, lines } = setUp();
    await saw(outcome, 0, { signed });
    expect([notice, lines]).toEqual([[], []]);
  },
);

it('without a notification receiver, Crossbill only logs refused webhooks', async () => {
  const { saw, told: notice, lines } = setUp(null);
  await saw('timestamp_out_of_tolerance', 0);
  expect([notice, lines.length]).toEqual([[], 1]);
});

it('after an outage of the database, Crossbill stores the notification of the refused webhooks', async () => {
  const { saw, facts, database, lines } = setUp();
  database.gone = true;
  for (const at of [0, 1, 10_001]) await saw('database', at);
  expect(facts()).toEqual([]);
  database.gone = false;
  await saw('stored', 15_000);
  expect(facts()).toEqual([]); // it is not tried with each delivery
  await saw('stored', 20_002);
  expect(facts()).toMatchObject([{ reason: 'database', refused: 3, since: new Date(START).toISOString() }]);
  expect(lines.filter((line) => line['event'] === 'webhooks.refusing')).toHaveLength(1);
});
