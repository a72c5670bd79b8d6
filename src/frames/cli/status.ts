// `crossbill status`: shows invoices, queues, senders, review items and verify at a glance.
import { answersOf } from '../../shared/domain/endpoint-answers.js';
import { Notifications } from '../store/notifications.js';
import { whatToCheck } from '../../shared/domain/refusal.js';
import { EnrolmentStore, OUTSIDE_DAYS } from '../../features/enrolment/enrolment.store.js';
import { EventsStore } from '../../core/events/events.store.js';
import { HealthStore } from '../../core/health/health.store.js';
import { StatusParts } from '../../core/health/status-parts.js';
import { EndpointAnswersStore } from '../intake/endpoint-answers.store.js';
import { type MoveCounts, MovesStore } from '../../features/moves/moves.store.js';
import { DAY_MS } from '../../shared/policy.js';
import { amountOf } from '../api/http/values.js';
import { refusalWords } from '../../shared/domain/decline-words.js';
import { RetriesStore, type UnplannedInvoice } from '../../features/retries/retries.store.js';
import { showLossWindow } from '../../features/verify/rules/loss-window.js';
import { openOf, untoldOf } from '../../features/verify/rules/run.js';
import { VerifyStore } from '../../features/verify/verify.store.js';
import { type Commands } from './commands.js';
import { age, amount, counted, counts, named, table, time } from './table.js';
import { type World } from './world.js';

const STUCK_SHOWN = 5;
const UNPLANNED_SHOWN = 10;

export function addStatus(on: Commands): void {
  on.add('status', 'the state of invoices, queues, events, reviews and the last verify').action(
    on.run(async (cli) => {
      const standing = await look(await cli.open());
      const { parts, ...rest } = standing;
      await cli.print(named({ ...parts.json, ...rest }), () => render(standing));
    }),
  );
}

type Standing = Awaited<ReturnType<typeof look>>;

async function look(world: World) {
  const { config } = world;
  const [health, inbox, endpoints] = [world.get(HealthStore), world.get(EventsStore), world.get(EndpointAnswersStore)];
  const { openReviews, ...backlog } = await health.backlog();
  const answers = await endpoints.answers(new Date(Date.now() - DAY_MS));
  const refusals = await endpoints.refusals(1);
  const parts = await world.get(StatusParts).look();
  const notifications = config.notifyUrl === null ? null : await world.get(Notifications).standing();
  const verified = await world.get(VerifyStore).last();
  const rule = config.enrolment;
  const unplanned = await world.get(RetriesStore).unplanned(UNPLANNED_SHOWN + 1);
  return {
    parts,
    invoices: await health.invoicesByStatus(),
    enrolment: {
      rule: rule.by === 'metadata' ? `metadata:${rule.key}=${rule.value}` : rule.by,
      ...(await world.get(EnrolmentStore).migration()),
      moves: await world.get(MovesStore).counts(),
    },
    queue: { ...backlog, quarantined: await inbox.quarantined() },
    stuck: await health.stuck(STUCK_SHOWN),
    refusedWithoutPlan: unplanned.slice(0, UNPLANNED_SHOWN).map(refusedView),
    moreRefusedWithoutPlan: unplanned.length > UNPLANNED_SHOWN,
    senders: (await inbox.lastEvents()).map(({ source, at }) => ({
      source,
      lastEventAt: at,
      answers: answersOf(answers, source), // our replies to the sender in the last 24 hours, by HTTP status
      lastRefusal: refusals.find((r) => r.endpoint === source) ?? null,
    })),
    openReviews,
    notifications,
    verify: verified && {
      at: verified.finishedAt,
      outcome: verified.outcome,
      differences: openOf(verified),
      differencesUntold: untoldOf(verified),
      lossWindows: verified.lossWindows,
    },
  };
}

/** A refused renewal with nothing planned. `amount`: what is left to pay, in smallest units; null: not known. */
function refusedView({ invoiceId, customerId, minor, currency, refusal }: UnplannedInvoice) {
  const why = refusalWords({ ...refusal, declineCode: refusal.code, failureMessage: null });
  return { invoiceId, customerId, amount: amountOf(minor), currency, refusedAt: refusal.at, code: refusal.code, why };
}

