// `crossbill status`: shows invoices, queues, senders and review items at a glance, and then each feature's part.
import { repliesOf } from '../../shared/domain/endpoint-replies.js';
import { whatToCheck } from '../../shared/domain/refusal.js';
import { EventsRepository } from '../../core/events/events.repository.js';
import { HealthRepository } from '../../core/health/health.repository.js';
import { EndpointRepliesRepository } from '../intake/endpoint-replies.repository.js';
import { DAY_MS } from '../../shared/policy.js';
import { isObject } from '@crossbill/mor/read.js';
import { loadSlot } from '../../feature.js';
import { FEATURES } from '../../features.js';
import { type Commands } from './commands.js';
import { type StatusSaid } from './slots.js';
import { type Block, drawn } from './fit.js';
import { age, counts, named, time } from './table.js';
import { type AppContext } from './app-context.js';

const STUCK_SHOWN = 5;

export function addStatus(on: Commands): void {
  on.addReport('status', on.about).action(
    on.run(async (cli) => {
      const app = await cli.open();
      const status = await readStatus(app);
      const parts = await partsOf(app);
      const json = [status, ...parts.map((part) => part.json)].reduce(merged, {});
      await cli.print(named(json), () => drawn(render(status, parts), cli.width));
    }),
  );
}

type Json = Readonly<Record<string, unknown>>;
type Status = Awaited<ReturnType<typeof readStatus>>;

async function readStatus(app: AppContext) {
  const [health, inbox, endpoints] = [
    app.get(HealthRepository),
    app.get(EventsRepository),
    app.get(EndpointRepliesRepository),
  ];
  const {
    openReviews,
    waitingEvents,
    pendingCalls: pendingMessages,
    oldestSeconds,
    parkedEvents,
  } = await health.backlog();
  const replies = await endpoints.replies(new Date(Date.now() - DAY_MS));
  const refusals = await endpoints.refusals(1);
  return {
    invoices: await health.invoicesByStatus(),
    queue: { waitingEvents, pendingMessages, oldestSeconds, parkedEvents, quarantined: await inbox.quarantined() },
    stuck: await health.stuck(STUCK_SHOWN),
    senders: (await inbox.lastEvents()).map(({ source, at }) => ({
      source,
      lastEventAt: at,
      answers: repliesOf(replies, source), // our replies to the sender in the last 24 hours, by HTTP status
      lastRefusal: refusals.find((r) => r.endpoint === source) ?? null,
    })),
    openReviews,
  };
}

async function partsOf(app: AppContext): Promise<readonly StatusSaid[]> {
  const parts = await loadSlot(FEATURES, 'status');
  return Promise.all(parts.map((part) => part(app)));
}

/** Joins two parts of the JSON. Two parts may fill one object. */
function merged(into: Json, part: Json): Json {
  const both = Object.entries(part).map(([name, value]) => {
    const before = into[name];
    return [name, isObject(before) && isObject(value) ? { ...before, ...value } : value];
  });
  return { ...into, ...(Object.fromEntries(both) as Json) };
}

function render({ queue, stuck, senders, ...s }: Status, parts: readonly StatusSaid[]): readonly Block[] {
  const refused = senders.flatMap(({ lastRefusal: r }) => r ?? []);
  return [
    ...parts.flatMap(({ notice }) => (notice === undefined ? [] : [`${notice}\n\n`])),
    `Invoices\n${counts(['status', 'count'], Object.entries(s.invoices))}`,
    `\nQueue\n  ${queue.waitingEvents} events to decide, ${queue.pendingMessages} calls to make, oldest ${age(queue.oldestSeconds)}\n`,
    `  ${queue.parkedEvents} events parked, ${queue.quarantined} in quarantine\n`,
    ...(stuck.length === 0 ? [] : renderStuck(stuck)),
    '\nLast event, and answers of 24 hours\n',
    { heads: ['source', 'at', 'ago', 'answers'], rows: senders.map(senderRow) },
    ...refused.map(
      (r) =>
        `  ${r.endpoint} last refused a delivery at ${time(r.at)} with ${r.status} (${r.why}), from ${r.address || 'an unknown address'}. ${whatToCheck(r.endpoint, r.why)}\n`,
    ),
    `\nOpen review items\n${counts(['kind', 'count'], s.openReviews)}`,
    ...parts.flatMap(({ text }) => text),
  ];
}

function renderStuck(stuck: Status['stuck']): readonly Block[] {
  const rows = stuck.map((c) => [
    c.what,
    c.lane,
    String(c.attempts),
    time(c.nextTryAt),
    `${c.lastStatus ?? ''} ${c.lastMessage ?? 'nothing'}`.trim(),
  ]);
  const heads = ['what', 'about', 'tries', 'next', 'last answer'];
  const more = '`crossbill explain <invoice>` shows the history.\n';
  return ['\nFailing calls, repeated by Crossbill\n', { heads, rows }, more];
}

function senderRow({ source, lastEventAt: at, answers: replies }: Status['senders'][number]): string[] {
  const ago = at === null ? 'never' : age((Date.now() - at.getTime()) / 1000);
  return [source, time(at), ago, [...replies].map(([status, n]) => `${n} × ${status}`).join(', ') || 'none'];
}
