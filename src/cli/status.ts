// `crossbill status`: how things stand, at a glance.
import { type Command } from 'commander';
import { answersOf } from '../domain/door-answers.js';
import { EnrolmentStore, type Migration, OUTSIDE_DAYS } from '../enrolment/enrolment.store.js';
import { DoorAnswersStore } from '../intake/door-answers.store.js';
import { Notifications } from '../domain/ports/notifications.js';
import { showLossWindow } from '../verify/rules/loss-window.js';
import { whatToCheck } from '../domain/refusal.js';
import { HealthStore } from '../health/health.store.js';
import { untoldOf } from '../verify/rules/run.js';
import { VerifyStore } from '../verify/verify.store.js';
import { HOUR_MS } from '../policy.js';
import { EXIT } from './exit-codes.js';
import { type Cli, type Session } from './session.js';
import { shownWindow } from './verify.js';
import { age, table, time } from './table.js';
import { type World } from './world.js';
import { EventsStore } from '../events/events.store.js';

const STUCK_SHOWN = 5;
const DOORS_WITHIN_MS = 24 * HOUR_MS;

export function addStatus(program: Command, session: Session): void {
  session.leaf(program, 'status', 'the state of invoices, queues, events, reviews and the last verify', status);
}

async function status(cli: Cli): Promise<number> {
  const standing = await look(await cli.open());
  await cli.print(view(standing), () => page(standing, Date.now()));
  return EXIT.ok;
}

type Standing = Awaited<ReturnType<typeof look>>;

async function look(world: World) {
  const [health, inbox] = [world.get(HealthStore), world.get(EventsStore)];
  return {
    backlog: await health.backlog(),
    invoices: await health.invoicesByStatus(),
    events: await inbox.lastEvents(),
    answers: await world.get(DoorAnswersStore).answers(new Date(Date.now() - DOORS_WITHIN_MS)),
    refusals: await world.get(DoorAnswersStore).refusals(1),
    quarantined: await inbox.quarantined(),
    stuck: await health.stuck(STUCK_SHOWN),
    verified: await world.get(VerifyStore).last(),
    enrolment: world.config.enrolment,
    migration: await world.get(EnrolmentStore).migration(),
    notifications: world.config.notifyUrl === null ? null : await world.get(Notifications).standing(),
    shadow: world.config.shadow ? await health.shadow() : null,
  };
}

/** For scripts. */
function view({
  backlog,
  invoices,
  events,
  answers,
  refusals,
  quarantined,
  stuck,
  verified,
  enrolment,
  migration,
  notifications,
  shadow,
}: Standing): Record<string, unknown> {
  return {
    ...(shadow === null ? {} : { shadow: { marks_agreed: shadow.agreed, marks_not_made_yet: shadow.unmarked } }),
    invoices,
    enrolment: {
      rule: shownRule(enrolment),
      linked_customers: migration.linked,
      renewed_through_mor: migration.renewed,
      renewal_not_paid_yet: migration.notRenewed,
      no_renewal_yet: migration.waiting,
      customers_not_enrolled: migration.outside,
    },
    queue: {
      events_waiting: backlog.waitingEvents,
      calls_pending: backlog.pendingMessages,
      oldest_seconds: Math.round(backlog.oldestSeconds),
      parked: backlog.parkedEvents,
      quarantined,
    },
    stuck: stuck.map((s) => ({
      what: s.what,
      lane: s.lane,
      attempts: s.attempts,
      last_status: s.lastStatus,
      last_message: s.lastMessage,
      next_try_at: s.nextTryAt,
    })),
    last_events: Object.fromEntries(events.map((e) => [e.source, e.at])),
    doors: Object.fromEntries(
      events.map(({ source }) => {
        const refused = refusals.find((r) => r.door === source);
        return [
          source,
          {
            answers_24h: Object.fromEntries(answersOf(answers, source)),
            last_refusal:
              refused === undefined
                ? null
                : { at: refused.at, status: refused.status, why: refused.why, address: refused.address },
          },
        ];
      }),
    ),
    open_reviews: backlog.openReviews,
    notifications:
      notifications === null
        ? null
        : { pending: notifications.pending, dead: notifications.dead, receiver_gone_at: notifications.goneAt },
    verify:
      verified === null
        ? null
        : {
            at: verified.finishedAt,
            outcome: verified.outcome,
            differences_untold: untoldOf(verified),
            loss_windows: verified.lossWindows.map(shownWindow),
          },
  };
}