function render({ parts, enrolment: e, queue, stuck, senders, notifications, verify, ...s }: Standing): string {
  const refused = senders.flatMap(({ lastRefusal: r }) => r ?? []);
  return [
    ...parts.texts.map((text) => `${text}\n\n`),
    `Invoices\n${counts(['status', 'count'], Object.entries(s.invoices))}`,
    s.refusedWithoutPlan.length === 0 ? '' : renderRefused(s),
    `\nEnrolment: ${e.rule}\n${renderMigration(e)}`,
    `\nQueue\n  ${queue.waitingEvents} events to decide, ${queue.pendingMessages} calls to make, oldest ${age(queue.oldestSeconds)}\n`,
    `  ${queue.parkedEvents} events parked, ${queue.quarantined} in quarantine\n`,
    stuck.length === 0 ? '' : renderStuck(stuck),
    `\nLast event, and answers of 24 hours\n${table(['source', 'at', 'ago', 'answers'], senders.map(senderRow))}`,
    ...refused.map(
      (r) =>
        `  ${r.endpoint} last refused a delivery at ${time(r.at)} with ${r.status} (${r.why}), from ${r.address || 'an unknown address'}. ${whatToCheck(r.endpoint, r.why)}\n`,
    ),
    `\nOpen review items\n${counts(['kind', 'count'], s.openReviews)}`,
    notifications === null
      ? ''
      : `\nNotifications\n  ${notifications.pending} wait for delivery, Crossbill gave up on ${notifications.dead}\n`,
    notifications === null || notifications.goneAt === null
      ? ''
      : `  The receiver answered 410 at ${time(notifications.goneAt)}: Crossbill sends nothing. Set another NOTIFY_URL, or run \`crossbill trigger invoice.paid\` once the receiver is back.\n`,
    '\nLast verify\n',
    verify === null
      ? '  never\n'
      : `  ${verify.outcome} at ${time(verify.at)}, ${counted(verify.differences, 'difference')}, ${verify.differencesUntold} without an open review item\n`,
    ...(verify?.lossWindows ?? []).map((w) => `  ${showLossWindow(w)}\n`),
  ].join('');
}

function renderMigration({ linked, renewed, notRenewed, waiting, outside, moves }: Standing['enrolment']): string {
  const head =
    linked === 0
      ? 'no customer is linked to the MoR'
      : `${counted(linked, 'customer')} ${linked === 1 ? 'is' : 'are'} linked to the MoR: ${renewed} with a renewal paid there, ${notRenewed} with an unpaid one, ${waiting} without a renewal so far`;
  return `  ${head}\n  ${outside} customers with invoices of the last ${OUTSIDE_DAYS} days are not enrolled\n${renderMoves(moves)}`;
}

/** Shows the counts of moved subscriptions. Empty before the first `crossbill move`. */
function renderMoves(moves: MoveCounts): string {
  const some = Object.entries(moves).filter(([, n]) => n > 0);
  return some.length === 0
    ? ''
    : `  subscriptions by their last move: ${some.map(([status, n]) => `${n} ${status}`).join(', ')}\n`;
}

function renderRefused(s: Pick<Standing, 'refusedWithoutPlan' | 'moreRefusedWithoutPlan'>): string {
  const rows = s.refusedWithoutPlan.map((i) => [
    i.customerId ?? 'unknown',
    amount(i.amount === null ? null : BigInt(i.amount), i.currency),
    time(new Date(i.refusedAt)),
    i.why,
    i.invoiceId,
  ]);
  const more = s.moreRefusedWithoutPlan ? 'There are more: `crossbill invoices --status open`.\n' : '';
  const heads = ['customer', 'amount', 'refused', 'why', 'invoice'];
  return `\nRefused renewals with nothing planned\n${table(heads, rows)}${more}\`crossbill retry <invoice>\` tries again.\n`;
}

function renderStuck(stuck: Standing['stuck']): string {
  const rows = stuck.map((c) => [
    c.what,
    c.lane,
    String(c.attempts),
    time(c.nextTryAt),
    `${c.lastStatus ?? ''} ${c.lastMessage ?? 'nothing'}`.trim(),
  ]);
  const heads = ['what', 'about', 'tries', 'next', 'last answer'];
  return `\nFailing calls, repeated by Crossbill\n${table(heads, rows)}\`crossbill explain <invoice>\` shows the history.\n`;
}

function senderRow({ source, lastEventAt: at, answers }: Standing['senders'][number]): string[] {
  const ago = at === null ? 'never' : age((Date.now() - at.getTime()) / 1000);
  return [source, time(at), ago, [...answers].map(([status, n]) => `${n} × ${status}`).join(', ') || 'none'];
}