/** For people. */
function page(s: Standing, nowMs: number): string {
  const { backlog, notifications, shadow, stuck, verified } = s;
  return [
    shadow === null
      ? ''
      : `Shadow mode: nothing is sent. Of the marks decided here ${shadow.agreed} were made by others, ${shadow.unmarked} not so far.\n\n`,
    'Invoices\n',
    table(
      ['status', 'count'],
      Object.entries(s.invoices).map(([status, n]) => [status, String(n)]),
    ),
    `\nEnrolment: ${shownRule(s.enrolment)}\n`,
    moved(s.migration),
    '\nQueue\n',
    `  ${backlog.waitingEvents} events to decide, ${backlog.pendingMessages} calls to make, oldest ${age(backlog.oldestSeconds)}\n`,
    `  ${backlog.parkedEvents} events parked, ${s.quarantined} in quarantine\n`,
    ...(stuck.length === 0
      ? []
      : [
          '\nCalls that fail and are tried again\n',
          table(
            ['what', 'about', 'tries', 'next', 'last answer'],
            stuck.map((c) => [
              c.what,
              c.lane,
              String(c.attempts),
              time(c.nextTryAt),
              `${c.lastStatus ?? ''} ${c.lastMessage ?? 'nothing'}`.trim(),
            ]),
          ),
          '`crossbill explain` tells the whole story of one.\n',
        ]),
    '\nLast event, and answers of 24 hours\n',
    table(
      ['source', 'at', 'ago', 'answers'],
      s.events.map((e) => [
        e.source,
        time(e.at),
        e.at === null ? 'never' : age((nowMs - e.at.getTime()) / 1000),
        [...answersOf(s.answers, e.source)].map(([status, n]) => `${n} × ${status}`).join(', ') || 'none',
      ]),
    ),
    ...s.refusals.map(
      (r) =>
        `  ${r.door} last refused a delivery at ${time(r.at)} with ${r.status} (${r.why}), from ${r.address === '' ? 'an address that is gone' : r.address}. ${whatToCheck(r.door, r.why)}\n`,
    ),
    '\nOpen review items\n',
    table(
      ['kind', 'count'],
      [...backlog.openReviews].map(([kind, n]) => [kind, String(n)]),
    ),
    ...(notifications === null
      ? []
      : [
          '\nNotifications\n',
          `  ${notifications.pending} wait to be delivered, ${notifications.dead} given up\n`,
          ...(notifications.goneAt === null
            ? []
            : [
                `  The receiver answered 410 at ${time(notifications.goneAt)}: nothing is sent. Set another NOTIFY_URL, or say \`crossbill trigger invoice.paid\` once it is back.\n`,
              ]),
        ]),
    '\nLast verify\n',
    verified === null
      ? '  never\n'
      : `  ${verified.outcome} at ${time(verified.finishedAt)}, ${untoldOf(verified)} differences without an open review item\n`,
    ...(verified?.lossWindows ?? []).map((w) => `  ${showLossWindow(w)}\n`),
  ].join('');
}

function shownRule(rule: Standing['enrolment']): string {
  return rule.by === 'metadata' ? `metadata:${rule.key}=${rule.value}` : rule.by;
}

/** How far customers have moved to the MoR. */
function moved({ linked, renewed, notRenewed, waiting, outside }: Migration): string {
  const are = linked === 1 ? 'customer is' : 'customers are';
  const said = linked === 0 ? 'no customer is linked to the MoR' : `${linked} ${are} linked to the MoR: `;
  const how = `the MoR has taken a renewal of ${renewed}, not yet of ${notRenewed}, and ${waiting} had none so far`;
  return `  ${said}${linked === 0 ? '' : how}\n  ${outside} customers with invoices of the last ${OUTSIDE_DAYS} days are not enrolled\n`;
}
